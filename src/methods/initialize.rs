//! `initialize` (2025-11-25, basic/lifecycle): negotiates a revision and opens a session.

use super::{INTERNAL_ERROR, Request, capabilities, error};
use crate::reply::rejection::{Fault, Refusal};
use crate::reply::{Exchange, Extra, Reply, envelope};
use crate::session::state::ClientInfo;
use crate::session::store::OpenError;
use crate::tables::rejection::Rejection;
use crate::tables::versions::Revision;
use crate::tools::Behind;
use crate::view::node::Value;

/// The longest client name and version a session keeps, in bytes.
const CLIENT_TEXT: usize = 256;

/// When a client that met the session cap may try again, in seconds.
const RETRY_AFTER: u32 = 5;

/// Answers.
///
/// # Errors
/// `session_cap`.
pub fn serve(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    exchange: &mut Exchange,
) -> Result<Reply, Refusal<'static>> {
    let (revision, client) = read(request);
    let session =
        match behind.sessions().open(revision, request.principal.cloned(), client, request.clock.now_ms()) {
            Ok(session) => session,
            Err(OpenError::Full) => {
                let fault = Fault { retry_after: Some(RETRY_AFTER), ..Fault::default() };
                return Err(Refusal::fault(Rejection::SessionCap, fault));
            }
            Err(OpenError::NoRandomness) => {
                return Ok(error(exchange, request.id, INTERNAL_ERROR, "No session id can be made"));
            }
        };
    envelope::begin_result_for(&mut exchange.body, request.id);
    // Of the same moment as what is written, and looked at when the session is there to be told of what comes after.
    let offered = behind.registry().snapshot();
    session.offer(offered.offered());
    behind.identity().write_initialize(&mut exchange.body, revision, offered.capabilities(revision));
    envelope::end_result(&mut exchange.body);
    Ok(Reply { extra: Extra { session: Some(*session.id.text()), ..Extra::NONE }, ..Reply::json(200) })
}

/// The params have been checked.
fn read(request: &Request<'_, '_, '_>) -> (Revision, ClientInfo) {
    let version = request.params.protocol_version.and_then(|version| version.as_str()).unwrap_or_default();
    let info = request.all.and_then(|params| params.get("clientInfo"));
    let declared = request.all.and_then(|params| params.get("capabilities")).unwrap_or(Value::EMPTY_OBJECT);
    let client = ClientInfo {
        name: text(info, "name"),
        version: text(info, "version"),
        capabilities: capabilities::read(declared),
    };
    (Revision::negotiated(version), client)
}

fn text(info: Option<Value<'_, '_>>, key: &str) -> String {
    let text = info.and_then(|info| info.get(key)?.as_str()).unwrap_or_default();
    text[..text.floor_char_boundary(CLIENT_TEXT)].to_owned()
}
