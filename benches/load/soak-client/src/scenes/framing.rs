//! Requests over HTTP/1.1 as bytes: several at once, in pieces, with an end behind them, and such as are none.

use crate::asks::{Ask, modern};
use crate::http1::Http1;
use crate::ledger::Outcome;
use crate::link::{Answer, Link};
use crate::person::Person;
use crate::random::Random;
use crate::refusals;

/// Reads the next answer, and holds it to what is expected.
async fn answer(person: &Person, link: &mut Link, ask: &Ask) -> Outcome {
    let Link::One(http1, _) = link else { return Err("a pipeline over HTTP/2".to_owned()) };
    let head = http1.head().await?;
    let whole = Answer::one(head, ask.post.verb)?;
    let whole = link.rest(whole).await?;
    ask.check(person, &whole)
}

fn several(person: &mut Person, most: u64) -> (Vec<Ask>, Vec<u8>) {
    let mut chunks = Random::new(person.random.next());
    let mut asks = Vec::new();
    let mut bytes = Vec::new();
    for _ in 0..person.random.within(1, most) {
        let ask = if person.random.chance(85) { modern(person) } else { refusals::open(person) };
        let chunked = person.random.chance(20).then_some(&mut chunks);
        bytes.extend(ask.post.bytes(chunked));
        asks.push(ask);
    }
    (asks, bytes)
}

/// All are answered, in their order.
async fn answers(person: &Person, http1: Http1, asks: &[Ask]) -> Outcome<Link> {
    let mut link = Link::One(http1, None);
    for ask in asks {
        answer(person, &mut link, ask).await?;
    }
    Ok(link)
}

pub(super) async fn pipelines(person: &mut Person) -> Outcome {
    let mut http1 = person.http1().await?;
    for _ in 0..person.random.within(1, 3) {
        let (asks, bytes) = several(person, 24);
        // In one piece, or in two of which the first may end anywhere.
        let cut = person.random.size(0, bytes.len());
        http1.send(&bytes[..cut]).await?;
        if person.random.chance(50) {
            person.pause(0, 5).await;
        }
        http1.send(&bytes[cut..]).await?;
        match answers(person, http1, &asks).await? {
            Link::One(back, _) => http1 = back,
            Link::Two(_) => return Err("a pipeline over HTTP/2".to_owned()),
        }
        http1.is_quiet()?;
    }
    Ok(())
}

/// What comes slowly is answered as well.
pub(super) async fn dribbles(person: &mut Person) -> Outcome {
    let mut http1 = person.http1().await?;
    let (asks, bytes) = several(person, 3);
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(person.random.size(1, rest.len().min(200)));
        http1.send(piece).await?;
        rest = after;
        person.pause(0, 8).await;
    }
    answers(person, http1, &asks).await.map(drop)
}

/// What was whole before the client's side ended is answered, and then the connection ends.
pub(super) async fn half_closes(person: &mut Person) -> Outcome {
    let mut http1 = person.http1().await?;
    let (asks, mut bytes) = several(person, 16);
    if person.random.chance(30) {
        // A request that will never be whole gets no answer.
        bytes.extend_from_slice(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncont");
    }
    http1.send(&bytes).await?;
    http1.finish().await?;
    match answers(person, http1, &asks).await? {
        Link::One(mut http1, _) => http1.ends().await,
        Link::Two(_) => Err("a half-close over HTTP/2".to_owned()),
    }
}

/// Refused with a status of HTTP's own, behind some that were good; the connection ends.
pub(super) async fn broken(person: &mut Person) -> Outcome {
    let mut http1 = person.http1().await?;
    let (asks, mut bytes) = several(person, 3);
    let (fault, status) = refusals::broken(person);
    person.ledger().sent();
    bytes.extend_from_slice(&fault);
    http1.send(&bytes).await?;
    let Link::One(mut http1, chunks) = answers(person, http1, &asks).await? else {
        return Err("broken HTTP/1.1 over HTTP/2".to_owned());
    };
    let head = http1.head().await?;
    if head.status != status || head.header("connection") != Some("close") {
        let start = String::from_utf8_lossy(&fault[..fault.len().min(100)]).into_owned();
        return Err(format!("{status} and an end wanted of {start:?}, came {head:?}"));
    }
    let mut link = Link::One(http1, chunks);
    link.rest(Answer::one(head, "POST")?).await?;
    match link {
        Link::One(mut http1, _) => http1.ends().await,
        Link::Two(_) => Ok(()),
    }
}
