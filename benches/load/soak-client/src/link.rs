//! One connection, whichever protocol it speaks: a request out, an answer back, whole or event by event.

use bytes::{Bytes, BytesMut};
use serde_json::Value;

use crate::http1::{Head, Http1};
use crate::http2::{Http2, Incoming};
use crate::ledger::Outcome;
use crate::post::Post;
use crate::random::Random;

#[derive(Debug)]
pub(crate) enum Link {
    /// With what decides whether a body goes out in chunks, where some do.
    One(Http1, Option<Random>),
    Two(Http2),
}

/// An answer that has been read to its end.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Whole {
    pub(crate) fn json(&self) -> Outcome<Value> {
        serde_json::from_slice(&self.body).map_err(|error| format!("{error}: {}", self.told()))
    }

    /// For a text that says what is wrong with it.
    pub(crate) fn told(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let short: String = text.chars().take(300).collect();
        format!("{} {short}", self.head.status)
    }
}

/// One event of a stream.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<String>,
    /// The message, unless there is none, or an empty one.
    pub(crate) message: Option<Value>,
}

/// Where the body of an answer comes from.
#[derive(Debug)]
enum Body {
    /// So many bytes are left.
    Length(usize),
    Chunks,
    Http2(Incoming),
    Over,
}

/// An answer of which the head is there.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    body: Body,
    /// What has come of an event that is not whole yet.
    rest: BytesMut,
}

impl Answer {
    /// Of which the head has come over HTTP/1.1.
    pub(crate) fn one(head: Head, verb: &str) -> Outcome<Self> {
        let bare = matches!(head.status, 202 | 204) || verb == "HEAD";
        let body = match (head.header("content-length"), head.header("transfer-encoding")) {
            (Some(length), None) if !bare => {
                Body::Length(length.parse().map_err(|_| format!("content-length: {length}"))?)
            }
            (None, Some("chunked")) => Body::Chunks,
            (Some("0") | None, None) if bare => Body::Over,
            (length, coding) => {
                return Err(format!("{} with length {length:?} and coding {coding:?}", head.status));
            }
        };
        Ok(Self { head, body, rest: BytesMut::new() })
    }

    pub(crate) fn two((head, incoming): (Head, Incoming)) -> Self {
        Self { head, body: Body::Http2(incoming), rest: BytesMut::new() }
    }

    /// Lets go of the rest, where that can be said.
    pub(crate) fn let_go(self) {
        if let Body::Http2(incoming) = self.body {
            incoming.reset();
        }
    }
}

impl Link {
    /// Sends a request, and waits for the head of its answer.
    pub(crate) async fn open(&mut self, post: &Post) -> Outcome<Answer> {
        match self {
            Self::One(http1, chunks) => {
                http1.is_quiet()?;
                let chunked = chunks.as_mut().and_then(|random| random.chance(50).then_some(random));
                http1.send(&post.bytes(chunked)).await?;
                Answer::one(http1.head().await?, post.verb)
            }
            Self::Two(http2) => Ok(Answer::two(http2.start(post).await?.head().await?)),
        }
    }

    /// The next piece of an answer.
    pub(crate) async fn piece(&mut self, answer: &mut Answer) -> Outcome<Option<Bytes>> {
        let piece = match (&mut answer.body, self) {
            (Body::Over | Body::Length(0), _) => None,
            (Body::Length(left), Self::One(http1, _)) => {
                let some = http1.some(*left).await?;
                *left -= some.len();
                Some(some)
            }
            (Body::Chunks, Self::One(http1, _)) => http1.chunk().await?,
            (Body::Http2(incoming), Self::Two(_)) => incoming.piece().await?,
            (Body::Length(_) | Body::Chunks, Self::Two(_)) | (Body::Http2(_), Self::One(..)) => {
                return Err("an answer of another connection".to_owned());
            }
        };
        if piece.is_none() {
            answer.body = Body::Over;
        }
        Ok(piece)
    }

    /// The rest of an answer.
    pub(crate) async fn rest(&mut self, mut answer: Answer) -> Outcome<Whole> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(&mut answer).await? {
            body.extend_from_slice(&piece);
        }
        Ok(Whole { head: answer.head, body })
    }

    /// Sends a request, and reads its whole answer.
    pub(crate) async fn send(&mut self, post: &Post) -> Outcome<Whole> {
        let answer = self.open(post).await?;
        self.rest(answer).await
    }

    /// Sends a request that must be answered with a stream.
    pub(crate) async fn stream(&mut self, post: &Post) -> Outcome<Answer> {
        let answer = self.open(post).await?;
        if answer.head.status == 200 && answer.head.is_stream() {
            return Ok(answer);
        }
        Err(format!("no stream: {}", self.rest(answer).await?.told()))
    }

    /// The next event of a stream, comments apart. `None` at its end.
    pub(crate) async fn event(&mut self, answer: &mut Answer) -> Outcome<Option<Event>> {
        loop {
            while let Some(end) = answer.rest.windows(2).position(|two| two == b"\n\n") {
                let block = answer.rest.split_to(end + 2);
                if let Some(event) = event(&block)? {
                    return Ok(Some(event));
                }
            }
            match self.piece(answer).await? {
                Some(piece) => answer.rest.extend_from_slice(&piece),
                None if answer.rest.is_empty() => return Ok(None),
                None => return Err(format!("a stream that ends within an event: {:?}", answer.rest)),
            }
        }
    }

    /// The next event, which must be there and hold a message. Events without one are passed over.
    pub(crate) async fn message(&mut self, answer: &mut Answer) -> Outcome<(Option<String>, Value)> {
        loop {
            let event = self.event(answer).await?.ok_or("the stream has ended too early")?;
            if let Some(message) = event.message {
                return Ok((event.id, message));
            }
        }
    }

    /// The stream ends here.
    pub(crate) async fn over(&mut self, answer: &mut Answer) -> Outcome {
        match self.event(answer).await? {
            None => Ok(()),
            Some(event) => Err(format!("{event:?} where the stream should end")),
        }
    }

    /// Leaves in the middle of something: by a reset, or by an end.
    pub(crate) fn leave(self, answer: Option<Answer>, reset: bool) {
        match self {
            Self::One(http1, _) if reset => http1.reset(),
            Self::Two(_) if reset => {
                if let Some(answer) = answer {
                    answer.let_go();
                }
            }
            Self::One(..) | Self::Two(_) => {}
        }
    }
}

/// What a block says. `None` when it is nothing but comments.
fn event(block: &[u8]) -> Outcome<Option<Event>> {
    let text = std::str::from_utf8(block).map_err(|_| "a stream that is no text")?;
    let mut event = Event::default();
    let mut said = false;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(':')) {
        let (field, value) = line.split_once(':').ok_or_else(|| format!("no field: {line:?}"))?;
        let value = value.strip_prefix(' ').unwrap_or(value);
        said = true;
        match field {
            "id" => event.id = Some(value.to_owned()),
            "retry" => event.retry = Some(value.to_owned()),
            "data" if value.is_empty() => {}
            "data" if event.message.is_none() => {
                let message = serde_json::from_str(value).map_err(|error| format!("{error}: {value}"))?;
                event.message = Some(message);
            }
            _ => return Err(format!("{line:?} in {text:?}")),
        }
    }
    Ok(said.then_some(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_strictly() {
        let read = |text: &str| event(text.as_bytes());
        assert_eq!(read(":\n\n"), Ok(None));
        let primed = Event { id: Some("a-1-0".to_owned()), ..Event::default() };
        assert_eq!(read("id: a-1-0\ndata:\n\n"), Ok(Some(primed)));
        let message = Event { message: Some(serde_json::json!({"id": 1})), ..Event::default() };
        assert_eq!(read("data: {\"id\":1}\n\n"), Ok(Some(message)));
        for bad in ["data: {\n\n", "data: {}\ndata: {}\n\n", "nothing\n\n", "event: message\n\n"] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn bodies_have_one_end() {
        let head = |status, headers: &[(&str, &str)]| Head {
            status,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let (length, chunked) = (("content-length", "5"), ("transfer-encoding", "chunked"));
        for (headers, good) in
            [(vec![length], true), (vec![chunked], true), (vec![], false), (vec![length, chunked], false)]
        {
            assert_eq!(Answer::one(head(200, &headers), "POST").is_ok(), good, "{headers:?}");
        }
        assert!(Answer::one(head(202, &[("content-length", "0")]), "POST").is_ok());
        assert!(Answer::one(head(202, &[length]), "POST").is_err());
    }
}
