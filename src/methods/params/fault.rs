//! What is wrong with params, in one short text: the place and what must be there.

use std::fmt::{self, Display, Formatter};

use super::shape::{LONGEST_TOKEN, Member, Shape};
use crate::reply::rejection::quote;

/// What a text repeats of a key that the peer chose, in bytes.
const LONGEST_KEY: usize = 64;

/// The first thing wrong with params.
#[derive(Debug)]
pub struct Fault {
    /// From the params on, as one would write it: `.ref.type`, `[3]`, `["a key"]`.
    path: String,
    must: Must,
}

#[derive(Debug)]
enum Must {
    Fit(&'static Shape),
    Be(&'static str),
    BeTagged(&'static [(&'static str, &'static [Member])]),
    NotBeMissing(&'static Shape),
}

/// What is kept of a fault on the way from its place to the params: [`Fault`] where somebody is told, `()` where it only counts that
/// there is one.
pub(super) trait Trace: Sized {
    /// The value is not of this shape.
    fn wrong(shape: &'static Shape) -> Self;
    /// The value is not of this kind.
    fn wrong_kind(kind: &'static str) -> Self;
    /// The value is none of these.
    fn wrong_tag(variants: &'static [(&'static str, &'static [Member])]) -> Self;
    /// There is no value.
    fn missing(shape: &'static Shape) -> Self;
    /// The fault seen from the object around it.
    fn inside(self, key: &str) -> Self;
    /// The fault seen from the array around it.
    fn inside_element(self, at: usize) -> Self;
}

impl Trace for () {
    fn wrong(_: &'static Shape) {}
    fn wrong_kind(_: &'static str) {}
    fn wrong_tag(_: &'static [(&'static str, &'static [Member])]) {}
    fn missing(_: &'static Shape) {}
    fn inside(self, _: &str) {}
    fn inside_element(self, _: usize) {}
}

impl Fault {
    const fn new(must: Must) -> Self {
        Self { path: String::new(), must }
    }
}

impl Trace for Fault {
    #[cold]
    fn wrong(shape: &'static Shape) -> Self {
        Self::new(Must::Fit(shape))
    }

    #[cold]
    fn wrong_kind(kind: &'static str) -> Self {
        Self::new(Must::Be(kind))
    }

    #[cold]
    fn wrong_tag(variants: &'static [(&'static str, &'static [Member])]) -> Self {
        Self::new(Must::BeTagged(variants))
    }

    #[cold]
    fn missing(shape: &'static Shape) -> Self {
        Self::new(Must::NotBeMissing(shape))
    }

    #[cold]
    fn inside(mut self, key: &str) -> Self {
        let plain = key.len() <= LONGEST_KEY
            && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let step = if plain {
            format!(".{key}")
        } else {
            format!("[\"{}\"]", quote(&key[..key.floor_char_boundary(LONGEST_KEY)]))
        };
        self.path.insert_str(0, &step);
        self
    }

    #[cold]
    fn inside_element(mut self, at: usize) -> Self {
        self.path.insert_str(0, &format!("[{at}]"));
        self
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "params{} ", self.path)?;
        match &self.must {
            Must::Fit(shape) => write!(f, "must be {}", Expected(shape)),
            Must::Be(kind) => write!(f, "must be {kind}"),
            Must::BeTagged(variants) => {
                f.write_str("must be ")?;
                one_of(f, variants.iter().map(|(tag, _)| *tag))
            }
            Must::NotBeMissing(shape) => write!(f, "is missing: it must be {}", Expected(shape)),
        }
    }
}

struct Expected<'a>(&'a Shape);

impl Display for Expected<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shape::String => f.write_str("a string"),
            Shape::Bool => f.write_str("true or false"),
            Shape::Integer => f.write_str("an integer"),
            Shape::Number => f.write_str("a number"),
            Shape::Share => f.write_str("a number from 0 to 1"),
            Shape::Id => f.write_str("a string or an integer"),
            Shape::Token => write!(f, "a string of at most {LONGEST_TOKEN} bytes or an integer"),
            Shape::OneOf(words) => one_of(f, words.iter().copied()),
            Shape::Null => f.write_str("null"),
            Shape::Any => f.write_str("a value"),
            Shape::List(_) => f.write_str("an array"),
            Shape::Map(_) | Shape::Object(_) | Shape::Tagged(_) => f.write_str("an object"),
            Shape::Either(_, names) => f.write_str(names),
        }
    }
}

fn one_of(f: &mut Formatter<'_>, words: impl Iterator<Item = &'static str>) -> fmt::Result {
    for (at, word) in words.enumerate() {
        f.write_str(if at == 0 { "one of " } else { ", " })?;
        f.write_str(word)?;
    }
    Ok(())
}
