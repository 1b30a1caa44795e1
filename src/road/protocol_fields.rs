//! Stage `protocol_fields`: the `_meta` fields that every modern request carries (2026-07-28, basic, `_meta`). Body-bound. Acts on
//! requests; a modern notification needs none of them.

use super::settings::Settings;
use super::singleton::Singletons;
use crate::reply::json;
use crate::reply::rejection::{Fault, Refusal, quote};
use crate::tables::levels::LogLevel;
use crate::tables::rejection::Rejection;
use crate::tables::versions::{Era, Revision};
use crate::view::message::{Client, Params};
use crate::view::node::{Kind, Value};

/// What `data` repeats of a version, in bytes: no version is nearly as long.
const MOST_DATA: usize = 10_000;

/// Proof that the fields are there and of the right type.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'b> {
    version: &'b str,
    revision: Option<Revision>,
}

impl<'b> Fields<'b> {
    /// The version as the body has it.
    #[must_use]
    pub const fn version(&self) -> &'b str {
        self.version
    }

    /// The modern revision it names. `None` only where the version header differs from it, which `header_binding` refuses.
    #[must_use]
    pub const fn revision(&self) -> Option<Revision> {
        self.revision
    }
}

/// Checks the fields of a request.
///
/// # Errors
/// `invalid_protocol_field`, `unsupported_protocol_version`.
pub fn check<'b>(
    settings: &Settings,
    method: &str,
    params: &Params<'_, 'b>,
    singletons: &Singletons<'_>,
) -> Result<Fields<'b>, Refusal<'static>> {
    if !settings.legacy && method == "initialize" && params.fields.protocol_version.is_none() {
        let requested = params.protocol_version.and_then(|version| version.as_str()).unwrap_or("");
        return Err(unsupported(settings, requested));
    }
    let Some(meta) = params.meta else { return Err(invalid("params._meta is missing")) };
    if meta.as_object().is_none() {
        return Err(invalid("params._meta must be an object"));
    }
    let fields = &params.fields;
    let version = fields
        .protocol_version
        .and_then(|version| version.as_str())
        .ok_or_else(|| invalid("params._meta needs the string io.modelcontextprotocol/protocolVersion"))?;
    if fields.client_capabilities.and_then(|capabilities| capabilities.as_object()).is_none() {
        return Err(invalid("params._meta needs the object io.modelcontextprotocol/clientCapabilities"));
    }
    if let Some(info) = fields.client_info {
        check_client_info(info, fields.client)?;
    }
    if let Some(level) = fields.log_level
        && level.as_str().and_then(LogLevel::from_wire).is_none()
    {
        return Err(invalid(
            "io.modelcontextprotocol/logLevel in params._meta must be one of the eight levels, debug to emergency",
        ));
    }
    let revision =
        Revision::from_wire(version.as_bytes()).filter(|revision| matches!(revision.era(), Era::Modern));
    let differs = singletons.protocol_version().is_some_and(|header| header != version.as_bytes());
    if revision.is_none() && !differs {
        return Err(unsupported(settings, version));
    }
    Ok(Fields { version, revision })
}

fn check_client_info(info: Value<'_, '_>, client: Client<'_>) -> Result<(), Refusal<'static>> {
    if info.kind() == Kind::Object && client.name.is_some() && client.version.is_some() {
        Ok(())
    } else {
        Err(invalid(
            "io.modelcontextprotocol/clientInfo in params._meta must be an object with the strings name and version",
        ))
    }
}

#[cold]
fn invalid(text: &'static str) -> Refusal<'static> {
    Refusal::text(Rejection::InvalidProtocolField, text)
}

/// The versions on offer: modern newest first, then legacy newest first while the lane is on.
pub fn supported(legacy: bool) -> impl Iterator<Item = Revision> {
    let of = |era| Revision::ALL.iter().rev().copied().filter(move |revision| revision.era() == era);
    of(Era::Modern).chain(of(Era::Legacy).filter(move |_| legacy))
}

#[cold]
fn unsupported(settings: &Settings, requested: &str) -> Refusal<'static> {
    let quoted = quote(requested);
    let offered: Vec<&str> = supported(settings.legacy).map(Revision::as_str).collect();
    let opened_by = match Revision::from_wire(requested.as_bytes()).map(Revision::era) {
        Some(Era::Legacy) if settings.legacy => " per request; it is opened by initialize",
        Some(Era::Legacy | Era::Modern) | None => "",
    };
    let text =
        format!("Protocol version {quoted} is not served{opened_by}; use one of {}", offered.join(", "));
    let mut data = Vec::with_capacity(128);
    data.extend_from_slice(b"{\"supported\":[");
    for (at, version) in offered.iter().enumerate() {
        if at > 0 {
            data.push(b',');
        }
        json::write_str(&mut data, version);
    }
    data.extend_from_slice(b"],\"requested\":");
    json::write_str(&mut data, &requested[..requested.floor_char_boundary(MOST_DATA)]);
    data.push(b'}');
    Refusal::fault(
        Rejection::UnsupportedProtocolVersion,
        Fault { text, data: Some(data), ..Fault::default() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_lists_modern_first_and_legacy_while_on() {
        let words = |legacy| supported(legacy).map(Revision::as_str).collect::<Vec<_>>();
        assert_eq!(words(true), ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]);
        assert_eq!(words(false), ["2026-07-28"]);
    }
}
