//! Where the official schemas come from.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Map, Value};
use twolane::tables::versions::Revision;

/// The schemas of all revisions, oldest first; `None` where there are none.
pub fn load() -> Option<Vec<(Revision, Value)>> {
    let found = match env::var_os("TWOLANE_SCHEMAS") {
        Some(folder) => Some(from_folder(&PathBuf::from(folder))),
        None => from_suite(),
    };
    if found.is_none() {
        assert!(
            env::var_os("TWOLANE_REQUIRE_SCHEMAS").is_none(),
            "the official schemas are required, and not here"
        );
        eprintln!(
            "NOT COMPARED with the official schemas: tests/conformance/run installs them, or set TWOLANE_SCHEMAS"
        );
    }
    found
}

fn from_folder(folder: &Path) -> Vec<(Revision, Value)> {
    let read = |revision: Revision| {
        let path = folder.join(revision.as_str()).join("schema.json");
        let text = fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        (revision, serde_json::from_str(&text).unwrap())
    };
    Revision::ALL.iter().copied().map(read).collect()
}

/// The suite is one script; the schemas stand in it as object literals.
fn from_suite() -> Option<Vec<(Revision, Value)>> {
    let package = "tests/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    let script = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(package)).ok()?;
    let mut found: Vec<(Revision, Value)> = script
        .match_indices("={$schema:")
        .filter_map(|(at, _)| Literal(&script[at + 1..]).value())
        .filter_map(|schema| Some((revision_of(&schema)?, schema)))
        .collect();
    found.sort_by_key(|(revision, _)| *revision);
    let revisions: Vec<Revision> = found.iter().map(|(revision, _)| *revision).collect();
    assert_eq!(revisions, Revision::ALL, "the suite's script carries each schema once");
    Some(found)
}

/// A schema does not name its revision, but no two define the same things.
fn revision_of(schema: &Value) -> Option<Revision> {
    let old = schema.get("definitions");
    let definitions = old.or_else(|| schema.get("$defs"))?.as_object()?;
    let has = |name: &str| definitions.contains_key(name);
    if !has("JSONRPCRequest") {
        return None;
    }
    Some(match old {
        Some(_) if has("ElicitRequest") => Revision::V2025_06_18,
        Some(_) => Revision::V2025_03_26,
        None if has("DiscoverRequest") => Revision::V2026_07_28,
        None => Revision::V2025_11_25,
    })
}

/// JavaScript that stands for plain data: JSON, but for bare keys, three kinds of quotes and `!0` for true.
struct Literal<'a>(&'a str);

impl<'a> Literal<'a> {
    fn value(&mut self) -> Option<Value> {
        let first = self.0.chars().next()?;
        match first {
            '{' => self.object(),
            '[' => self.array(),
            '"' | '\'' | '`' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn take(&mut self, expected: char) -> bool {
        match self.0.strip_prefix(expected) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn object(&mut self) -> Option<Value> {
        self.take('{');
        let mut members = Map::new();
        while !self.take('}') {
            let key =
                if self.0.starts_with(['"', '\'', '`']) { self.string()? } else { self.bare().to_owned() };
            if !self.take(':') {
                return None;
            }
            members.insert(key, self.value()?);
            if !self.take(',') && !self.0.starts_with('}') {
                return None;
            }
        }
        Some(Value::Object(members))
    }

    fn array(&mut self) -> Option<Value> {
        self.take('[');
        let mut elements = Vec::new();
        while !self.take(']') {
            elements.push(self.value()?);
            if !self.take(',') && !self.0.starts_with(']') {
                return None;
            }
        }
        Some(Value::Array(elements))
    }

    fn bare(&mut self) -> &'a str {
        let end = self.0.find([',', ':', '}', ']', '{', '[']).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn word(&mut self) -> Option<Value> {
        match self.bare() {
            "!0" => Some(Value::Bool(true)),
            "!1" => Some(Value::Bool(false)),
            number => serde_json::from_str(number).ok().filter(Value::is_number),
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.0.chars().next()?;
        let mut text = String::new();
        let mut rest = self.0[1..].char_indices();
        while let Some((at, c)) = rest.next() {
            match c {
                '\\' => text.push(match rest.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    // None of the schemas needs the longer escapes.
                    'u' | 'x' => return None,
                    itself => itself,
                }),
                '$' if quote == '`' && rest.as_str().starts_with('{') => return None,
                c if c == quote => {
                    self.0 = &self.0[1 + at + 1..];
                    return Some(text);
                }
                c => text.push(c),
            }
        }
        None
    }
}

#[test]
fn literals_are_read() {
    let mut literal = Literal(r#"{a:`b\`c`,"d":[!0,!1,-1.5,{}],e:'f"',$g:""},h"#);
    let expected = serde_json::json!({"a": "b`c", "d": [true, false, -1.5, {}], "e": "f\"", "$g": ""});
    assert_eq!(literal.value(), Some(expected));
    assert_eq!(literal.0, ",h");
    for no_data in ["{a:b}", "{a:f()}", "[1", "{a:`${b}`}", "\"", "{a}"] {
        assert_eq!(Literal(no_data).value(), None, "{no_data}");
    }
}
