//! Several requests on one HTTP/2 connection at once, some of which are let go, or all of them.

use serde_json::json;

use crate::asks::{Ask, modern};
use crate::http2::Sent;
use crate::ledger::{Id, Outcome};
use crate::link::{Answer, Link};
use crate::person::Person;
use crate::post::Post;
use crate::refusals;

/// Reads an answer that has been asked for, and holds it to what is expected.
async fn answer(person: &Person, link: &mut Link, sent: Sent, ask: &Ask) -> Outcome {
    let answer = Answer::two(sent.head().await?);
    let whole = link.rest(answer).await?;
    ask.check(person, &whole)
}

/// All are answered, in whatever order they are read.
pub(super) async fn together(person: &mut Person) -> Outcome {
    let mut http2 = person.http2().await?;
    for _ in 0..person.random.within(1, 3) {
        let mut sent = Vec::new();
        for _ in 0..person.random.within(2, 32) {
            let ask = match person.random.within(0, 19) {
                0..=1 => refusals::open(person),
                2 => refusals::closing(person),
                _ => modern(person),
            };
            sent.push((http2.start(&ask.post).await?, ask));
        }
        let mut link = Link::Two(http2);
        while !sent.is_empty() {
            let (next, ask) = sent.swap_remove(person.random.size(0, sent.len() - 1));
            answer(person, &mut link, next, &ask).await?;
        }
        match link {
            Link::Two(back) => http2 = back,
            Link::One(..) => return Ok(()),
        }
    }
    Ok(())
}

fn sleeping(person: &Person) -> (Post, Id) {
    let id = person.ask();
    (Post::modern(id, "tools/call", json!({"name": "sleep", "arguments": {"ms": 5_000, "steps": 5}})), id)
}

/// Some are reset; the others are answered all the same.
pub(super) async fn resets(person: &mut Person) -> Outcome {
    let mut http2 = person.http2().await?;
    let (mut kept, mut left) = (Vec::new(), Vec::new());
    for _ in 0..person.random.within(2, 12) {
        if person.random.chance(40) {
            let (post, id) = sleeping(person);
            left.push((http2.start(&post).await?, id));
        } else {
            let ask = modern(person);
            kept.push((http2.start(&ask.post).await?, ask));
        }
    }
    if person.random.chance(60) {
        person.pause(0, 40).await;
    }
    for (sent, id) in left {
        person.ledger().give_up(id);
        person.ledger().done("streams reset");
        sent.reset();
    }
    let mut link = Link::Two(http2);
    for (sent, ask) in kept {
        answer(person, &mut link, sent, &ask).await?;
    }
    let ask = modern(person);
    super::calls::exchange(person, &mut link, &ask).await
}

/// The connection is dropped with everything that goes on in it.
pub(super) async fn dropped(person: &mut Person) -> Outcome {
    let mut http2 = person.http2().await?;
    let mut sent = Vec::new();
    for _ in 0..person.random.within(1, 12) {
        let ask = modern(person);
        let id = if person.random.chance(50) {
            let (post, id) = sleeping(person);
            sent.push(http2.start(&post).await?);
            Some(id)
        } else {
            None
        };
        sent.push(http2.start(&ask.post).await?);
        for id in [ask.id, id].into_iter().flatten() {
            person.ledger().give_up(id);
        }
    }
    person.pause(0, 30).await;
    person.ledger().done("connections aborted");
    drop(http2);
    Ok(())
}
