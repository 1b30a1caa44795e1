//! Stage `validate`: the JSON-RPC envelope and nothing else. A method's name is never its business, nor are its params' insides.

use crate::reply::json;
use crate::reply::rejection::{Fault, Refusal};
use crate::tables::rejection::Rejection;
use crate::view::message::Envelope;
use crate::view::node::{Kind, Number, Value};

use super::classify::Message;

/// Proof that the envelope is one.
#[derive(Debug)]
pub struct Validated(());

/// Checks the envelope.
///
/// # Errors
/// `invalid_message`, naming the first fault and listing all.
pub fn check(message: &Message<'_, '_>) -> Result<Validated, Refusal<'static>> {
    let envelope = message.envelope();
    let sound = match message {
        Message::Request { .. } | Message::Notification { .. } => {
            version_is_right(envelope) && params_fit(envelope)
        }
        Message::Response(_) => version_is_right(envelope) && response_fits(envelope),
        Message::Unknown(_) => false,
    };
    if sound { Ok(Validated(())) } else { Err(refuse(&faults(message))) }
}

/// Refuses a response where nothing could be waiting for it.
#[cold]
#[must_use]
pub fn unexpected_response() -> Refusal<'static> {
    refuse(&[FaultAt { path: "", text: "a response is not expected: the legacy lane is off" }])
}

fn version_is_right(envelope: &Envelope<'_, '_>) -> bool {
    envelope.jsonrpc.and_then(|version| version.as_str()) == Some("2.0")
}

/// Absent, null (as absent) or an object.
fn params_fit(envelope: &Envelope<'_, '_>) -> bool {
    envelope.params.is_none_or(|params| matches!(params.kind(), Kind::Null | Kind::Object))
}

fn response_fits(envelope: &Envelope<'_, '_>) -> bool {
    match (envelope.result, envelope.error) {
        (Some(result), None) => result.kind() == Kind::Object,
        (None, Some(error)) => error_fits(error),
        (Some(_), Some(_)) | (None, None) => false,
    }
}

fn error_fits(error: Value<'_, '_>) -> bool {
    let code = error.get("code").and_then(|code| code.as_number());
    let integral = match code {
        Some(Number::I64(_) | Number::U64(_)) => true,
        Some(Number::F64(value)) => value.fract() == 0.0,
        None => false,
    };
    integral && error.get("message").and_then(|message| message.as_str()).is_some()
}

/// Refuses a batch as a whole.
#[cold]
#[must_use]
pub fn refuse_batch(path: &str, text: &'static str) -> Refusal<'static> {
    refuse(&[FaultAt { path, text }])
}

struct FaultAt<'a> {
    path: &'a str,
    text: &'static str,
}

#[cold]
fn faults(message: &Message<'_, '_>) -> Vec<FaultAt<'static>> {
    let envelope = message.envelope();
    let mut faults = Vec::new();
    let mut fault = |path, text| faults.push(FaultAt { path, text });
    if !envelope.object {
        fault(
            "",
            "a message must be one JSON object; arrays of them are batches, served only in sessions of 2025-03-26",
        );
        return faults;
    }
    if !version_is_right(envelope) {
        fault("/jsonrpc", "must be the string 2.0");
    }
    match message {
        Message::Request { .. } | Message::Notification { .. } => {
            if !params_fit(envelope) {
                fault("/params", "must be an object");
            }
        }
        Message::Response(_) => response_faults(envelope, &mut fault),
        Message::Unknown(_) => match envelope.method {
            Some(_) => fault("/method", "must be a string"),
            None if envelope.id.is_none() && envelope.error.is_some() => {
                fault("/id", "is missing beside error")
            }
            None => fault("/method", "is missing, and there is no result or error with an id"),
        },
    }
    faults
}

fn response_faults(envelope: &Envelope<'_, '_>, fault: &mut impl FnMut(&'static str, &'static str)) {
    match (envelope.result, envelope.error) {
        (Some(_), Some(_)) => fault("/error", "must not stand beside result"),
        (Some(result), None) if result.kind() != Kind::Object => fault("/result", "must be an object"),
        (None, Some(error)) if !error_fits(error) => {
            fault("/error", "must have an integer code and a string message")
        }
        (Some(_), None) | (None, Some(_) | None) => {}
    }
}

fn refuse(faults: &[FaultAt<'_>]) -> Refusal<'static> {
    let mut data = Vec::with_capacity(96);
    data.extend_from_slice(b"{\"errors\":[");
    for (at, fault) in faults.iter().enumerate() {
        if at > 0 {
            data.push(b',');
        }
        data.extend_from_slice(b"{\"path\":");
        json::write_str(&mut data, fault.path);
        data.extend_from_slice(b",\"message\":");
        json::write_str(&mut data, fault.text);
        data.push(b'}');
    }
    data.extend_from_slice(b"]}");
    let text = faults.first().map_or_else(String::new, |first| {
        if first.path.is_empty() { first.text.to_owned() } else { format!("{} {}", first.path, first.text) }
    });
    Refusal::fault(Rejection::InvalidMessage, Fault { text, data: Some(data), ..Fault::default() })
}
