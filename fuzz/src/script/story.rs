//! Steps that belong together: what is asked and answered, begun and cancelled, left and come back to.

use super::body::Template;
use super::edit::Atom;
use super::fields::{Act, Field, FieldEdit};
use super::{Few, Lane, Sent, Step};

/// The session of 2025-11-25, unless another one has taken its place.
const STREAMING: Lane = Lane::Session(1);
/// Tools as [`Template::Call`] numbers them: every other call of the same tool has other arguments.
const TOOLS: u8 = 13;
const STEPS: u8 = 2;
const WAIT: u8 = 5;
const ASK: u8 = 6;
const PARTS: u8 = 8;
const JOB: u8 = 9;

fn sent(lane: Lane, template: Template) -> Sent {
    Sent {
        http2: false,
        verb: 0,
        target: 0,
        lane,
        template,
        id: Atom::Integer(5),
        // Everything but one that gets its log messages.
        declares: 0b1111,
        edits: Few(Vec::new()),
        fields: Few(Vec::new()),
        spoil: (0, 0, 0),
        declared: true,
    }
}

/// A GET, on from one of the last events where `last` says so.
fn get(last: Option<u8>) -> Sent {
    let edit = |at| FieldEdit { field: Field::LastEventId, act: Act::Set(at) };
    let fields = Few(last.map(edit).into_iter().collect());
    Sent { verb: 220, fields, ..sent(STREAMING, Template::Ping) }
}

fn call(tool: u8, which: u8) -> Template {
    Template::Call(tool + TOOLS * (which % 18))
}

/// One of the stories.
pub fn story(kind: u8, which: u8) -> Vec<Step> {
    let modern = |template| Step::Send(sent(Lane::Modern, template));
    let session = |template| Step::Send(sent(Lane::Session(which & 1), template));
    let on_stream = |template| Step::Send(sent(STREAMING, template));
    match kind % 9 {
        0 => vec![
            Step::Hold(sent(STREAMING, call(ASK, which))),
            on_stream(Template::Response(which)),
            Step::Hear(0),
            on_stream(Template::Response(which)),
            Step::Hear(0),
        ],
        1 => vec![
            Step::Hold(sent(
                Lane::Session(which & 1),
                call([WAIT, ASK, STEPS][usize::from(which % 3)], which),
            )),
            session(Template::Notification),
            Step::Hear(0),
        ],
        2 => vec![
            Step::Hold(sent(STREAMING, call([PARTS, STEPS, ASK][usize::from(which % 3)], which))),
            Step::Hold(get(Some(which >> 2 & 3))),
            Step::Hear(0),
            Step::Hear(1),
            Step::Later,
            Step::Hear(0),
        ],
        3 => vec![
            modern(call(JOB + which % 4, which)),
            Step::Hold(sent(Lane::Modern, Template::Listen(which | 0x10))),
            modern(Template::Task(which >> 2 & 0xf)),
            Step::Hear(0),
            modern(Template::Task(3)),
            Step::Later,
            Step::Hear(0),
            modern(Template::Task(0)),
        ],
        4 => vec![
            modern(call(ASK, which)),
            modern(Template::Round(0, which)),
            modern(Template::Round(which >> 6, which >> 1)),
        ],
        5 => vec![
            Step::Hold(sent(Lane::Modern, Template::Listen(which & 0xf))),
            Step::Change(which >> 1, which >> 6),
            Step::Change(which >> 4, which >> 5 & 1),
            Step::Hear(0),
            Step::Drain(which & 0xf),
            Step::Hear(0),
        ],
        6 => vec![
            Step::Hold(get(None)),
            on_stream(Template::Subscribe(which)),
            Step::Change(which, which & 1),
            Step::Hear(0),
            Step::Leave(0),
            Step::Change(which >> 3, 0),
            Step::Hold(get(Some(which >> 4))),
            Step::Hear(0),
        ],
        7 => vec![
            modern(if which & 1 == 0 { Template::Prompt(1) } else { Template::Read(2) }),
            modern(Template::Round(0, which)),
        ],
        _ => vec![
            Step::Hold(sent(STREAMING, call(STEPS, which))),
            Step::Leave(0),
            Step::Send(get(Some(which))),
            Step::Wait(u16::from(which) * 4),
            Step::Sweep,
        ],
    }
}
