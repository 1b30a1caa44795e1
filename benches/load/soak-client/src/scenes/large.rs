//! Large requests and answers, at full speed and slowly.

use serde_json::json;

use super::calls::exchange;
use crate::asks::{Ask, Want};
use crate::ledger::Outcome;
use crate::link::Link;
use crate::person::Person;
use crate::post::Post;

const PATTERN: &str = "0123456789abcdef";

pub(super) async fn large(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    for _ in 0..person.random.within(1, 3) {
        let id = person.ask();
        let most = person.random.pick(&[4_000, 15_000, 50_000]);
        let text = PATTERN.repeat(person.random.size(1_000, most));
        let params = json!({"name": "echo", "arguments": {"message": text}});
        let ask = Ask::new(Post::modern(id, "tools/call", params), id, Want::Text(text));
        exchange(person, &mut link, &ask).await?;
    }
    Ok(())
}

/// The answer is taken by and by.
pub(super) async fn slow_readers(person: &mut Person) -> Outcome {
    let mut link = match person.random.chance(50) {
        true => Link::One(person.narrow().await?, None),
        false => Link::Two(person.http2().await?),
    };
    let id = person.ask();
    let pieces = person.random.size(10_000, 60_000);
    let params = json!({"name": "large", "arguments": {"bytes": pieces * PATTERN.len()}});
    let post = Post::modern(id, "tools/call", params);
    let mut answer = link.open(&post).await?;
    let mut body = Vec::new();
    let mut until = 0;
    while let Some(piece) = link.piece(&mut answer).await? {
        body.extend_from_slice(&piece);
        if body.len() > until {
            until = body.len() + 30_000;
            person.pause(0, 25).await;
        }
    }
    let whole = crate::link::Whole { head: answer.head, body };
    Ask::new(post, id, Want::Text(PATTERN.repeat(pieces))).check(person, &whole)
}
