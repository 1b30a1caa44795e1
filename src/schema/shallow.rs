//! Faults of the outermost object alone, for arguments too large to be explained in full.

use serde_json::Value as Document;

use crate::view::node::{Kind, Value};

use super::Map;
use super::faults::{Fault, Faults, MOST};
use super::walk::join;

/// The most values that arguments explained in full may have: the validator keeps a copy of every value at fault.
const VALUES: usize = 2_000;
/// The most bytes of text in them.
const BYTES: usize = 65_536;

/// Whether `value` is small enough for every fault to be collected.
pub(super) fn is_small(value: Value<'_, '_>) -> bool {
    let mut left = Budget { values: VALUES, bytes: BYTES };
    left.spend(value).is_some()
}

struct Budget {
    values: usize,
    bytes: usize,
}

impl Budget {
    fn spend(&mut self, value: Value<'_, '_>) -> Option<()> {
        self.values = self.values.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(value.as_str().map_or(0, str::len))?;
        for (key, member) in value.as_object().into_iter().flatten() {
            self.bytes = self.bytes.checked_sub(key.len())?;
            self.spend(member)?;
        }
        value.as_array().into_iter().flatten().try_for_each(|item| self.spend(item))
    }
}

/// What the outermost object lacks, and members of the wrong type or name. May be empty although there are faults further in.
pub(super) fn faults(schema: &Map, value: Value<'_, '_>) -> Faults {
    let mut found = Faults::default();
    let properties = schema.get("properties").and_then(Document::as_object);
    let required = schema.get("required").and_then(Document::as_array);
    for name in required.into_iter().flatten().filter_map(Document::as_str) {
        if value.get(name).is_none() {
            found.list.push(Fault::new(join("", name), "a value (required)", "nothing"));
        }
    }
    let closed = schema.get("additionalProperties") == Some(&Document::Bool(false))
        && !schema.contains_key("patternProperties");
    for (name, member) in value.as_object().into_iter().flatten() {
        if found.list.len() >= MOST {
            found.more = true;
            break;
        }
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => {
                if let Some(kind) = property.get("type").filter(|kind| !admits(kind, member)) {
                    found.list.push(Fault::new(
                        join("", name),
                        names(kind).join(" or "),
                        member.kind().name(),
                    ));
                }
            }
            None if closed => {
                found.list.push(Fault::new(join("", name), "no property of this name", member.kind().name()));
            }
            None => {}
        }
    }
    found
}

fn names(kind: &Document) -> Vec<&str> {
    match kind {
        Document::Array(names) => names.iter().filter_map(Document::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

fn admits(kind: &Document, value: Value<'_, '_>) -> bool {
    names(kind).into_iter().any(|name| match value.kind() {
        // Whether an integral float counts depends on the dialect, so it is not judged here.
        Kind::Integer | Kind::Float => matches!(name, "integer" | "number"),
        Kind::Null | Kind::Bool | Kind::String | Kind::Array | Kind::Object => name == value.kind().name(),
    })
}
