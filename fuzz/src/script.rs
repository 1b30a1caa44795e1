//! Structured inputs for the road: valid messages, and what is done to them.

use arbitrary::Arbitrary;
use twolane::reply::SessionText;

use crate::json::Json;

mod body;
mod edit;
mod fields;
mod story;

use body::{Made, Template};
use edit::{Atom, Edit};
use fields::{FieldEdit, fitting};
pub use story::story;

use crate::rig::Request;
use crate::tables::{HOSTS, QUERIES};

/// One run. Where the input ends every number is 0 and every enum its first variant, and that is a valid request of the modern lane.
#[derive(Debug, Arbitrary)]
pub struct Script {
    /// The legacy lane is off when this is 255.
    pub legacy: u8,
    /// Authentication is on when this is above 191.
    pub auth: u8,
    pub steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
pub enum Step {
    Send(Sent),
    /// Several steps that belong together; chance alone would seldom put them in this order.
    Story(u8, u8),
    /// What goes on is not seen through, but kept open.
    Hold(Sent),
    /// One that is kept open is heard; 0 is the newest.
    Hear(u8),
    /// The client of one that is kept open goes.
    Leave(u8),
    /// Lists have changed, and a resource.
    Change(u8, u8),
    /// Handlers get all the time that they have.
    Later,
    /// Time passes: milliseconds.
    Wait(u16),
    /// Idle sessions are swept away.
    Sweep,
    /// The rate limiter refuses everybody, or nobody.
    Limit(bool),
    /// The server begins to drain.
    Drain(u8),
}

#[derive(Debug, Arbitrary)]
pub struct Sent {
    pub http2: bool,
    verb: u8,
    target: u8,
    lane: Lane,
    template: Template,
    id: Atom,
    /// What the client declares that it can do.
    declares: u8,
    edits: Few<Edit>,
    fields: Few<FieldEdit>,
    /// A byte of the body that becomes another one, or the place where the body ends too early; seldom.
    spoil: (u16, u8, u8),
    declared: bool,
}

/// At most four.
#[derive(Debug)]
pub struct Few<T>(Vec<T>);

impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for Few<T> {
    fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let count = bytes.int_in_range(0..=7_u8)?.saturating_sub(3);
        (0..count).map(|_| bytes.arbitrary()).collect::<Result<_, _>>().map(Self)
    }
}

/// What a client has heard that it may use again.
#[derive(Debug, Default)]
pub struct Memory {
    pub sessions: Vec<SessionText>,
    /// Ids of tasks.
    pub tasks: Vec<String>,
    /// Params of requests that ended with questions: those of the next round, without the answers; and the questions.
    pub rounds: Vec<Round>,
    /// Requests of the server's: their ids and their methods.
    pub asked: Vec<(Json, String)>,
    /// Ids of events.
    pub events: Vec<String>,
    /// Where lists go on.
    pub cursors: Vec<String>,
}

/// A request that ended with questions.
#[derive(Debug, Clone)]
pub struct Round {
    pub method: String,
    /// With the state that came with the questions.
    pub params: Json,
    /// Their keys and methods.
    pub questions: Vec<(String, String)>,
}

impl Memory {
    /// Keeps the newest few.
    pub fn keep<T>(list: &mut Vec<T>, item: T) {
        if list.len() >= 6 {
            list.remove(0);
        }
        list.push(item);
    }
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Lane {
    Modern,
    /// On the session with this number.
    Session(u8),
    /// Without a session.
    Bare,
}

fn pick<T>(table: &[T], at: u8) -> &T {
    &table[usize::from(at) % table.len()]
}

impl Sent {
    /// The request, of a client that knows this.
    pub fn request(&self, memory: &Memory) -> Request {
        let method = match self.verb {
            220..230 => "GET",
            230..240 => "DELETE",
            240..245 => "OPTIONS",
            245..250 => "HEAD",
            250.. => "post",
            _ => "POST",
        };
        let mut message =
            self.template.json(&Made { lane: self.lane, id: self.id, declares: self.declares, memory });
        self.edits.0.iter().for_each(|edit| edit.apply(&mut message, memory));
        let mut fields = fitting(self.lane, &message, &memory.sessions);
        self.fields.0.iter().for_each(|edit| edit.apply(&mut fields, memory));
        let mut body = Vec::new();
        message.write(&mut body);
        let (at, byte, spoil) = self.spoil;
        let at = usize::from(at) % body.len().max(1);
        match spoil {
            250.. => body.truncate(at),
            240..250 if !body.is_empty() => body[at] = byte,
            _ => {}
        }
        let (mut target, authority) = self.target();
        if self.target >= 200 {
            target.extend_from_slice(format!("?{}", pick(&QUERIES, self.target).0).as_bytes());
        }
        if self.target >= 250 {
            target.extend_from_slice(b"1234567890123456789012345");
        }
        Request {
            http2: self.http2,
            method: method.into(),
            target,
            authority,
            fields,
            body,
            declared: self.declared,
        }
    }

    fn target(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let target = match self.target {
            190 => "/",
            191 => "/mcp/x",
            192 => "/MCP",
            180..190 => "/mcp/",
            _ => "/mcp",
        };
        let authority = (100..120).contains(&self.target).then(|| pick(&HOSTS, self.target).0.into());
        (target.into(), authority.filter(|authority: &Vec<u8>| self.http2 || !authority.is_empty()))
    }
}
