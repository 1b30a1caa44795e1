//! Clients that go at any point: within a request, before its answer, within it; by an end or by a reset.

use serde_json::json;

use super::session::{Session, VERSIONS};
use crate::asks::modern;
use crate::ledger::{Id, Outcome};
use crate::link::Link;
use crate::person::Person;
use crate::post::Post;

async fn leave(person: &mut Person, link: Link, id: Option<Id>) -> Outcome {
    if let Some(id) = id {
        person.ledger().give_up(id);
    }
    person.ledger().done("connections aborted");
    let reset = person.random.chance(50);
    link.leave(None, reset);
    Ok(())
}

/// Within the head or the body of a request; behind some others whose answers nobody reads, as often as not.
pub(super) async fn requests(person: &mut Person) -> Outcome {
    let mut http1 = person.http1().await?;
    if person.random.chance(50) {
        for _ in 0..person.random.within(1, 12) {
            let ask = modern(person);
            http1.send(&ask.post.bytes(None)).await?;
            if let Some(id) = ask.id {
                person.ledger().give_up(id);
            }
        }
    }
    let ask = modern(person);
    let bytes = ask.post.bytes(None);
    http1.send(&bytes[..person.random.size(1, bytes.len() - 1)]).await?;
    person.pause(0, 60).await;
    leave(person, Link::One(http1, None), ask.id).await
}

fn sleeping(id: Id, reports: bool) -> Post {
    let mut params = json!({"name": "sleep", "arguments": {"ms": 20_000, "steps": 1_000}});
    if reports {
        params["_meta"] = json!({"progressToken": id.json()});
    }
    Post::modern(id, "tools/call", params)
}

/// While the call runs.
pub(super) async fn calls(person: &mut Person) -> Outcome {
    let mut http1 = person.http1().await?;
    let id = person.ask();
    http1.send(&sleeping(id, person.random.chance(30)).bytes(None)).await?;
    person.pause(0, 100).await;
    leave(person, Link::One(http1, None), Some(id)).await
}

/// Within an answer: a long one, or a stream.
pub(super) async fn answers(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let id = person.ask();
    person.ledger().give_up(id);
    person.ledger().done("connections aborted");
    let streamed = person.random.chance(50) || !person.shared.rich;
    let post = if streamed {
        sleeping(id, true)
    } else {
        Post::modern(id, "tools/call", json!({"name": "large", "arguments": {"bytes": 1_000_000}}))
    };
    let mut answer = link.open(&post).await?;
    for _ in 0..person.random.within(0, 5) {
        link.piece(&mut answer).await?.ok_or("an answer that ends too early")?;
    }
    let reset = person.random.chance(50);
    link.leave(Some(answer), reset);
    Ok(())
}

/// A legacy call whose client has gone runs on, and is over soon.
pub(super) async fn detached(person: &mut Person) -> Outcome {
    let mut link = person.link().await?;
    let version = person.random.pick(VERSIONS);
    let session = Session::open(person, &mut link, version).await?;
    for _ in 0..person.random.within(1, 3) {
        let (id, ms) = (person.ask(), person.random.within(50, 2_000));
        let mut stream = link.stream(&session.reporting(id, ms, 10)).await?;
        link.message(&mut stream).await?;
        person.ledger().give_up(id);
        person.ledger().done("calls that run on");
        let reset = person.random.chance(50);
        link.leave(Some(stream), reset);
        link = person.link().await?;
    }
    session.leave(person, &mut link).await
}
