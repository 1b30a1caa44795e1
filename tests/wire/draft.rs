//! Good requests, and faults put into them.

use serde_json::{Value, json};
use twolane::tables::scenarios::{Base, Edit};

use crate::place::Place;
use crate::support::{Request, messages};

const META: &str = "io.modelcontextprotocol/";

/// A request that faults are put into.
#[derive(Debug, Clone)]
pub struct Draft {
    request: Request,
    query: Vec<String>,
    /// Of a POST.
    message: Option<Value>,
    cut: bool,
    pad: usize,
}

impl Draft {
    /// A good request by alice.
    pub fn of(base: Base, verb: &str, place: &Place) -> Self {
        let mut draft = match (base, verb) {
            (Base::Modern, "POST") => Self::modern(),
            (Base::Initialize, "POST") => Self::initialize(),
            (Base::Opened, _) => Self::legacy(verb, &place.opened),
            (Base::Any | Base::Legacy | Base::Modern | Base::Initialize, _) => {
                Self::legacy(verb, &place.session)
            }
        };
        draft.request = draft.request.header("Authorization", "Bearer alice");
        draft
    }

    fn new(request: Request, message: Option<Value>) -> Self {
        Self { request, query: Vec::new(), message, cut: false, pad: 0 }
    }

    fn legacy(verb: &str, session: &str) -> Self {
        if verb == "POST" {
            let message = messages::request(7, "tools/call", messages::call("count", json!({})));
            return Self::new(Request::post("").session(session), Some(message));
        }
        Self::new(Request { verb: verb.to_owned(), ..Request::get() }.session(session), None)
    }

    fn initialize() -> Self {
        let mut message: Value =
            serde_json::from_slice(&messages::initialize(messages::LEGACY).body).unwrap();
        message["id"] = 7.into();
        Self::new(Request::post(""), Some(message))
    }

    fn modern() -> Self {
        let arguments = json!({"region": "us-west1", "limit": 10, "dry": true, "query": "q"});
        let request = messages::modern_call(7, "sql", arguments)
            .header("Mcp-Param-Region", "us-west1")
            .header("Mcp-Param-Limit", "10")
            .header("Mcp-Param-Dry", "true");
        let message = serde_json::from_slice(&request.body).unwrap();
        Self::new(request, Some(message))
    }

    /// Makes changes. Those to a body do nothing where there is none.
    pub fn apply(&mut self, edits: &[Edit]) {
        for &edit in edits {
            self.edit(edit);
        }
    }

    fn edit(&mut self, edit: Edit) {
        let request = self.request.clone();
        match edit {
            Edit::Add(name, value) => self.request = request.header(name, value),
            Edit::Set(name, value) => self.request = request.set(name, value),
            Edit::Drop(name) => self.request = request.without(name),
            Edit::Query(text) => self.query.push(text.to_owned()),
            Edit::LongQuery(bytes) => self.query.push(format!("l={}", "a".repeat(bytes - 2))),
            Edit::Member(name, value) => {
                if let Some(message) = &mut self.message {
                    message[name] = json(value);
                }
            }
            Edit::Param(name, value) => {
                if let Some(message) = &mut self.message {
                    message["params"][name] = json(value);
                }
            }
            Edit::Meta(name, value) => {
                if let Some(message) = &mut self.message {
                    message["params"]["_meta"][format!("{META}{name}")] = json(value);
                }
            }
            Edit::DropMeta(name) => {
                let meta =
                    self.message.as_mut().and_then(|message| message["params"]["_meta"].as_object_mut());
                if let Some(meta) = meta {
                    meta.shift_remove(&format!("{META}{name}"));
                }
            }
            Edit::Cut => self.cut = true,
            Edit::Pad(bytes) => self.pad = self.pad.max(bytes),
        }
    }

    /// Puts another message in the place of the POST's.
    pub fn message(&mut self, message: Value) {
        self.message = Some(message);
    }

    /// The request as it stands.
    pub fn request(&self) -> Request {
        let mut request = self.request.clone();
        if !self.query.is_empty() {
            request.target = format!("{}?{}", request.target, self.query.join("&"));
        }
        if let Some(message) = &self.message {
            request.body = message.to_string().into_bytes();
            if self.cut {
                request.body.pop();
            }
            if request.body.len() < self.pad {
                request.body.resize(self.pad, b' ');
            }
        }
        request
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
