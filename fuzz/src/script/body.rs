//! Bodies: valid messages.

use arbitrary::Arbitrary;

use super::edit::{Atom, CLIENT_CAPABILITIES, TASKS, object, text};
use super::{Lane, Memory, Round, pick};
use crate::json::Json;
use crate::tables::{VERSIONS, WORDS};

#[derive(Debug, Clone, Copy, Arbitrary)]
pub(super) enum Template {
    Call(u8),
    List(u8),
    Discover,
    Ping,
    Initialize(u8),
    Initialized,
    /// `notifications/cancelled`.
    Notification,
    /// An answer to a request of the server's, good or bad.
    Response(u8),
    Failure(u8),
    Read(u8),
    Prompt(u8),
    Complete(u8),
    SetLevel(u8),
    Subscribe(u8),
    Listen(u8),
    Task(u8),
    /// The next round of a request that ended with questions.
    Round(u8, u8),
    Other(u8),
    Batch(u8),
    Scalar,
}

const TOOLS: [&str; 13] = [
    "echo", "lookup", "steps", "divide", "needs", "wait", "ask", "logs", "parts", "job", "task", "later",
    "must",
];

/// What a request is made for.
pub(super) struct Made<'m> {
    pub(super) lane: Lane,
    pub(super) id: Atom,
    pub(super) declares: u8,
    pub(super) memory: &'m Memory,
}

fn arguments(tool: &str, which: u8) -> Json {
    let number = |spelling: &str| Json::Number(spelling.to_owned());
    let bit = |at: u8| Json::Bool(which >> at & 1 == 1);
    match tool {
        "echo" => object([("message", text("hello"))]),
        "lookup" => object([
            ("region", text("eu")),
            ("options", object([("limit", number("4"))])),
            ("dry", Json::Bool(true)),
        ]),
        "steps" => object([("yields", number("2")), ("reports", number("3"))]),
        "divide" => object([("a", number("1")), ("b", number("4.0"))]),
        "wait" => object([("ms", number("9"))]),
        "ask" => object([
            ("what", Json::Number((which % 3).to_string())),
            ("late", bit(4)),
            ("times", Json::Number((which >> 5 & 3).to_string())),
        ]),
        "job" | "task" | "later" | "must" => {
            object([("yields", Json::Number((which & 3).to_string())), ("asks", bit(4)), ("endless", bit(5))])
        }
        _ => object([]),
    }
}

/// An answer to a question of this method, good or bad.
fn client_answer(method: &str, which: u8) -> Json {
    match (method, which % 8) {
        (_, 7) => object([]),
        ("elicitation/create", 0..=3) => {
            object([("action", text("accept")), ("content", object([("name", text("anna"))]))])
        }
        ("elicitation/create", 4 | 5) => object([("action", text("decline"))]),
        ("sampling/createMessage", _) => object([
            ("role", text("assistant")),
            ("model", text("m")),
            ("content", object([("type", text("text")), ("text", text("42"))])),
        ]),
        ("roots/list", _) => object([("roots", Json::Array(vec![object([("uri", text("file:///r"))])]))]),
        _ => object([("action", text("cancel"))]),
    }
}

impl Made<'_> {
    fn call(&self, method: &str, params: Option<Json>) -> Json {
        let mut message = vec![
            ("jsonrpc".to_owned(), text("2.0")),
            ("id".to_owned(), self.id.json(self.memory)),
            ("method".to_owned(), text(method)),
        ];
        message.extend(self.with_meta(params).map(|params| ("params".to_owned(), params)));
        Json::Object(message)
    }

    fn capabilities(&self) -> Json {
        let mut declared = Vec::new();
        for (at, name) in ["sampling", "elicitation", "roots"].into_iter().enumerate() {
            if self.declares >> at & 1 == 1 {
                declared.push((name.to_owned(), object([])));
            }
        }
        if self.declares >> 3 & 1 == 1 {
            declared.push(("extensions".to_owned(), object([(TASKS, object([]))])));
        }
        Json::Object(declared)
    }

    /// Params with the `_meta` that the modern lane needs.
    fn with_meta(&self, params: Option<Json>) -> Option<Json> {
        if !matches!(self.lane, Lane::Modern) {
            return params;
        }
        let mut members = match params {
            Some(Json::Object(members)) => members,
            _ => Vec::new(),
        };
        let client = object([("name", text("c")), ("version", text("1"))]);
        let mut meta = object([
            ("io.modelcontextprotocol/protocolVersion", text("2026-07-28")),
            ("io.modelcontextprotocol/clientInfo", client),
            (CLIENT_CAPABILITIES, self.capabilities()),
            ("progressToken", text("t")),
        ]);
        if self.declares >> 4 & 1 == 1 {
            meta.put(&["io.modelcontextprotocol/logLevel"], text("debug"), false);
        }
        members.push(("_meta".to_owned(), meta));
        Some(Json::Object(members))
    }

    fn round(&self, at: u8, which: u8) -> Json {
        let Some(Round { method, params, questions }) =
            self.memory.rounds.iter().rev().nth(usize::from(at % 3))
        else {
            return self.call("tools/list", None);
        };
        let mut params = params.clone();
        let answers = questions
            .iter()
            .filter(|_| which < 240)
            .map(|(key, method)| (key.clone(), client_answer(method, which)))
            .collect();
        params.put(&["inputResponses"], Json::Object(answers), false);
        self.call(method, Some(params))
    }

    fn listen(&self, which: u8) -> Json {
        let mut asked = object([]);
        for (at, key) in
            ["toolsListChanged", "promptsListChanged", "resourcesListChanged"].into_iter().enumerate()
        {
            if which >> at & 1 == 0 {
                asked.put(&[key], Json::Bool(true), false);
            }
        }
        if which >> 3 & 1 == 1 {
            let uris = [text("file:///x"), text("gone:///x"), text("file:///x")];
            asked.put(&["resourceSubscriptions"], Json::Array(uris.to_vec()), false);
        }
        if which >> 4 & 1 == 1 {
            let ids = self.memory.tasks.iter().rev().take(2).map(|id| text(id)).collect();
            asked.put(&["taskIds"], Json::Array(ids), false);
        }
        self.call("subscriptions/listen", Some(object([("notifications", asked)])))
    }

    fn task(&self, which: u8) -> Json {
        let id = self.memory.tasks.iter().rev().nth(usize::from(which >> 4 & 3));
        let id = text(id.map_or("0123456789abcdef0123456789abcdef", String::as_str));
        match which % 4 {
            0 | 1 => self.call("tasks/get", Some(object([("taskId", id)]))),
            2 => self.call("tasks/cancel", Some(object([("taskId", id)]))),
            _ => {
                let answers = object([("q0", client_answer("elicitation/create", which >> 2))]);
                self.call("tasks/update", Some(object([("taskId", id), ("inputResponses", answers)])))
            }
        }
    }

    fn complete(&self, which: u8) -> Json {
        let (reference, name) = match which % 4 {
            0 => (object([("type", text("ref/prompt")), ("name", text("echo"))]), "name"),
            1 => (object([("type", text("ref/resource")), ("uri", text("file:///{+path}"))]), "path"),
            2 => (object([("type", text("ref/resource")), ("uri", text("file:///x"))]), "path"),
            _ => (object([("type", text("ref/prompt")), ("name", text("nope"))]), "name"),
        };
        let argument = object([("name", text(name)), ("value", text("an"))]);
        self.call("completion/complete", Some(object([("ref", reference), ("argument", argument)])))
    }
}

const LISTS: [&str; 4] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
const URIS: [&str; 6] = ["file:///x", "file:///a/b", "ask:///x", "gone:///x", "broken:///x", "nope:///x"];

impl Template {
    pub(super) fn json(self, made: &Made<'_>) -> Json {
        let id = || made.id.json(made.memory);
        match self {
            Self::Call(which) => {
                let tool = *pick(&TOOLS, which);
                let arguments = arguments(tool, which.wrapping_mul(37));
                made.call("tools/call", Some(object([("name", text(tool)), ("arguments", arguments)])))
            }
            Self::List(which) => {
                let cursor = made.memory.cursors.last().filter(|_| which >= 128);
                let params = cursor.map(|cursor| object([("cursor", text(cursor))]));
                made.call(pick(&LISTS, which), params)
            }
            Self::Discover => made.call("server/discover", None),
            Self::Ping => made.call("ping", None),
            Self::Initialize(version) => {
                let client = object([("name", text("c")), ("version", text("1"))]);
                let version = text(pick(&VERSIONS, version));
                made.call(
                    "initialize",
                    Some(object([
                        ("protocolVersion", version),
                        ("capabilities", made.capabilities()),
                        ("clientInfo", client),
                    ])),
                )
            }
            Self::Initialized => {
                object([("jsonrpc", text("2.0")), ("method", text("notifications/initialized"))])
            }
            Self::Notification => object([
                ("jsonrpc", text("2.0")),
                ("method", text("notifications/cancelled")),
                ("params", object([("requestId", id())])),
            ]),
            Self::Response(which) => {
                let (id, method) = match made.memory.asked.last() {
                    Some((id, method)) if which < 240 => (id.clone(), method.as_str()),
                    _ => (id(), "roots/list"),
                };
                object([("jsonrpc", text("2.0")), ("id", id), ("result", client_answer(method, which))])
            }
            Self::Failure(which) => {
                let asked = made.memory.asked.last().filter(|_| which < 128);
                let error = object([("code", Json::Number("-1".to_owned())), ("message", text("m"))]);
                let id = asked.map_or_else(id, |(id, _)| id.clone());
                object([("jsonrpc", text("2.0")), ("id", id), ("error", error)])
            }
            Self::Read(which) => {
                made.call("resources/read", Some(object([("uri", text(pick(&URIS, which)))])))
            }
            Self::Prompt(which) => {
                let (name, argument) = *pick(&[("echo", "name"), ("asker", "topic"), ("asker", "x")], which);
                let arguments = object([(argument, text("anna"))]);
                made.call("prompts/get", Some(object([("name", text(name)), ("arguments", arguments)])))
            }
            Self::Complete(which) => made.complete(which),
            Self::SetLevel(which) => {
                let level = *pick(&["debug", "info", "emergency", "loud"], which);
                made.call("logging/setLevel", Some(object([("level", text(level))])))
            }
            Self::Subscribe(which) => {
                let method = if which < 160 { "resources/subscribe" } else { "resources/unsubscribe" };
                made.call(method, Some(object([("uri", text(pick(&URIS, which)))])))
            }
            Self::Listen(which) => made.listen(which),
            Self::Task(which) => made.task(which),
            Self::Round(at, which) => made.round(at, which),
            Self::Other(word) => {
                made.call(pick(&WORDS, word), Some(object([("name", text("n")), ("uri", text("file:///x"))])))
            }
            Self::Batch(which) => {
                let all = [
                    Self::Ping,
                    Self::Call(which),
                    Self::Initialized,
                    Self::Response(which),
                    Self::Other(which),
                    Self::Call(2),
                    Self::Read(which),
                ];
                let count = usize::from(which >> 4) % 8;
                let from = usize::from(which);
                Json::Array(
                    all.iter().cycle().skip(from).take(count).map(|template| template.json(made)).collect(),
                )
            }
            Self::Scalar => id(),
        }
    }
}
