//! The road without a socket: what a connection does with one request, in memory.

use std::task::{Context, Waker};

use twolane::reply::{Exchange, Reply};
use twolane::road::{Answer, Entry, Peer, Road, Scratch};
use twolane::view::head::{HeadParser, RequestHead};
use twolane::view::message::PADDING;

use super::requests::{self, Request};

/// A request's bytes in a buffer, as a connection has them.
#[derive(Debug)]
pub struct Loaded {
    buf: Vec<u8>,
    head: usize,
    body: Vec<u8>,
}

impl Loaded {
    pub fn new(request: &Request) -> Self {
        let mut buf = request.bytes();
        buf.extend_from_slice(&[0; PADDING]);
        Self { buf, head: request.head.len(), body: request.body.clone() }
    }

    /// Puts the body back that parsing has overwritten, as the next read would.
    fn reload(&mut self) {
        self.buf[self.head..self.head + self.body.len()].copy_from_slice(&self.body);
    }
}

/// A road and the storage of one connection.
#[derive(Debug)]
pub struct Rig {
    pub road: Road,
    /// Who sends the requests.
    pub peer: Peer,
    scratch: Scratch,
    exchange: Exchange,
    parser: HeadParser,
}

impl Rig {
    pub fn new(road: Road) -> Self {
        let scratch = road.scratch();
        Self {
            road,
            peer: Peer::default(),
            scratch,
            exchange: Exchange::new(false),
            parser: HeadParser::new(),
        }
    }

    /// Takes a request from its bytes to its answer, whose body is lent.
    pub fn run(&mut self, loaded: &mut Loaded) -> (Reply, &[u8]) {
        loaded.reload();
        let Self { road, peer, scratch, exchange, parser } = self;
        exchange.begin();
        parser.reset();
        let index = parser.parse(&loaded.buf, road.limits()).expect("a head").expect("a whole one");
        let (head, rest) = loaded.buf.split_at_mut(index.len());
        let head = RequestHead::new(head, &index);
        let len = loaded.body.len();
        let reply = match road.enter(head, Some(len as u64), peer, exchange) {
            Entry::Answer(reply) => reply,
            Entry::Stream(_) => panic!("no request here opens a stream"),
            Entry::Body(ticket) => {
                let mut cx = Context::from_waker(Waker::noop());
                match road.post(head, ticket, rest, len, scratch, peer, exchange, &mut cx) {
                    Answer::Done(reply) => reply,
                    Answer::Pending(_) => panic!("the tool is ready at once"),
                }
            }
        };
        (reply, &exchange.body)
    }

    /// Runs a request once and holds the answer against what it must be.
    pub fn check(&mut self, request: &Request) -> Loaded {
        let mut loaded = Loaded::new(request);
        let (reply, body) = self.run(&mut loaded);
        request.check(reply.status, body);
        loaded
    }

    /// Opens a session of 2025-11-25 and makes it ready.
    pub fn open_session(&mut self) -> String {
        let request = requests::initialize();
        let (reply, body) = self.run(&mut Loaded::new(&request));
        request.check(reply.status, body);
        let session = String::from_utf8(reply.extra.session.expect("a session").to_vec()).expect("ASCII");
        self.check(&requests::initialized(&session));
        session
    }
}
