//! Panics in code that is not ours: authenticators, rate limiters and observers run on the connection's own task. One that panics costs its
//! request an answer of 500, never the connection's other requests.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::access::{AccessLog, Note};
use crate::base::panics::discard;
use crate::reply::{Exchange, Reply};
use crate::road::Peer;
use crate::tables::routes::Verb;

/// Runs `once`. `None` when it panicked: what was lent to it is to be thrown away or written anew.
pub(super) fn guarded<T>(place: &'static str, once: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(once)) {
        Ok(done) => Some(done),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let said = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
            tracing::error!(place, said, "code that was lent to the server has panicked");
            discard(payload);
            None
        }
    }
}

/// The answer to a request that met a panic.
#[cold]
pub(super) fn internal_error(verb: Verb, ex: &mut Exchange) -> Reply {
    ex.mark = None;
    ex.body = match verb {
        Verb::Post => {
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}"#.to_vec()
        }
        Verb::Get | Verb::Delete | Verb::Options | Verb::Head | Verb::Other => {
            br#"{"error":"Internal error"}"#.to_vec()
        }
    };
    Reply { close: true, ..Reply::json(500) }
}

/// Tells the access log and the observer of an answer. An observer's panic is its own.
pub(super) fn tell(note: &Note, log: &AccessLog, peer: &Peer, status: u16, bytes: usize, ex: &Exchange) {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let _ = guarded("observer", || note.finish(log, peer.address, status, bytes, ex));
}
