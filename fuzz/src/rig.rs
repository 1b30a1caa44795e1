//! The road without a connection: what one does with a request, in memory and at once.

use std::collections::HashSet;
use std::task::{Context, Poll, Waker};

use twolane::reply::{Content, Exchange, Mark, Reply, SessionText};
use twolane::road::{Answer, Entry, Peer, Pending, Road, Scratch, Step};
use twolane::tables::versions::Era;
use twolane::view::head::{HeadBuilder, HeadIndex, HeadParser, RequestHead};
use twolane::view::message::PADDING;

use crate::response;
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
    pub body: Vec<u8>,
    /// Notifications that came before the answer.
    pub events: Vec<Vec<u8>>,
    pub mark: Option<Mark>,
    pub era: Option<Era>,
    /// The origin that CORS headers repeat.
    pub cors: Vec<u8>,
    /// Whether the call went on after its first poll.
    pub pending: bool,
}

/// What came of putting a request on the road.
#[derive(Debug)]
pub enum Ran {
    /// Its head is none, or none that this rig can write.
    NoHead,
    /// It was answered.
    Answered(Outcome),
    /// Its call did not end while it was watched, and was given up.
    GivenUp,
}

impl Ran {
    fn answered(self) -> Option<Outcome> {
        if let Self::Answered(outcome) = self { Some(outcome) } else { None }
    }
}

/// A road and the storage of one connection.
#[derive(Debug)]
pub struct Rig {
    road: Road,
    scratch: Scratch,
    exchange: Exchange,
    head: Vec<u8>,
    turn: fn(),
}

impl Rig {
    /// `turn` gives the tasks that calls have been moved to a turn.
    pub fn new(world: &World, turn: fn()) -> Self {
        let (road, scratch) = (world.road.clone(), world.road.scratch());
        Self { road, scratch, exchange: Exchange::new(true), head: Vec::new(), turn }
    }

    /// Puts a request on the road.
    pub fn run(&mut self, request: &Request) -> Ran {
        let Some(index) = self.write_head(request) else { return Ran::NoHead };
        let Self { road, scratch, exchange, head, turn } = self;
        exchange.begin();
        let head = RequestHead::new(head, &index);
        let (peer, len) = (Peer::default(), request.body.len());
        let declared = request.declared.then_some(len as u64);
        let ticket = match road.enter(head, declared, &peer, exchange) {
            Entry::Answer(reply) => return outcome(reply, exchange, None),
            Entry::Body(ticket) => ticket,
            Entry::Stream(stream) => return begin(stream, exchange),
        };
        if len as u64 > ticket.ceiling() {
            let reply = road.outgrown(head, &ticket, exchange);
            return outcome(reply, exchange, None);
        }
        let mut body = [&request.body[..], &[b'7'; PADDING]].concat();
        let mut cx = Context::from_waker(Waker::noop());
        match road.post(head, ticket, &mut body, len, scratch, &peer, exchange, &mut cx) {
            Answer::Done(reply) => outcome(reply, exchange, None),
            Answer::Pending(pending) => see_through(pending, exchange, *turn),
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
    pub fn open_session(&mut self, revision: &str, ready: bool) -> Option<SessionText> {
        let field = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let mut request = Request {
            method: b"POST".to_vec(),
            target: b"/mcp".to_vec(),
            fields: vec![
                field("host", "localhost"),
                field("content-type", "application/json"),
                field("authorization", "Bearer alice"),
            ],
            body: format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#).into_bytes(),
            ..Request::default()
        };
        let session = self.run(&request).answered()?.reply.extra.session?;
        if ready {
            request.fields.push((b"mcp-session-id".to_vec(), session.to_vec()));
            request.body = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec();
            assert_eq!(self.run(&request).answered()?.reply.status, 202);
        }
        Some(session)
    }
}

/// `events` of a call that went on.
fn outcome(reply: Reply, exchange: &Exchange, events: Option<Vec<Vec<u8>>>) -> Ran {
    let (body, cors) = (exchange.body.clone(), exchange.cors.clone());
    let (pending, events) = (events.is_some(), events.unwrap_or_default());
    Ran::Answered(Outcome { reply, body, events, mark: exchange.mark, era: exchange.era, cors, pending })
}

/// Takes what a stream has to give at once, and leaves it.
fn begin(mut stream: Pending, exchange: &mut Exchange) -> Ran {
    let mut cx = Context::from_waker(Waker::noop());
    let mut body = Vec::new();
    let mut events = 0;
    while let Poll::Ready(step) = stream.poll(&mut cx, exchange) {
        let Step::Event(event) = step else { panic!("a stream that ends at once: {step:?}") };
        body.extend_from_slice(&event);
        events += 1;
    }
    assert!(events > 0, "the head goes out at once");
    exchange.body = body;
    let reply = Reply { content: Content::EventStream, ..Reply::json(200) };
    outcome(reply, exchange, Some(Vec::new()))
}

/// Polls a call until it is answered, but not for ever.
fn see_through(mut pending: Pending, exchange: &mut Exchange, turn: fn()) -> Ran {
    let mut cx = Context::from_waker(Waker::noop());
    let (mut events, mut ids) = (Vec::new(), HashSet::new());
    for _ in 0..200 {
        match pending.poll(&mut cx, exchange) {
            Poll::Ready(Step::Event(event)) => {
                assert!(pending.may_stream(), "an event for a client that takes no stream");
                for (id, data) in response::blocks(&event) {
                    assert!(id.is_none_or(|id| ids.insert(id)), "an id that was there before");
                    events.extend(Some(data.into_bytes()).filter(|data| !data.is_empty()));
                }
            }
            Poll::Ready(Step::Done(reply)) => return outcome(reply, exchange, Some(events)),
            Poll::Ready(Step::Cut(_)) => panic!("nobody has ended it"),
            Poll::Pending => turn(),
        }
    }
    Ran::GivenUp
}
