//! The road without a connection: what one does with a request, in memory and at once.

use std::task::{Context, Poll, Waker};

use twolane::reply::{Exchange, Mark, Reply, SessionText};
use twolane::road::{Answer, Entry, Peer, Pending, Road, Scratch, Step};
use twolane::tables::versions::Era;
use twolane::view::head::{HeadBuilder, HeadIndex, HeadParser, RequestHead};
use twolane::view::message::PADDING;

use crate::world::World;

/// A request. Names and values of fields are as they stand on the wire.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub http2: bool,
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    /// Of an absolute-form target, or `:authority`.
    pub authority: Option<Vec<u8>>,
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub body: Vec<u8>,
    /// Whether the head tells the body's length.
    pub declared: bool,
}

/// What a request was answered.
#[derive(Debug)]
pub struct Outcome {
    pub reply: Reply,
    /// All of it, or the last bytes of a stream that has been opened.
    pub body: Vec<u8>,
    /// The bytes of the stream, without the last ones.
    pub events: Vec<u8>,
    /// Whether a stream had been opened when the answer came.
    pub streamed: bool,
    pub mark: Option<Mark>,
    pub era: Option<Era>,
    /// The origin that CORS headers repeat.
    pub cors: Vec<u8>,
}

/// What came of putting a request on the road.
#[derive(Debug)]
pub enum Ran {
    /// Its head is none, or none that this rig can write.
    NoHead,
    /// It was answered at once.
    Answered(Outcome),
    /// It goes on.
    Open(Open),
}

impl Ran {
    fn answered(self) -> Option<Outcome> {
        if let Self::Answered(outcome) = self { Some(outcome) } else { None }
    }
}

/// An exchange that goes on, as a connection has it.
#[derive(Debug)]
pub struct Open {
    pending: Pending,
    exchange: Exchange,
    events: Vec<u8>,
    streamed: bool,
}

/// How an exchange ended that went on.
#[derive(Debug)]
pub enum End {
    Answered(Outcome),
    /// Its stream ended early: all that it carried.
    Cut(Vec<u8>),
}

impl Open {
    /// Takes whatever there is to take. What has come until now is left in [`Self::events`].
    pub fn hear(&mut self) -> Option<End> {
        let mut cx = Context::from_waker(Waker::noop());
        // More than a script can have sent, fewer than one that sends for ever.
        for _ in 0..10_000 {
            match self.pending.poll(&mut cx, &mut self.exchange) {
                Poll::Pending => return None,
                Poll::Ready(Step::Event(event)) => {
                    assert!(self.pending.may_stream(), "an event for a client that takes no stream");
                    self.events.extend_from_slice(&event);
                    self.streamed = true;
                }
                Poll::Ready(Step::Cut(event)) => {
                    assert!(self.pending.may_stream(), "a stream for a client that takes none");
                    self.events.extend_from_slice(&event);
                    return Some(End::Cut(std::mem::take(&mut self.events)));
                }
                Poll::Ready(Step::Done(reply)) => {
                    let mut outcome = outcome(reply, &self.exchange);
                    outcome.events = std::mem::take(&mut self.events);
                    outcome.streamed = self.streamed;
                    return Some(End::Answered(outcome));
                }
            }
        }
        panic!("it never stops: {}", self.events.escape_ascii());
    }

    /// What has come until now.
    pub fn events(&self) -> &[u8] {
        &self.events
    }

    /// The client is gone: a modern call is cancelled, a legacy one runs on.
    pub fn abandon(self) {
        match self.pending.era() {
            Era::Modern => drop(self.pending),
            Era::Legacy => self.pending.detach(),
        }
    }
}

/// A road and the storage of one connection.
#[derive(Debug)]
pub struct Rig {
    road: Road,
    scratch: Scratch,
    exchange: Exchange,
    head: Vec<u8>,
}

impl Rig {
    pub fn new(world: &World) -> Self {
        let (road, scratch) = (world.road.clone(), world.road.scratch());
        Self { road, scratch, exchange: Exchange::new(true), head: Vec::new() }
    }

    /// Puts a request on the road.
    pub fn run(&mut self, request: &Request) -> Ran {
        let Some(index) = self.write_head(request) else { return Ran::NoHead };
        let Self { road, scratch, exchange, head } = self;
        exchange.begin();
        let head = RequestHead::new(head, &index);
        let (peer, len) = (Peer::default(), request.body.len());
        let declared = request.declared.then_some(len as u64);
        let ticket = match road.enter(head, declared, &peer, exchange) {
            Entry::Answer(reply) => return Ran::Answered(outcome(reply, exchange)),
            Entry::Body(ticket) => ticket,
            Entry::Stream(pending) => return Ran::Open(open(pending, exchange)),
        };
        if len as u64 > ticket.ceiling() {
            let reply = road.outgrown(head, &ticket, exchange);
            return Ran::Answered(outcome(reply, exchange));
        }
        let mut body = [&request.body[..], &[b'7'; PADDING]].concat();
        let mut cx = Context::from_waker(Waker::noop());
        match road.post(head, ticket, &mut body, len, scratch, &peer, exchange, &mut cx) {
            Answer::Done(reply) => Ran::Answered(outcome(reply, exchange)),
            Answer::Pending(pending) => Ran::Open(open(pending, exchange)),
        }
    }

    fn write_head(&mut self, request: &Request) -> Option<HeadIndex> {
        if request.http2 {
            let builder = HeadBuilder::new(&mut self.head).method(&request.method);
            let mut builder = builder.target(&request.target, request.authority.as_deref());
            for (name, value) in &request.fields {
                builder.field(&name.to_ascii_lowercase(), value);
            }
            return Some(builder.finish());
        }
        let scheme = if request.authority.is_some() { &b"http://"[..] } else { b"" };
        let authority = request.authority.as_deref().unwrap_or_default();
        self.head =
            [&request.method[..], b" ", scheme, authority, &request.target, b" HTTP/1.1\r\n"].concat();
        for (name, value) in &request.fields {
            for piece in [name, &b": "[..], value, b"\r\n"] {
                self.head.extend_from_slice(piece);
            }
        }
        self.head.extend_from_slice(b"\r\n");
        let index = HeadParser::new().parse(&self.head, self.road.limits()).ok()??;
        (index.len() == self.head.len()).then_some(index)
    }

    /// Opens a session; `None` where nobody may.
    pub fn open_session(&mut self, revision: &str, capabilities: &str, ready: bool) -> Option<SessionText> {
        let mut request = plain(
            "alice",
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
            ),
        );
        let session = self.run(&request).answered()?.reply.extra.session?;
        if ready {
            request.fields.push((b"mcp-session-id".to_vec(), session.to_vec()));
            request.body = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec();
            assert_eq!(self.run(&request).answered()?.reply.status, 202);
        }
        Some(session)
    }

    /// Sends a ping on a session, and says whether it was answered.
    pub fn ping(&mut self, session: &SessionText, owner: Option<&str>) -> bool {
        let mut request =
            plain(owner.unwrap_or("alice"), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned());
        request.fields.push((b"mcp-session-id".to_vec(), session.to_vec()));
        self.run(&request).answered().is_some_and(|outcome| outcome.reply.status == 200)
    }
}

/// A small message of `owner`'s.
fn plain(owner: &str, body: String) -> Request {
    let field = |name: &str, value: String| (name.as_bytes().to_vec(), value.into_bytes());
    Request {
        method: b"POST".to_vec(),
        target: b"/mcp".to_vec(),
        fields: vec![
            field("host", "localhost".to_owned()),
            field("content-type", "application/json".to_owned()),
            field("authorization", format!("Bearer {owner}")),
        ],
        body: body.into_bytes(),
        ..Request::default()
    }
}

fn outcome(reply: Reply, exchange: &Exchange) -> Outcome {
    Outcome {
        reply,
        body: exchange.body.clone(),
        events: Vec::new(),
        streamed: false,
        mark: exchange.mark,
        era: exchange.era,
        cors: exchange.cors.clone(),
    }
}

fn open(pending: Pending, exchange: &mut Exchange) -> Open {
    let exchange = std::mem::replace(exchange, Exchange::new(true));
    Open { pending, exchange, events: Vec::new(), streamed: false }
}
