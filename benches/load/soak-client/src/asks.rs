//! Requests together with the answer that each must get.

use serde_json::{Value, json};

use crate::ledger::{Id, Outcome};
use crate::link::Whole;
use crate::person::Person;
use crate::post::{MODERN, Post};

/// What must come back.
#[derive(Debug, Clone)]
pub(crate) enum Want {
    /// A tool's text.
    Text(String),
    /// A tool's result that says it has failed.
    Failure,
    /// A result that has this member.
    Member(&'static str),
    /// A result of exactly `{}`.
    Empty,
    /// An error that is no refusal.
    Error(i64),
    /// A tool's text or, where the tool has just gone, an error.
    TextOrError(String, i64),
    /// A refusal with this status and code; with the request's id, or `null`.
    Refusal { status: u16, code: i64, with_id: bool },
    /// A refusal with this status, in the plain dialect or with no body at all.
    Plain(u16),
}

/// A request and what is expected of it.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) post: Post,
    /// What has no id is not counted as asked.
    pub(crate) id: Option<Id>,
    pub(crate) want: Want,
}

impl Ask {
    pub(crate) fn new(post: Post, id: Id, want: Want) -> Self {
        Self { post, id: Some(id), want }
    }

    /// Holds an answer to what was expected, and enters it in the books.
    pub(crate) fn check(&self, person: &Person, whole: &Whole) -> Outcome {
        let checked = match &self.want {
            Want::Refusal { status, code, with_id } => self.refusal(person, whole, *status, *code, *with_id),
            Want::Plain(status) if whole.head.status == *status => match self.id {
                Some(id) => person.ledger().refused(id, None),
                None => Ok(()),
            },
            Want::Plain(_) => Err("another status".to_owned()),
            want => whole.json().and_then(|message| {
                if whole.head.status != 200 {
                    return Err("another status".to_owned());
                }
                self.answer(person, &message, want)
            }),
        };
        checked.map_err(|fault| {
            let body = String::from_utf8_lossy(&self.post.body);
            let short: String = body.chars().take(300).collect();
            format!("{fault}: {:?} wanted of {} {short}, came {}", self.want, self.post.verb, whole.told())
        })
    }

    fn refusal(&self, person: &Person, whole: &Whole, status: u16, code: i64, with_id: bool) -> Outcome {
        let message = whole.json()?;
        if (whole.head.status, message["error"]["code"].as_i64()) != (status, Some(code)) {
            return Err("another refusal".to_owned());
        }
        match self.id {
            Some(id) if with_id => {
                self.mine(&message)?;
                person.ledger().refused(id, Some(&message["id"]))
            }
            Some(id) if message["id"].is_null() => person.ledger().refused(id, None),
            None if message["id"].is_null() => Ok(()),
            Some(_) | None => Err("an id that is not null".to_owned()),
        }
    }

    fn mine(&self, message: &Value) -> Outcome {
        let mine = self.id.is_some_and(|id| id.json() == message["id"]);
        if mine { Ok(()) } else { Err("the answer to something else".to_owned()) }
    }

    /// Holds an answer's message to what was expected.
    fn answer(&self, person: &Person, message: &Value, want: &Want) -> Outcome {
        self.mine(message)?;
        judge(message, want)?;
        person.ledger().answered(&message["id"])
    }
}

/// Holds a message to what was expected of it; its id apart.
pub(crate) fn judge(message: &Value, want: &Want) -> Outcome {
    let (result, code) = (&message["result"], message["error"]["code"].as_i64());
    let text = result["content"][0]["text"].as_str();
    let failed = result["isError"] == true;
    let good = match want {
        Want::Text(wanted) => text == Some(wanted) && !failed,
        Want::Failure => failed,
        Want::Member(member) => !result[*member].is_null(),
        Want::Empty => *result == json!({}),
        Want::Error(wanted) => code == Some(*wanted),
        Want::TextOrError(wanted, error) => (text == Some(wanted) && !failed) || code == Some(*error),
        Want::Refusal { code: wanted, .. } => code == Some(*wanted),
        Want::Plain(_) => false,
    };
    let about = || message.to_string().chars().take(300).collect::<String>();
    if good { Ok(()) } else { Err(format!("{want:?} wanted, came {}", about())) }
}

/// What either era can be asked: a method, its params, and what is expected.
pub(crate) fn anything(person: &mut Person) -> (&'static str, Value, Want) {
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    let text = person.text();
    let most = if person.shared.rich { 13 } else { 7 };
    match person.random.within(0, most) {
        0..=2 => ("tools/call", call("echo", json!({"message": text})), Want::Text(text)),
        3 => {
            let (a, b) = (person.random.within(0, 1_000_000), person.random.within(0, 1_000_000));
            ("tools/call", call("add", json!({"a": a, "b": b})), Want::Text((a + b).to_string()))
        }
        4 => ("tools/call", call("fail", json!({})), Want::Failure),
        5 => ("tools/call", call("no-such-tool", json!({})), Want::Error(-32602)),
        6 => ("tools/call", call("echo", json!({"message": 5})), Want::Failure),
        7 => ("tools/list", json!({}), Want::Member("tools")),
        8 => ("resources/read", json!({"uri": "soak://fixed"}), Want::Member("contents")),
        9 => {
            let list = person.random.pick(&[
                ("resources/list", "resources"),
                ("prompts/list", "prompts"),
                ("resources/templates/list", "resourceTemplates"),
            ]);
            (list.0, json!({}), Want::Member(list.1))
        }
        10 => {
            ("prompts/get", json!({"name": "greet", "arguments": {"whom": text}}), Want::Member("messages"))
        }
        11 => {
            let reference = json!({"type": "ref/resource", "uri": "soak://many/{id}"});
            let params = json!({"ref": reference, "argument": {"name": "id", "value": "o"}});
            ("completion/complete", params, Want::Member("completion"))
        }
        12 => {
            let at = person.random.within(0, 15);
            (
                "tools/call",
                call(&format!("churn-{at}"), json!({})),
                Want::TextOrError(format!("churned {at}"), -32602),
            )
        }
        _ => match person.random.within(0, 5) {
            0 => ("tools/call", call("panic", json!({})), Want::Failure),
            _ => ("tools/call", call("block", json!({})), Want::Text("unblocked".to_owned())),
        },
    }
}

/// A good modern request.
pub(crate) fn modern(person: &mut Person) -> Ask {
    let id = person.ask();
    match person.random.within(0, 11) {
        0 => Ask::new(Post::modern(id, "server/discover", json!({})), id, Want::Member("supportedVersions")),
        1 if person.shared.rich => {
            let region = format!("eu-{}", person.random.within(0, 99));
            let params = json!({"name": "mirrored", "arguments": {"region": region}});
            Ask::new(Post::modern(id, "tools/call", params), id, Want::Text(region))
        }
        2 => Ask::new(
            Post::new(&json!({"jsonrpc": "2.0", "id": id.json(), "method": "ping"})),
            id,
            Want::Empty,
        ),
        _ => {
            let (method, params, want) = anything(person);
            Ask::new(Post::modern(id, method, params), id, want)
        }
    }
}

/// A notification, on the modern lane.
pub(crate) fn notification(person: &Person) -> Post {
    person.ledger().sent();
    Post::new(&json!({"jsonrpc": "2.0", "method": "notifications/whatever"}))
        .header("mcp-protocol-version", MODERN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each answer is what one expectation wants, and what the others do not.
    #[test]
    fn answers_are_told_apart() {
        let text = |text: &str| json!({"id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        let mut failed = text("m");
        failed["result"]["isError"] = true.into();
        let cases = [
            (Want::Text("m".to_owned()), text("m")),
            (Want::Text("n".to_owned()), text("n")),
            (Want::Failure, failed),
            (Want::Member("tools"), json!({"id": 1, "result": {"tools": []}})),
            (Want::Empty, json!({"id": 1, "result": {}})),
            (Want::Error(-32602), json!({"id": 1, "error": {"code": -32602}})),
            (Want::Error(-32603), json!({"id": 1, "error": {"code": -32603}})),
        ];
        for (at, (want, _)) in cases.iter().enumerate() {
            for (other, (_, message)) in cases.iter().enumerate() {
                assert_eq!(judge(message, want).is_ok(), at == other, "{want:?} {message}");
            }
        }
        let either = Want::TextOrError("m".to_owned(), -32602);
        let passing = cases.iter().filter(|(_, message)| judge(message, &either).is_ok()).count();
        assert_eq!(passing, 2);
    }
}
