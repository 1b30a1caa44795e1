//! `resources/subscribe` (2025-11-25, server/resources): the session is told when a resource changes. Answers exactly `{}`. Only what a read
//! would find can be subscribed to: nothing would ever be told of anything else.

use super::resources_read::{Missing, find, not_found};
use super::{INVALID_PARAMS, Request, checked_text, empty, error};
use crate::reply::{Exchange, Reply};
use crate::session::subscriptions::Refused;
use crate::tools::Behind;

/// JSON-RPC: the server cannot do it now.
const UNAVAILABLE: i32 = -32000;

/// Answers.
pub fn serve(behind: &Behind, request: &Request<'_, '_, '_>, exchange: &mut Exchange) -> Reply {
    let uri = checked_text(request.params.uri);
    exchange.log.set_name(uri);
    let longest = behind.resource_uri();
    let found = find(&behind.registry().snapshot(), uri, longest).map(|_| ());
    match found {
        Ok(()) if uri.len() as u64 <= longest => {}
        Err(Missing::Unknown) => return not_found(uri, request, exchange),
        Ok(()) | Err(Missing::TooLong(_)) => {
            let text = format!("params.uri is longer than {longest} bytes; subscribe to a shorter one");
            return error(exchange, request.id, INVALID_PARAMS, &text);
        }
    }
    let refused = request.session.map_or(Ok(()), |session| session.subscribe(uri));
    match refused {
        Ok(()) => empty(request, exchange),
        Err(Refused::TooMany) => {
            let text = "The session subscribes to as many resources as it may; unsubscribe from some, or raise session_subscriptions";
            error(exchange, request.id, UNAVAILABLE, text)
        }
        Err(Refused::NoMemory) => {
            let text =
                "The server has no memory left for subscriptions; retry later, or raise subscription_memory";
            error(exchange, request.id, UNAVAILABLE, text)
        }
    }
}
