//! What holds for refusals.

use twolane::reply::{Content, Extra};
use twolane::tables::rejection::{IdRule, Rejection, RowHeader};

use super::Told;
use crate::json::{self, Json};
use crate::rig::{Outcome, Request};

/// A refusal by a row, in the right dialect.
pub fn check_refusal(
    request: &Request,
    outcome: &Outcome,
    rejection: Rejection,
    id: Option<&Json>,
    told: Told<'_>,
) {
    let (row, reply) = (rejection.row(), &outcome.reply);
    assert_eq!((reply.status, reply.close), (row.status, row.closes), "{}", told());
    let Extra { allow, challenge, retry_after, session, preflight } = &reply.extra;
    let headers =
        (allow.is_some(), challenge.is_some(), retry_after.is_some(), session.is_some(), *preflight);
    let wanted = match row.header {
        RowHeader::None => (false, false, false, false, false),
        RowHeader::Allow => (true, false, false, false, false),
        RowHeader::WwwAuthenticate => (false, true, false, false, false),
        RowHeader::RetryAfter => (false, false, true, false, false),
    };
    assert_eq!(headers, wanted, "{}", told());
    assert!(outcome.events.is_empty() && !outcome.streamed, "{}", told());
    if request.method != b"POST" {
        assert_eq!(reply.content, Content::Json, "{}", told());
        plain_error(&outcome.body, told);
    } else if matches!(row.id, IdRule::RuleOrEmpty) && id.is_none() {
        assert_eq!((reply.content, &outcome.body[..]), (Content::Empty, &b""[..]), "{}", told());
    } else {
        assert_eq!(reply.content, Content::Json, "{}", told());
        let envelope = json::read(&outcome.body).unwrap_or_else(|error| panic!("{error}\n{}", told()));
        check_envelope(&envelope, rejection, id, told);
    }
}

/// The envelope of a refusal.
pub fn check_envelope(envelope: &Json, rejection: Rejection, id: Option<&Json>, told: Told<'_>) {
    let row = rejection.row();
    let keys = |object: &Json| object.members().iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(envelope), ["jsonrpc", "id", "error"], "{}", told());
    assert_eq!(envelope.get("jsonrpc").and_then(Json::as_str), Some("2.0"), "{}", told());
    let null = matches!(row.id, IdRule::Null) || id.is_none();
    assert_eq!(
        envelope.get("id"),
        Some(if null { &Json::Null } else { id.unwrap_or(&Json::Null) }),
        "{}",
        told()
    );
    let error = envelope.get("error").expect("an error");
    let mut members = vec!["code", "message"];
    let has_data = matches!(
        rejection,
        Rejection::RateLimited
            | Rejection::UnsupportedProtocolVersion
            | Rejection::HeaderMissing
            | Rejection::HeaderDuplicated
            | Rejection::HeaderMalformed
            | Rejection::HeaderMismatch
            | Rejection::MissingClientCapability
    );
    let may_have_data = has_data || rejection == Rejection::InvalidMessage;
    if has_data || (may_have_data && error.get("data").is_some()) {
        members.push("data");
    }
    assert_eq!(keys(error), members, "{}", told());
    assert_eq!(error.get("code"), Some(&Json::Number(row.code.to_string())), "{}", told());
    one_line(error.get("message"), told);
}

/// The plain dialect.
pub fn plain_error(body: &[u8], told: Told<'_>) {
    let error = json::read(body).unwrap_or_else(|error| panic!("{error}\n{}", told()));
    assert_eq!(error.members().len(), 1, "{}", told());
    one_line(error.get("error"), told);
}

/// A diagnosis.
pub(super) fn one_line(message: Option<&Json>, told: Told<'_>) {
    let text = message.and_then(Json::as_str).unwrap_or_default();
    assert!(!text.is_empty() && !text.contains(['\n', '\r']), "{}", told());
}
