//! The grammar of URI templates (RFC 6570, section 2).

use std::fmt;

use super::expand::encode;
use super::{Expression, Modifier, Operator, Part, Spec};

/// Why a text is no template that can be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    text: String,
}

impl TemplateError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for TemplateError {}

/// Longest prefix that the grammar has.
const LONGEST_PREFIX: usize = 9_999;

pub(super) fn parts(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (literal, tail) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        if !literal.is_empty() {
            parts.push(Part::Literal(self::literal(literal)?));
        }
        let Some(tail) = tail.strip_prefix('{') else { break };
        let Some((inside, tail)) = tail.split_once('}') else {
            return Err(TemplateError::new(format!("{{{tail} is not closed; end the expression with }}")));
        };
        parts.push(Part::Expression(expression(inside)?));
        rest = tail;
    }
    Ok(parts)
}

/// A literal as it is expanded.
fn literal(text: &str) -> Result<String, TemplateError> {
    let refused =
        |c: char| c.is_control() || matches!(c, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' | '}');
    if let Some(c) = text.chars().find(|&c| refused(c)) {
        return Err(TemplateError::new(format!("{c:?} cannot stand in a template; percent-encode it")));
    }
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if !rest.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) {
            return Err(TemplateError::new(
                "a % is not followed by two hexadecimal digits; write %25 for it",
            ));
        }
    }
    let mut out = String::with_capacity(text.len());
    encode(&mut out, text, true);
    Ok(out)
}

fn expression(inside: &str) -> Result<Expression, TemplateError> {
    let operator = match inside.as_bytes().first() {
        Some(b'+') => Operator::Reserved,
        Some(b'#') => Operator::Fragment,
        Some(b'.') => Operator::Label,
        Some(b'/') => Operator::Path,
        Some(b';') => Operator::Parameter,
        Some(b'?') => Operator::Query,
        Some(b'&') => Operator::Continuation,
        Some(b'=' | b',' | b'!' | b'@' | b'|') => {
            return Err(TemplateError::new(format!(
                "{{{inside}}} has an operator that RFC 6570 only reserves"
            )));
        }
        Some(_) | None => Operator::Simple,
    };
    let list = if operator == Operator::Simple { inside } else { &inside[1..] };
    let variables = list.split(',').map(|text| spec(text, inside)).collect::<Result<Vec<_>, _>>()?;
    Ok(Expression { operator, variables })
}

fn spec(text: &str, inside: &str) -> Result<Spec, TemplateError> {
    let fault = |what: &str| TemplateError::new(format!("{{{inside}}} {what}"));
    let (name, modifier) = if let Some(name) = text.strip_suffix('*') {
        (name, Modifier::Explode)
    } else if let Some((name, most)) = text.split_once(':') {
        let digits = (1..=4).contains(&most.len()) && most.bytes().all(|byte| byte.is_ascii_digit());
        let most = most.parse().ok().filter(|most| digits && (1..=LONGEST_PREFIX).contains(most));
        (name, Modifier::Prefix(most.ok_or_else(|| fault("has a prefix that is no number from 1 to 9999"))?))
    } else {
        (text, Modifier::None)
    };
    if !is_name(name) {
        return Err(fault(
            "has a variable without a proper name; use letters, digits, `_`, and `.` between them",
        ));
    }
    Ok(Spec { name: name.into(), modifier })
}

fn is_name(name: &str) -> bool {
    let mut rest = name.as_bytes();
    let mut after_dot = true;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'%' => match tail {
                [high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest = tail,
                _ => return false,
            },
            b'.' if after_dot => return false,
            b'.' => {
                after_dot = true;
                continue;
            }
            b'_' => {}
            byte if byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
        after_dot = false;
    }
    !after_dot
}
