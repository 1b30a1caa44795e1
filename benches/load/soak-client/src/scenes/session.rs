//! A legacy session, from its client's side.

use serde_json::{Value, json};

use crate::asks::{Ask, anything};
use crate::ledger::{Id, Outcome};
use crate::link::Link;
use crate::person::Person;
use crate::post::Post;

pub(super) const VERSIONS: &[&str] = &["2025-03-26", "2025-06-18", "2025-11-25"];

/// One that is ready.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) version: &'static str,
}

impl Session {
    /// Opens one of this revision, with a client that can be asked everything.
    pub(super) async fn open(person: &mut Person, link: &mut Link, version: &'static str) -> Outcome<Self> {
        let id = person.ask();
        let params = json!({
            "protocolVersion": version,
            "capabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
            "clientInfo": {"name": "soak", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": id.json(), "method": "initialize", "params": params});
        let whole = link.send(&Post::new(&message)).await?;
        let opened = whole.json()?;
        if opened["result"]["protocolVersion"] != version || opened["id"] != id.json() {
            return Err(format!("initialize at {version}: {}", whole.told()));
        }
        person.ledger().answered(&opened["id"])?;
        let minted = whole.head.header("mcp-session-id").ok_or("a session without an id")?;
        let session = Self { id: minted.to_owned(), version };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        session.accepted(person, link, &ready).await?;
        Ok(session)
    }

    pub(super) fn post(&self, message: &Value) -> Post {
        self.dressed(Post::new(message))
    }

    fn dressed(&self, post: Post) -> Post {
        let post = post.header("mcp-session-id", self.id.as_str());
        if self.version == "2025-03-26" { post } else { post.header("mcp-protocol-version", self.version) }
    }

    pub(super) fn request(&self, id: Id, method: &str, params: &Value) -> Post {
        self.post(&json!({"jsonrpc": "2.0", "id": id.json(), "method": method, "params": params}))
    }

    /// A call that reports.
    pub(super) fn reporting(&self, id: Id, ms: u64, steps: u64) -> Post {
        let params = json!({"name": "sleep", "arguments": {"ms": ms, "steps": steps}, "_meta": {"progressToken": id.json()}});
        self.request(id, "tools/call", &params)
    }

    pub(super) fn get(&self, last: Option<&str>) -> Post {
        let get = self.dressed(Post::bare("GET"));
        match last {
            Some(id) => get.header("last-event-id", id),
            None => get,
        }
    }

    /// Sends what is no request, and must be accepted.
    pub(super) async fn accepted(&self, person: &Person, link: &mut Link, message: &Value) -> Outcome {
        person.ledger().sent();
        let whole = link.send(&self.post(message)).await?;
        match (whole.head.status, whole.body.is_empty()) {
            (202, true) => Ok(()),
            _ => Err(format!("202 wanted of {message}, came {}", whole.told())),
        }
    }

    /// Asks for something that any session may be asked for.
    pub(super) fn anything(&self, person: &mut Person) -> Ask {
        let (method, params, want) = anything(person);
        let id = person.ask();
        Ask::new(self.request(id, method, &params), id, want)
    }

    pub(super) async fn delete(&self, person: &Person, link: &mut Link) -> Outcome {
        person.ledger().sent();
        let whole = link.send(&self.dressed(Post::bare("DELETE"))).await?;
        if whole.head.status != 200 {
            return Err(format!("DELETE: {}", whole.told()));
        }
        person.ledger().done("sessions deleted");
        Ok(())
    }

    /// Deletes it, or lets it be forgotten.
    pub(super) async fn leave(&self, person: &mut Person, link: &mut Link) -> Outcome {
        if person.random.chance(65) {
            return self.delete(person, link).await;
        }
        person.ledger().done("sessions left idle");
        Ok(())
    }
}
