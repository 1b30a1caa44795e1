//! From variables to a text (RFC 6570, section 3).

use super::{Expression, Modifier, Operator, Spec, Variable, Variables};

pub(super) fn expression(out: &mut String, expression: &Expression, variables: &Variables) {
    let operator = expression.operator;
    let mut first = true;
    for spec in &expression.variables {
        let Some(value) = variables.value(&spec.name).filter(|value| !value.is_undefined()) else { continue };
        let lead = if first { operator.lead() } else { Some(operator.separator()) };
        out.extend(lead.map(char::from));
        first = false;
        match (value, spec.modifier) {
            (Variable::Text(text), Modifier::Prefix(most)) => {
                let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
                named(out, operator, spec, &text[..end]);
            }
            (Variable::Text(text), Modifier::None | Modifier::Explode) => named(out, operator, spec, text),
            (Variable::List(list), Modifier::Explode) => {
                between(out, list, operator.separator(), |out, item| named(out, operator, spec, item));
            }
            (Variable::Map(map), Modifier::Explode) => {
                between(out, map, operator.separator(), |out, (key, value)| pair(out, operator, key, value));
            }
            (Variable::List(list), Modifier::None | Modifier::Prefix(_)) => {
                name(out, operator, spec, false);
                between(out, list, b',', |out, item| encode(out, item, operator.keeps_reserved()));
            }
            (Variable::Map(map), Modifier::None | Modifier::Prefix(_)) => {
                name(out, operator, spec, false);
                between(out, map, b',', |out, (key, value)| {
                    encode(out, key, operator.keeps_reserved());
                    out.push(',');
                    encode(out, value, operator.keeps_reserved());
                });
            }
        }
    }
}

fn between<T>(out: &mut String, items: &[T], separator: u8, mut write: impl FnMut(&mut String, &T)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(char::from(separator));
        }
        write(out, item);
    }
}

fn named(out: &mut String, operator: Operator, spec: &Spec, value: &str) {
    name(out, operator, spec, value.is_empty());
    encode(out, value, operator.keeps_reserved());
}

fn name(out: &mut String, operator: Operator, spec: &Spec, empty: bool) {
    if operator.is_named() {
        out.push_str(&spec.name);
        equals(out, operator, empty);
    }
}

fn pair(out: &mut String, operator: Operator, key: &str, value: &str) {
    encode(out, key, operator.keeps_reserved());
    if operator.is_named() {
        equals(out, operator, value.is_empty());
    } else {
        out.push('=');
    }
    encode(out, value, operator.keeps_reserved());
}

/// A path parameter without a value has no equals sign.
fn equals(out: &mut String, operator: Operator, empty: bool) {
    if !(empty && operator == Operator::Parameter) {
        out.push('=');
    }
}

pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

pub(super) const fn is_reserved(byte: u8) -> bool {
    matches!(
        byte,
        b':' | b'/'
            | b'?'
            | b'#'
            | b'['
            | b']'
            | b'@'
            | b'!'
            | b'$'
            | b'&'
            | b'\''
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
    )
}

/// Appends `text`, percent-encoded but for unreserved characters; where `reserved` is set, reserved characters and triplets that are
/// encoded already stay too.
pub(super) fn encode(out: &mut String, text: &str, reserved: bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let kept = is_unreserved(byte) || (reserved && (is_reserved(byte) || is_triplet(&bytes[at..])));
        if kept {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Whether a percent-encoded byte stands at the front.
pub(super) fn is_triplet(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
