//! Where sub-schemas stand in a schema, so that data inside it (`default`, `const`, `examples`) is not mistaken for one.

/// What the value of a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Names or patterns, each with a schema.
    NamedSchemas,
    /// Instance data or plain text: no schema inside.
    Data,
    /// A schema, an array of schemas, or something unknown that is read as one.
    Schemas,
}

/// What `keyword` holds, over all drafts that are supported.
pub(super) fn holds(keyword: &str) -> Holds {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Holds::NamedSchemas,
        "const" | "enum" | "default" | "example" | "examples" | "required" | "type" | "dependentRequired"
        | "$vocabulary" => Holds::Data,
        _ => Holds::Schemas,
    }
}

/// Appends `segment` to a JSON pointer (RFC 6901).
pub(super) fn join(pointer: &str, segment: &str) -> String {
    let escaped = segment.replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{escaped}")
}
