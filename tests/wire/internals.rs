//! Errors say what to change, and nothing of how the server is made: no path, no name of a type, no text of an error that a handler met.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use twolane::server::Builder;
use twolane::tools::{
    CompletionInput, HandlerError, Json, Prompt, PromptArguments, RawTool, Resource, ResourceTemplate,
    ToolResult, Typed, Variables,
};

use crate::support::{Protocol, Response, Server, messages};

/// What no client has to know. Type names begin with `Zz`.
const INTERNALS: [&str; 18] = [
    "Zz", "s3cret", "/etc/", "src/", ".rs", "::", "serde", "panicked", "unwrap", "Some(", "None", "Ok(",
    "Err(", "Error {", "os error", "std", "simd", "0x",
];

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(rename = "arguments")]
struct ZzArguments {
    kind: ZzKind,
    inner: ZzInner,
    #[serde(default)]
    list: Vec<ZzInner>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(rename = "kind")]
#[serde(rename_all = "lowercase")]
enum ZzKind {
    One,
    Two,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(rename = "inner")]
struct ZzInner {
    count: u8,
    text: Option<String>,
}

/// A value that its schema promises and that cannot be written.
#[derive(schemars::JsonSchema)]
#[schemars(rename = "unwritable")]
struct ZzUnwritable {}

impl Serialize for ZzUnwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("s3cret"))
    }
}

fn failing() -> Result<String, HandlerError> {
    Ok(std::fs::read_to_string("/etc/no-such-s3cret")?)
}

fn register(builder: Builder) -> Builder {
    let output = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    builder
        .tool(Typed::immediate("typed", "Takes much.", |arguments: ZzArguments| {
            let texts =
                arguments.list.iter().chain([&arguments.inner]).filter_map(|inner| inner.text.as_deref());
            let kind = match arguments.kind {
                ZzKind::One => 1,
                ZzKind::Two => 2,
            };
            format!("{kind} {} {}", arguments.inner.count, texts.count())
        }))
        .tool(Typed::immediate("unwritable", "Cannot be written.", |_: Value| Json(ZzUnwritable {})))
        .tool(
            RawTool::new("mismatch", "Does not match.", json!({"type": "object"}), |_: Value| async {
                ToolResult::structured(json!({"n": "s3cret"}))
            })
            .output_schema(output),
        )
        .resource(Resource::new("file:///fails", "fails", || async { failing() }))
        .resource_template(
            ResourceTemplate::new("fail://{day}", "fails", |_: Variables| async { failing() })
                .complete_with("day", |_: CompletionInput| async { failing().map(|text| vec![text]) }),
        )
        .prompt(Prompt::new("fails", "Fails.", |_: PromptArguments| async { failing() }))
}

#[track_caller]
fn assert_says_nothing(response: &Response) {
    let text = response.text();
    for word in INTERNALS {
        assert!(!text.contains(word), "{word} in {response}");
    }
}

/// Values of every kind, for a place where another kind is wanted.
fn kinds() -> [Value; 12] {
    [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(300),
        json!(u64::MAX),
        json!(""),
        json!("three"),
        json!([]),
        json!([{}]),
        json!({}),
        json!({"kind": {"one": 1}}),
    ]
}

/// Everything that may be wrong with params, one thing at a time.
fn faulty() -> Vec<(&'static str, Value)> {
    let template = json!({"type": "ref/resource", "uri": "fail://{day}"});
    let good = json!({"kind": "one", "inner": {"count": 1}, "list": [{"count": 2}]});
    let mut all = vec![
        ("tools/call", messages::call("unwritable", json!({}))),
        ("tools/call", messages::call("mismatch", json!({}))),
        ("tools/call", messages::call("nosuch", json!({}))),
        ("resources/read", json!({"uri": "file:///fails"})),
        ("resources/read", json!({"uri": "fail://monday"})),
        ("resources/read", json!({"uri": "nosuch:"})),
        ("prompts/get", json!({"name": "fails"})),
        ("prompts/get", json!({"name": "nosuch"})),
        ("completion/complete", json!({"ref": template, "argument": {"name": "day", "value": ""}})),
        ("tools/list", json!({"cursor": "nosuch"})),
    ];
    for kind in kinds() {
        for place in ["/kind", "/inner", "/inner/count", "/inner/text", "/list", "/list/0", "/list/0/count"] {
            let mut arguments = good.clone();
            arguments["inner"]["text"] = json!("text");
            *arguments.pointer_mut(place).unwrap() = kind.clone();
            all.push(("tools/call", messages::call("typed", arguments)));
        }
        for method in [
            "tools/call",
            "tools/list",
            "resources/read",
            "resources/list",
            "prompts/get",
            "completion/complete",
            "subscriptions/listen",
            "tasks/get",
            "logging/setLevel",
            "resources/subscribe",
            "initialize",
            "no/such",
        ] {
            for member in
                ["name", "uri", "arguments", "cursor", "ref", "argument", "notifications", "taskId", "level"]
            {
                let mut params = json!({"name": "typed", "arguments": good});
                params[member] = kind.clone();
                all.push((method, params));
            }
        }
    }
    all
}

#[test]
fn errors_say_nothing_of_how_the_server_is_made() {
    let server = Server::with(register);
    let session = server.session();
    let mut client = server.client(Protocol::Http1);
    let mut refused = 0;
    for (method, params) in faulty() {
        let legacy = messages::legacy(&session, &messages::request(1, method, params.clone()));
        for request in [messages::modern(1, method, params.clone()), legacy] {
            // What is listened to does not end by itself.
            let request = request.set("Accept", "application/json");
            let response = client.send(&request);
            assert_says_nothing(&response);
            refused += u64::from(
                response.text().contains("\"error\"") || response.text().contains("\"isError\":true"),
            );
        }
    }
    assert!(refused > 1500, "{refused}");
}

/// Bodies that are broken at every byte, and with every byte.
#[test]
fn neither_do_faults_of_the_body() {
    let server = Server::with(register);
    let whole =
        messages::modern_call(1, "typed", json!({"kind": "one", "inner": {"count": 1, "text": "\u{e9}\n"}}));
    for cut in 0..whole.body.len() {
        let mut broken = whole.body.clone();
        broken[cut] = [b'}', b'"', 0xff, b'\\', b'9', b','][cut % 6];
        for body in [broken, whole.body[..cut].to_vec()] {
            let mut client = server.client(Protocol::Http2);
            assert_says_nothing(&client.send(&whole.clone().body(body)));
        }
    }
}
