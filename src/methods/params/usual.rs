//! The usual params, told from the slots that they were read into with the message: nothing in them but what nearly every request has.
//! Whatever is not usual is walked by the table, which is the authority: what counts as usual here fits there.

use super::client::CAPABILITIES;
use super::shape::LONGEST_TOKEN;
use crate::tables::methods::Method;
use crate::tables::versions::{Era, Revision};
use crate::view::message::{Client, Meta, Params};
use crate::view::node::{Kind, Value};

/// Whether the params are the usual ones of this method.
pub(super) fn fit(method: Method, revision: Revision, params: &Params<'_, '_>) -> bool {
    if params.others {
        return false;
    }
    let members = match method {
        Method::ToolsCall => is(params.name, Kind::String) && absent_or(params.arguments, Kind::Object),
        Method::ToolsList | Method::ResourcesList | Method::ResourcesTemplatesList | Method::PromptsList => {
            absent_or(params.cursor, Kind::String)
        }
        Method::ResourcesRead => is(params.uri, Kind::String),
        Method::Ping | Method::Discover => true,
        Method::Initialize
        | Method::LoggingSetLevel
        | Method::SubscriptionsListen
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe
        | Method::PromptsGet
        | Method::CompletionComplete
        | Method::TasksGet
        | Method::TasksUpdate
        | Method::TasksCancel => false,
    };
    members && meta_fits(revision, params)
}

fn meta_fits(revision: Revision, params: &Params<'_, '_>) -> bool {
    match (params.meta, revision.era()) {
        (None, era) => era == Era::Legacy,
        (Some(meta), Era::Legacy) => meta.kind() == Kind::Object && has_token_alone(&params.fields),
        (Some(meta), Era::Modern) => meta.kind() == Kind::Object && modern(revision, &params.fields),
    }
}

fn has_token_alone(fields: &Meta<'_, '_>) -> bool {
    let reserved =
        [fields.protocol_version, fields.client_info, fields.client_capabilities, fields.log_level];
    !fields.others && reserved.iter().all(Option::is_none) && token_fits(fields.progress_token)
}

fn modern(revision: Revision, fields: &Meta<'_, '_>) -> bool {
    !fields.others
        && fields.log_level.is_none()
        && is(fields.protocol_version, Kind::String)
        && fields.client_info.is_none_or(|info| is_name_and_version(info, fields.client))
        && fields.client_capabilities.is_some_and(|capabilities| {
            capabilities.as_object().is_some_and(|object| object.is_empty())
                || CAPABILITIES.check::<()>(revision, capabilities).is_ok()
        })
        && token_fits(fields.progress_token)
}

fn token_fits(token: Option<Value<'_, '_>>) -> bool {
    token.is_none_or(|token| {
        token.kind() == Kind::Integer || token.as_str().is_some_and(|text| text.len() <= LONGEST_TOKEN)
    })
}

/// An implementation that says nothing else of itself.
fn is_name_and_version(info: Value<'_, '_>, client: Client<'_>) -> bool {
    info.kind() == Kind::Object && client.name.is_some() && client.version.is_some() && !client.others
}

fn is(value: Option<Value<'_, '_>>, kind: Kind) -> bool {
    value.is_some_and(|value| value.kind() == kind)
}

fn absent_or(value: Option<Value<'_, '_>>, kind: Kind) -> bool {
    value.is_none_or(|value| value.kind() == kind)
}
