//! A tool with mirrored arguments, and calls of it.

use arbitrary::Arbitrary;
use serde_json::{Map, Value};
use twolane::tools::{RawTool, Registry};

use crate::base64;
use crate::binding::{self, Kind, Parameter, Unfit};
use crate::json::{self, Json};
use crate::rig::{End, Outcome, Ran, Request, Rig};
use crate::world::{self, Options, Tools, World};

/// One tool, and calls of it.
#[derive(Debug, Arbitrary)]
pub struct Script {
    properties: Vec<Property>,
    calls: Vec<Call>,
}

/// A property of a schema.
#[derive(Debug, Arbitrary)]
struct Property {
    name: u8,
    shape: Shape,
    /// Seldom anything but a property.
    place: u8,
    header: Option<u8>,
    /// Kept from nesting for ever by the input's end.
    inner: Vec<Property>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
enum Shape {
    Text,
    Integer,
    Boolean,
    Object,
    Number,
    Either,
    None,
}

#[derive(Debug, Arbitrary)]
struct Call {
    /// What each argument is, in turns.
    values: Vec<Given>,
    edits: Vec<(u8, Edit)>,
    http2: bool,
}

#[derive(Debug, Arbitrary)]
enum Given {
    Right(u8),
    Absent,
    Null,
    Other(u8),
}

#[derive(Debug, Arbitrary)]
enum Edit {
    Drop,
    Set(u8),
    Bytes(Vec<u8>),
    Twice,
    Wrap,
    Spoil(u8, u8),
    Case,
}

const NAMES: [&str; 8] =
    ["region", "limit", "x-mcp-header", "properties", "a/b~c", "\u{e9}", "type", "items"];
const HEADERS: [&str; 16] = [
    "Region",
    "region",
    "Limit",
    "X",
    "",
    "a b",
    "a:b",
    "\u{e9}",
    "!#$%&'*+-.^_`|~",
    "LIMIT",
    "a\r\nb",
    "Name",
    "d",
    "e",
    "f\0",
    "g",
];
const TEXTS: [&str; 12] = [
    "eu",
    "",
    " eu",
    "eu ",
    "\u{e9}u",
    "=?base64?ZXU=?=",
    "a\tb",
    "true",
    "5",
    "\u{1}",
    "eu, us",
    "=?base64?",
];
const INTEGERS: [&str; 12] = [
    "0",
    "-0",
    "5",
    "5.0",
    "-7",
    "1e2",
    "9007199254740993",
    "18446744073709551615",
    "-9223372036854775808",
    "1e38",
    "1e37",
    "4.5",
];
const OTHERS: [&str; 8] = ["[]", "{}", "\"5\"", "5", "true", "1.5", "{\"region\":\"eu\"}", "\"true\""];
const VALUES: [&str; 16] = [
    "eu",
    "5",
    "5.0",
    "05",
    "+5",
    "5.",
    ".0",
    "true",
    "True",
    "=?base64?ZXU=?=",
    "=?BASE64?ZXU=?=",
    "=?base64?ZXU?=",
    "-0",
    "100",
    "=?base64?NQ==?=",
    "1e2",
];

fn pick<T: Copy>(table: &[T], at: u8) -> T {
    table[usize::from(at) % table.len()]
}

impl Property {
    /// The schema, without what it says of where it stands.
    fn schema(&self, depth: usize) -> Value {
        let mut schema = Map::new();
        if let Some(header) = self.header {
            schema.insert("x-mcp-header".to_owned(), pick(&HEADERS, header).into());
        }
        match self.shape {
            Shape::Text => schema.insert("type".to_owned(), "string".into()),
            Shape::Integer => schema.insert("type".to_owned(), "integer".into()),
            Shape::Boolean => schema.insert("type".to_owned(), "boolean".into()),
            Shape::Object => schema.insert("type".to_owned(), "object".into()),
            Shape::Number => schema.insert("type".to_owned(), "number".into()),
            Shape::Either => schema.insert("type".to_owned(), vec!["string", "integer"].into()),
            Shape::None => None,
        };
        if self.shape == Shape::Object && depth < 4 {
            object(&mut schema, &self.inner, depth + 1);
        }
        schema.into()
    }
}

/// The keywords that hold these properties.
fn object(schema: &mut Map<String, Value>, properties: &[Property], depth: usize) {
    for property in properties.iter().take(5) {
        let name = pick(&NAMES, property.name);
        let inner = property.schema(depth);
        let (keyword, list) = match property.place {
            250 => ("$defs", false),
            251 => ("patternProperties", false),
            252 => ("anyOf", true),
            253 => ("examples", true),
            _ => ("properties", false),
        };
        if list {
            let list = schema.entry(keyword).or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut().expect("a list").push(inner);
        } else {
            let held = schema.entry(keyword).or_insert_with(|| Map::new().into());
            // A name that is a pattern too.
            let name = if keyword == "patternProperties" { "^p" } else { name };
            held.as_object_mut().expect("an object").insert(name.to_owned(), inner);
        }
    }
}

/// Whether an annotation stands anywhere in a schema; what is data holds none.
fn annotated(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    schema.contains_key("x-mcp-header")
        || ["properties", "$defs", "patternProperties"].iter().any(|keyword| {
            let held = schema.get(*keyword).and_then(Value::as_object);
            held.is_some_and(|held| held.values().any(annotated))
        })
        || schema.get("anyOf").and_then(Value::as_array).is_some_and(|list| list.iter().any(annotated))
}

/// The parameters of a schema, in its order. `Err` where an annotation is not right.
fn parameters(schema: &Value, path: &[String], found: &mut Vec<Parameter>) -> Result<(), ()> {
    let Some(schema) = schema.as_object() else { return Ok(()) };
    for (keyword, value) in schema {
        match &keyword[..] {
            "x-mcp-header" => {
                let name = value.as_str().ok_or(())?;
                let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
                if path.is_empty() || name.is_empty() || !name.bytes().all(token) {
                    return Err(());
                }
                let kind = match schema.get("type").and_then(Value::as_str) {
                    Some("string") => Kind::Text,
                    Some("integer") => Kind::Integer,
                    Some("boolean") => Kind::Boolean,
                    _ => return Err(()),
                };
                let header = format!("mcp-param-{}", name.to_ascii_lowercase());
                if found.iter().any(|other| other.header == header) {
                    return Err(());
                }
                found.push(Parameter {
                    header,
                    spelled: format!("Mcp-Param-{name}"),
                    path: path.to_vec(),
                    kind,
                });
            }
            "properties" => {
                for (name, property) in value.as_object().into_iter().flatten() {
                    parameters(property, &[path, &[name.clone()]].concat(), found)?;
                }
            }
            "$defs" | "patternProperties"
                if value.as_object().is_some_and(|held| held.values().any(annotated)) =>
            {
                return Err(());
            }
            "anyOf" if value.as_array().is_some_and(|list| list.iter().any(annotated)) => return Err(()),
            _ => {}
        }
    }
    Ok(())
}

/// Registers the tool and makes the calls.
pub fn check(script: &Script) {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    object(&mut schema, &script.properties, 0);
    let schema = Value::Object(schema);
    let mut found = Vec::new();
    let right = parameters(&schema, &[], &mut found).is_ok();
    let registry = Registry::default();
    let tool = RawTool::new("bound", "Has mirrored arguments.", schema.clone(), |value: Value| async move {
        value.to_string()
    });
    let added = registry.add(tool);
    match &added {
        Ok(()) => assert!(right, "it is registered: {schema}"),
        Err(error) => {
            let about =
                error.to_string().contains("x-mcp-header") || error.to_string().contains("annotated with");
            assert!(!right || !about, "{error}: {schema}");
            return;
        }
    }
    let world = World::new(Options { legacy: true, auth: false }, &Tools::of(registry), world::limits());
    let mut rig = Rig::new(&world);
    for call in script.calls.iter().take(6) {
        one(&mut rig, &schema, &found, call);
    }
}

/// Arguments for a schema.
fn arguments(schema: &Value, values: &mut impl Iterator<Item = (bool, Json)>) -> Json {
    let mut members = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let (there, value) = match property.get("type").and_then(Value::as_str) {
            Some("object") => {
                let given = values.next().unwrap_or((true, Json::Object(Vec::new())));
                if matches!(given.1, Json::Null | Json::Array(_)) {
                    given
                } else {
                    (true, arguments(property, values))
                }
            }
            _ => values.next().unwrap_or((false, Json::Null)),
        };
        if there {
            members.push((name.clone(), value));
        }
    }
    Json::Object(members)
}

fn value(given: &Given) -> (bool, Json) {
    let read = |text: &str| json::read(text.as_bytes()).expect("JSON");
    match given {
        Given::Right(at) => (
            true,
            match at % 3 {
                0 => Json::Text(pick(&TEXTS, at / 3).to_owned()),
                1 => Json::Number(pick(&INTEGERS, at / 3).to_owned()),
                _ => Json::Bool(at & 128 != 0),
            },
        ),
        Given::Absent => (false, Json::Null),
        Given::Null => (true, Json::Null),
        Given::Other(at) => (true, read(pick(&OTHERS, *at))),
    }
}

/// The headers that fit.
fn fitting(arguments: &Json, found: &[Parameter]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut fields = Vec::new();
    for parameter in found {
        let mut value = Some(arguments);
        for key in &parameter.path {
            value = value.and_then(|value| value.get(key));
        }
        let text = match value {
            Some(Json::Text(text)) => text.clone(),
            Some(Json::Number(spelling)) => spelling.clone(),
            Some(Json::Bool(value)) => value.to_string(),
            Some(Json::Null | Json::Array(_) | Json::Object(_)) | None => continue,
        };
        let plain =
            text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text && !text.is_empty();
        let text = if plain && !text.starts_with("=?") {
            text
        } else {
            format!("=?base64?{}?=", base64::encode(text.as_bytes()))
        };
        fields.push((parameter.header.clone().into_bytes(), text.into_bytes()));
    }
    fields
}

fn edit(fields: &mut Vec<(Vec<u8>, Vec<u8>)>, at: u8, edit: &Edit, found: &[Parameter]) {
    let Some(parameter) = found.get(usize::from(at) % found.len().max(1)) else { return };
    let header = parameter.header.as_bytes();
    let place = fields.iter().position(|(name, _)| name.eq_ignore_ascii_case(header));
    match (edit, place) {
        (Edit::Drop, _) => fields.retain(|(name, _)| !name.eq_ignore_ascii_case(header)),
        (Edit::Set(value), None) => fields.push((header.to_vec(), pick(&VALUES, *value).into())),
        (Edit::Set(value), Some(place)) => fields[place].1 = pick(&VALUES, *value).into(),
        (Edit::Bytes(bytes), _) => {
            let shown = |byte: u8| if byte == b'\t' || byte >= b' ' && byte != 0x7f { byte } else { b'~' };
            let value: Vec<u8> = bytes.iter().map(|&byte| shown(byte)).collect();
            fields.push((header.to_vec(), value.trim_ascii().to_vec()));
        }
        (Edit::Twice, Some(place)) => fields.push(fields[place].clone()),
        (Edit::Wrap, Some(place)) => {
            fields[place].1 = format!("=?base64?{}?=", base64::encode(&fields[place].1)).into_bytes();
        }
        (Edit::Spoil(at, byte), Some(place)) if !fields[place].1.is_empty() => {
            let len = fields[place].1.len();
            fields[place].1[usize::from(*at) % len] =
                if *byte > b' ' && *byte != 0x7f { *byte } else { b'~' };
        }
        (Edit::Case, Some(place)) => fields[place].0.make_ascii_uppercase(),
        (Edit::Twice | Edit::Wrap | Edit::Spoil(..) | Edit::Case, _) => {}
    }
}

fn one(rig: &mut Rig, schema: &Value, found: &[Parameter], call: &Call) {
    let mut values = call.values.iter().map(value);
    let arguments = arguments(schema, &mut values);
    let mut bound = fitting(&arguments, found);
    call.edits.iter().take(6).for_each(|(at, change)| edit(&mut bound, *at, change, found));
    let field = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
    let mut fields = vec![
        field("host", "localhost"),
        field("content-type", "application/json"),
        field("mcp-protocol-version", "2026-07-28"),
        field("mcp-method", "tools/call"),
        field("mcp-name", "bound"),
    ];
    fields.extend(bound);
    let mut body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"bound","arguments":"#.to_vec();
    arguments.write(&mut body);
    body.extend_from_slice(b"}}");
    if body.len() as u64 > world::BODY {
        return;
    }
    let request = Request {
        http2: call.http2,
        method: b"POST".to_vec(),
        target: b"/mcp".to_vec(),
        authority: None,
        fields,
        body,
        declared: true,
    };
    let verdict = binding::parameters(&request, Some(&arguments), found);
    let outcome = match rig.run(&request) {
        Ran::NoHead => return,
        Ran::Answered(outcome) => outcome,
        Ran::Open(mut open) => match open.hear() {
            Some(End::Answered(outcome)) => outcome,
            other => panic!("it does not end: {other:?}"),
        },
    };
    judge(&outcome, verdict, &request);
}

fn judge(outcome: &Outcome, verdict: Result<(), (Unfit, String)>, request: &Request) {
    let answer: Value = serde_json::from_slice(&outcome.body).expect("JSON");
    let told = || format!("{answer}\n{}\n{request:?}", request.body.escape_ascii());
    match verdict {
        Ok(()) => {
            assert_eq!((outcome.reply.status, outcome.mark), (200, None), "{}", told());
            assert!(answer["result"]["content"].is_array(), "{}", told());
        }
        Err((unfit, header)) => {
            assert_eq!(outcome.mark.map(|mark| mark.0), Some(unfit.row()), "{}", told());
            assert_eq!(outcome.reply.status, 400, "{}", told());
            assert_eq!(answer["error"]["code"], -32020, "{}", told());
            assert_eq!(answer["error"]["data"]["header"], header, "{}", told());
        }
    }
}
