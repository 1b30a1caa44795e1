//! What a value must be, as data: the schema's facts that the server holds params to, and the walk that compares a value on the tape with
//! them. A value that fits costs no allocation.

use super::fault::Trace;
use crate::tables::versions::Revision;
use crate::view::node::{Kind, Number, Object, Value};

/// The longest progress token, in bytes: it is repeated in every notification of its call.
pub const LONGEST_TOKEN: usize = 8192;

/// What a value must be.
#[derive(Debug)]
pub enum Shape {
    /// A string. A format is a note for people: a text that is no URI names no resource, which is the method's to say.
    String,
    /// A boolean.
    Bool,
    /// A number without a fraction, `1.0` too.
    Integer,
    /// A number.
    Number,
    /// A number from 0 to 1.
    Share,
    /// A string or an integer.
    Id,
    /// A string of at most [`LONGEST_TOKEN`] bytes, or an integer.
    Token,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// Null, where it stands for nothing among other shapes.
    Null,
    /// Anything.
    Any,
    /// An array of these.
    List(&'static Shape),
    /// An object with any keys, and these as values.
    Map(&'static Shape),
    /// An object with these members; others are nobody's business.
    Object(&'static [Member]),
    /// An object whose `type` says which members it has.
    Tagged(&'static [(&'static str, &'static [Member])]),
    /// One of several shapes, and their names together.
    Either(&'static [Shape], &'static str),
}

/// An object, whatever is in it.
pub const OBJECT: Shape = Shape::Object(&[]);

/// A member of an object.
#[derive(Debug)]
pub struct Member {
    key: &'static str,
    shape: &'static Shape,
    required: bool,
    since: Revision,
    until: Option<Revision>,
}

/// A member that must be there.
pub const fn required(key: &'static str, shape: &'static Shape) -> Member {
    Member { key, shape, required: true, since: Revision::ALL[0], until: None }
}

/// A member that may be left out. Null counts as left out.
pub const fn optional(key: &'static str, shape: &'static Shape) -> Member {
    Member { required: false, ..required(key, shape) }
}

impl Member {
    /// Only from this revision on; before, the key means nothing.
    pub const fn since(self, since: Revision) -> Self {
        Self { since, ..self }
    }

    /// Only up to this revision.
    pub const fn until(self, until: Revision) -> Self {
        Self { until: Some(until), ..self }
    }

    fn is_of(&self, revision: Revision) -> bool {
        revision >= self.since && self.until.is_none_or(|until| revision <= until)
    }
}

impl Shape {
    /// Compares a value.
    ///
    /// # Errors
    /// The first fault in the order of the value, with its place inside the value.
    pub(super) fn check<F: Trace>(&'static self, revision: Revision, value: Value<'_, '_>) -> Result<(), F> {
        let fits = match self {
            Self::List(each) => return each_element(each, revision, value),
            Self::Map(each) => return each_member(each, revision, value),
            Self::Object(members) => match value.as_object() {
                Some(object) => return named_members(members, revision, object),
                None => false,
            },
            Self::Tagged(variants) => return tagged(variants, revision, value),
            Self::Either(shapes, _) => shapes.iter().any(|shape| shape.check::<()>(revision, value).is_ok()),
            Self::String => value.kind() == Kind::String,
            Self::Bool => value.kind() == Kind::Bool,
            Self::Integer => is_integer(value),
            Self::Number => value.as_number().is_some(),
            Self::Share => value.as_number().is_some_and(|n| (0.0..=1.0).contains(&n.as_f64())),
            Self::Id => value.kind() == Kind::String || is_integer(value),
            Self::Token => {
                value.as_str().is_some_and(|token| token.len() <= LONGEST_TOKEN) || is_integer(value)
            }
            Self::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Null => value.is_null(),
            Self::Any => true,
        };
        if fits { Ok(()) } else { Err(F::wrong(self)) }
    }
}

fn is_integer(value: Value<'_, '_>) -> bool {
    match value.as_number() {
        Some(Number::I64(_) | Number::U64(_)) => true,
        Some(Number::F64(number)) => number.fract() == 0.0,
        None => false,
    }
}

fn each_element<F: Trace>(each: &'static Shape, revision: Revision, value: Value<'_, '_>) -> Result<(), F> {
    let Some(array) = value.as_array() else { return Err(F::wrong_kind("an array")) };
    for (at, element) in array.into_iter().enumerate() {
        each.check::<F>(revision, element).map_err(|fault| fault.inside_element(at))?;
    }
    Ok(())
}

fn each_member<F: Trace>(each: &'static Shape, revision: Revision, value: Value<'_, '_>) -> Result<(), F> {
    let Some(object) = value.as_object() else { return Err(F::wrong_kind("an object")) };
    for (key, value) in object {
        each.check::<F>(revision, value).map_err(|fault| fault.inside(key))?;
    }
    Ok(())
}

/// One pass over the object; the first of a repeated key counts, as everywhere.
pub(super) fn named_members<F: Trace>(
    members: &'static [Member],
    revision: Revision,
    object: Object<'_, '_>,
) -> Result<(), F> {
    // Arguments and the like: whatever is in them is not looked at.
    if members.is_empty() {
        return Ok(());
    }
    let mut seen = 0_u32;
    for (key, value) in object {
        let known =
            members.iter().enumerate().find(|(_, member)| member.key == key && member.is_of(revision));
        let Some((at, member)) = known else { continue };
        if seen & 1 << at != 0 {
            continue;
        }
        seen |= 1 << at;
        if member.required || !value.is_null() {
            member.shape.check::<F>(revision, value).map_err(|fault| fault.inside(key))?;
        }
    }
    for (at, member) in members.iter().enumerate() {
        if member.required && seen & 1 << at == 0 && member.is_of(revision) {
            return Err(F::missing(member.shape).inside(member.key));
        }
    }
    Ok(())
}

fn tagged<F: Trace>(
    variants: &'static [(&'static str, &'static [Member])],
    revision: Revision,
    value: Value<'_, '_>,
) -> Result<(), F> {
    let Some(object) = value.as_object() else { return Err(F::wrong_kind("an object")) };
    let tag = object.get("type").and_then(|tag| tag.as_str());
    match variants.iter().find(|(name, _)| Some(*name) == tag) {
        Some((_, members)) => named_members(members, revision, object),
        None => Err(F::wrong_tag(variants).inside("type")),
    }
}
