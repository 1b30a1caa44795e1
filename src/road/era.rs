//! Stage `era`: which lane. Body-bound: the body is asked first. It refuses nothing. After `singleton` there is at most one version and
//! one session header to read.

use super::classify::Message;
use super::settings::Settings;
use super::singleton::Singletons;
use crate::tables::versions::{Era, Revision};

/// Chooses the lane of a message: the first rule that holds.
#[must_use]
pub fn choose(settings: &Settings, message: &Message<'_, '_>, singletons: &Singletons<'_>) -> Era {
    if matches!(message, Message::Response(_)) {
        // Modern clients send none.
        return Era::Legacy;
    }
    if !settings.legacy || (is_call(message) && message.envelope().args.fields.protocol_version.is_some()) {
        return Era::Modern;
    }
    match singletons.protocol_version() {
        None => Era::Legacy,
        Some(version) => match Revision::from_wire(version) {
            Some(revision) => revision.era(),
            // A version nobody serves, in a session, is that session's fault to answer.
            None if singletons.session_id().is_some() => Era::Legacy,
            None => Era::Modern,
        },
    }
}

fn is_call(message: &Message<'_, '_>) -> bool {
    match message {
        Message::Request { .. } | Message::Notification { .. } => true,
        Message::Response(_) | Message::Unknown(_) => false,
    }
}
