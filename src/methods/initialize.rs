//! `initialize` (2025-11-25, basic/lifecycle): negotiates a revision and opens a session.

use super::{INTERNAL_ERROR, INVALID_PARAMS, Request, error};
use crate::reply::rejection::{Fault, Refusal};
use crate::reply::{Exchange, Extra, Reply, envelope};
use crate::session::state::ClientInfo;
use crate::session::store::OpenError;
use crate::tables::rejection::Rejection;
use crate::tables::versions::{Era, Revision};
use crate::tools::Behind;
use crate::view::node::{Kind, Value};

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
    let (revision, client) = match read(request) {
        Ok(read) => read,
        Err(fault) => return Ok(error(exchange, request.id, INVALID_PARAMS, fault)),
    };
    let session = match behind.sessions().open(revision, request.principal.cloned(), client, request.now_ms) {
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
    exchange.body.extend_from_slice(behind.identity().initialize(revision));
    envelope::end_result(&mut exchange.body);
    Ok(Reply { extra: Extra { session: Some(*session.id.text()), ..Extra::NONE }, ..Reply::json(200) })
}

/// A served legacy revision is echoed, any other is counter-proposed the newest legacy one.
fn read(request: &Request<'_, '_, '_>) -> Result<(Revision, ClientInfo), &'static str> {
    let member = |key| request.all.and_then(|params| params.get(key));
    let version = request.params.protocol_version.and_then(|version| version.as_str());
    let version = version.ok_or("params.protocolVersion must be a string")?;
    let revision = Revision::from_wire(version.as_bytes()).filter(|revision| revision.era() == Era::Legacy);
    if !member("capabilities").is_some_and(|capabilities| capabilities.kind() == Kind::Object) {
        return Err("params.capabilities must be an object");
    }
    let info = member("clientInfo").ok_or("params.clientInfo must be an object")?;
    let name = text(info, "name").ok_or("params.clientInfo.name must be a string")?;
    let version = text(info, "version").ok_or("params.clientInfo.version must be a string")?;
    Ok((revision.unwrap_or(Revision::NEWEST_LEGACY), ClientInfo { name, version }))
}

fn text(info: Value<'_, '_>, key: &str) -> Option<String> {
    let text = info.get(key)?.as_str()?;
    Some(text[..text.floor_char_boundary(CLIENT_TEXT)].to_owned())
}
