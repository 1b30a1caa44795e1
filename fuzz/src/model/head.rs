//! Heads, read naively: fields by name, `Origin` and `Host`, what is accepted, which version is meant.

use twolane::tables::rejection::Rejection;

use super::{Checked, LEGACY};
use crate::rig::Request;
use crate::tables;

impl Request {
    /// The values of a field, trimmed.
    pub fn values(&self, name: &str) -> Vec<&[u8]> {
        let is_it = |field: &&(Vec<u8>, Vec<u8>)| field.0.eq_ignore_ascii_case(name.as_bytes());
        self.fields.iter().filter(is_it).map(|(_, value)| value.trim_ascii()).collect()
    }

    pub(super) fn query(&self) -> Option<&[u8]> {
        self.target.iter().position(|&byte| byte == b'?').map(|at| &self.target[at + 1..])
    }

    pub(super) fn path(&self) -> &[u8] {
        self.target.split(|&byte| byte == b'?').next().unwrap_or_default()
    }
}

pub(super) fn origin(request: &Request) -> Checked<()> {
    match request.values("origin")[..] {
        [] => {}
        [value] if tables::verdict(&tables::ORIGINS, value) => {}
        [_] => return Err(Rejection::OriginNotAllowed),
        _ => return Err(Rejection::DuplicatedOrigin),
    }
    let hosts = request.values("host");
    let host = request.authority.as_deref().map_or(hosts, |authority| vec![authority]);
    match host[..] {
        [] => Ok(()),
        [value] if value == b"localhost:8080" || tables::verdict(&tables::HOSTS, value) => Ok(()),
        _ => Err(Rejection::HostNotAllowed),
    }
}

/// Whether JSON and event streams are admitted; `None` where ranges of several lines weigh against each other.
pub fn accepts(request: &Request) -> Option<(bool, bool)> {
    let lines = request.values("accept");
    if lines.is_empty() {
        return Some((true, true));
    }
    let excluding =
        |line: &&[u8]| tables::EXCLUDING_ACCEPTS.iter().find(|(text, ..)| text.as_bytes() == *line);
    if let [line] = lines[..]
        && let Some((_, json, stream)) = excluding(&line)
    {
        return Some((*json, *stream));
    }
    let mut admitted = (false, false);
    for line in &lines {
        let (_, json, stream) = tables::ACCEPTS.iter().find(|(text, ..)| text.as_bytes() == *line)?;
        admitted = (admitted.0 | json, admitted.1 | stream);
    }
    Some(admitted)
}

pub(super) fn is_legacy(version: &[u8]) -> bool {
    LEGACY.iter().any(|legacy| legacy.as_bytes() == version)
}

pub(super) fn check_version(request: &Request, negotiated: Option<&str>) -> Checked<()> {
    let Some(sent) = request.values("mcp-protocol-version").first().copied() else { return Ok(()) };
    let strict = negotiated.is_some_and(|negotiated| negotiated != LEGACY[0]);
    let fits = is_legacy(sent) && (!strict || negotiated.map(str::as_bytes) == Some(sent));
    if fits { Ok(()) } else { Err(Rejection::ProtocolVersionMismatch) }
}
