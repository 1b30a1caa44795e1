//! Request ids: what may be one, and how it comes back.

#[cfg(test)]
mod tests;

pub use super::message::LONGEST_ID;
use super::message::Spellings;
use super::node::{Number, Value, write_str};

/// Why a value is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdFault {
    /// `null`.
    Null,
    /// A boolean.
    Bool,
    /// A number that is not integral.
    Fraction,
    /// An integral number written as a float so far inside a large body, or under a key so unusually spelled, that its spelling is not
    /// known any more.
    Unspelled,
    /// An array or object.
    Container,
    /// Longer than [`LONGEST_ID`].
    TooLong,
}

impl IdFault {
    /// What the id is, after "the id": for the diagnosis.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Null => "is null, a request needs a string or an integer",
            Self::Bool => "is a boolean, it must be a string or an integer",
            Self::Fraction => "is a number with a fraction, it must be a string or an integer",
            Self::Unspelled => "is an integer written as a float, write it without fraction and exponent",
            Self::Container => "is an array or object, it must be a string or an integer",
            Self::TooLong => "is longer than 8192 bytes",
        }
    }
}

/// A request's id, which is written back as the same JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Id<'a> {
    /// A string.
    Text(&'a str),
    /// A negative integer.
    Signed(i64),
    /// An integer that is not negative.
    Unsigned(u64),
    /// An integral number, spelled as sent: `1.0`, `1e2`, `-0`.
    Literal(&'a str),
}

impl<'a> Id<'a> {
    /// Reads the id of a message; `spellings` belong to the same document as `value`.
    ///
    /// # Errors
    /// Why the value is no id.
    pub fn read(value: Value<'a, 'a>, spellings: Spellings<'a>) -> Result<Self, IdFault> {
        if let Some(text) = value.as_str() {
            return if text.len() > LONGEST_ID { Err(IdFault::TooLong) } else { Ok(Self::Text(text)) };
        }
        match value.as_number() {
            Some(Number::U64(id)) => Ok(Self::Unsigned(id)),
            // The parser tells -0 from 0 by the type alone.
            Some(Number::I64(0)) => Ok(Self::Literal("-0")),
            Some(Number::I64(id)) => Ok(Self::Signed(id)),
            Some(Number::F64(id)) => Self::read_float(id, spellings.of(value)),
            None if value.is_null() => Err(IdFault::Null),
            None if value.as_bool().is_some() => Err(IdFault::Bool),
            None => Err(IdFault::Container),
        }
    }

    fn read_float(id: f64, spelling: Option<&'a str>) -> Result<Self, IdFault> {
        match spelling {
            Some(text) if text.len() > LONGEST_ID => Err(IdFault::TooLong),
            Some(text) if is_integral(text) => Ok(Self::Literal(text)),
            None if id.fract() == 0.0 => Err(IdFault::Unspelled),
            Some(_) | None => Err(IdFault::Fraction),
        }
    }

    /// Appends the id as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        match *self {
            Self::Text(text) => write_str(out, text),
            Self::Signed(id) => out.extend_from_slice(digits.format(id).as_bytes()),
            Self::Unsigned(id) => out.extend_from_slice(digits.format(id).as_bytes()),
            Self::Literal(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

/// Whether a JSON number with a fraction or an exponent is integral, exactly: its value as a float is rounded and cannot tell.
fn is_integral(number: &str) -> bool {
    let number = number.trim_start_matches('-');
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let significant = if fraction.is_empty() { whole.trim_end_matches('0') } else { fraction };
    if significant.is_empty() {
        return true;
    }
    // Digits behind the decimal point once the exponent has moved it. An exponent past i64 is past any number of digits too.
    let (negative, size) = exponent.strip_prefix('-').map_or((false, exponent), |size| (true, size));
    let size = size.trim_start_matches('+').parse::<i64>().unwrap_or(i64::MAX);
    let exponent = if negative { -size } else { size };
    let shift = if fraction.is_empty() {
        significant.len() as i64 - whole.len() as i64
    } else {
        fraction.len() as i64
    };
    shift.saturating_sub(exponent) <= 0
}
