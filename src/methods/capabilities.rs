//! What a client declares: `capabilities` of `initialize`, and of every modern request.

use serde_json::json;

use crate::reply::rejection::{Fault, Refusal};
use crate::tables::capabilities::{Capabilities, Capability};
use crate::tables::rejection::Rejection;
use crate::tools::{MISSING_CAPABILITY, ProtocolError, required};
use crate::view::node::Value;

/// Reads what the server acts on, in one pass. Null is as good as absent; of a repeated member the first counts.
pub(super) fn read(declared: Value<'_, '_>) -> Capabilities {
    let (mut seen, mut set) = (Capabilities::NONE, Capabilities::NONE);
    for (key, value) in declared.as_object().into_iter().flatten() {
        for &capability in Capability::ALL {
            let (name, part) = split(capability.path());
            if name != key || seen.has(capability) {
                continue;
            }
            seen = seen.with(capability);
            if holds(name, part, value) {
                set = set.with(capability);
            }
        }
    }
    set
}

/// Whether a capability is declared. `path` is the name of a member, or that and after a dot the name of one inside it.
pub(super) fn has(declared: Value<'_, '_>, path: &str) -> bool {
    let (name, part) = split(path);
    declared.get(name).is_some_and(|value| holds(name, part, value))
}

fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(name, part)| (name, Some(part)))
}

/// Whether the member `name`, which has this value, declares its part, or itself.
fn holds(name: &str, part: Option<&str>, value: Value<'_, '_>) -> bool {
    if value.is_null() {
        return false;
    }
    match part {
        None => true,
        // Whoever declares no mode means the one that there was before there were modes.
        Some("form") if name == "elicitation" => {
            member(value, "form").is_some() || member(value, "url").is_none()
        }
        Some(part) => member(value, part).is_some(),
    }
}

/// Refuses a modern request for want of these capabilities.
#[cold]
pub(super) fn refuse(missing: &mut dyn Iterator<Item = &str>) -> Refusal<'static> {
    let paths: Vec<&str> = missing.collect();
    let data = json!({"requiredCapabilities": required(paths.iter().copied())}).to_string().into_bytes();
    let fault = Fault { text: paths.join(", "), data: Some(data), ..Fault::default() };
    Refusal::fault(Rejection::MissingClientCapability, fault)
}

/// The refusal that a handler's own failure amounts to, where that is for want of a capability.
#[cold]
pub(super) fn refusal_of(failure: &ProtocolError) -> Option<Refusal<'static>> {
    if failure.code != MISSING_CAPABILITY {
        return None;
    }
    let mut paths = Vec::new();
    let required = failure.data.as_ref().and_then(|data| data.get("requiredCapabilities")?.as_object());
    for (name, parts) in required.into_iter().flatten() {
        match parts.as_object().filter(|parts| !parts.is_empty()) {
            Some(parts) => paths.extend(parts.keys().map(|part| format!("{name}.{part}"))),
            None => paths.push(name.clone()),
        }
    }
    let data = failure.data.as_ref().map(|data| data.to_string().into_bytes());
    let fault = Fault { text: paths.join(", "), data, ..Fault::default() };
    Some(Refusal::fault(Rejection::MissingClientCapability, fault))
}

fn member<'t, 'b>(value: Value<'t, 'b>, key: &str) -> Option<Value<'t, 'b>> {
    value.get(key).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::rejection::Detail;
    use crate::view::message::{JsonScratch, PADDING};

    fn set(json: &str) -> String {
        let mut text = json.as_bytes().to_vec();
        let len = text.len();
        text.resize(len + PADDING, 0);
        JsonScratch::new(16)
            .parse(&mut text, len, |document| format!("{:?}", read(document.expect("it is JSON").root())))
    }

    #[test]
    fn what_is_declared_is_read() {
        for (declared, read) in [
            ("{}", "{}"),
            (r#"{"sampling":{},"roots":{"listChanged":true}}"#, r#"{"sampling", "roots"}"#),
            (
                r#"{"sampling":{"tools":{},"context":{}}}"#,
                r#"{"sampling", "sampling.tools", "sampling.context"}"#,
            ),
            (r#"{"sampling":null,"roots":null}"#, "{}"),
            (r#"{"elicitation":{}}"#, r#"{"elicitation.form"}"#),
            (r#"{"elicitation":{"form":{}}}"#, r#"{"elicitation.form"}"#),
            (r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation.url"}"#),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, r#"{"elicitation.form", "elicitation.url"}"#),
            (
                r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
                r#"{"extensions.io.modelcontextprotocol/tasks"}"#,
            ),
            (r#"{"sampling.tools":{},"elicitation":[]}"#, r#"{"elicitation.form"}"#),
            (r#"{"roots":null,"sampling":{},"roots":{},"sampling":{"tools":{}}}"#, r#"{"sampling"}"#),
            ("[]", "{}"),
            ("null", "{}"),
        ] {
            assert_eq!(set(declared), read, "{declared}");
        }
    }

    #[test]
    fn a_refusal_spells_out_what_is_missing() {
        let paths = ["elicitation.url", "roots", "sampling", "sampling.tools", "extensions.a.b/c"];
        let refusal = refuse(&mut paths.into_iter());
        let Detail::Fault(fault) = refusal.detail else { panic!("{refusal:?}") };
        assert_eq!(fault.text, "elicitation.url, roots, sampling, sampling.tools, extensions.a.b/c");
        assert_eq!(
            String::from_utf8(fault.data.unwrap()).unwrap(),
            r#"{"requiredCapabilities":{"elicitation":{"url":{}},"roots":{},"sampling":{"tools":{}},"extensions":{"a.b/c":{}}}}"#
        );
    }

    #[test]
    fn a_handlers_failure_may_be_such_a_refusal() {
        let data = json!({"requiredCapabilities": {"elicitation": {"url": {}}, "roots": {}}});
        let refusal = refusal_of(&ProtocolError::new(-32021, "no").data(data)).unwrap();
        let Detail::Fault(fault) = refusal.detail else { panic!("{refusal:?}") };
        assert_eq!(fault.text, "elicitation.url, roots");
        assert!(refusal_of(&ProtocolError::new(-32021, "no")).is_some());
        assert!(refusal_of(&ProtocolError::new(-32603, "no")).is_none());
    }
}
