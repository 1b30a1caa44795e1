//! `subscriptions/listen` (2026-07-28, basic/patterns/subscriptions): a stream of what changes, as far as it was asked for. It opens with
//! what is honoured and ends with a result when the server ends it.

use std::collections::HashSet;
use std::sync::Arc;
use std::task::{self, Poll};

use super::{INTERNAL_ERROR, INVALID_PARAMS, Outcome, Request, Step, error, tasks};
use crate::events::listeners::{Filter, Full, Listeners, Subscription, Told};
use crate::events::topic::{Topic, Topics};
use crate::events::watched::Watched;
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Reply, envelope, json};
use crate::tables::rejection::Rejection;
use crate::tasks::Tasks;
use crate::tools::{Behind, Identity};
use crate::view::node::Value;

/// Serves a request.
///
/// # Errors
/// `missing_client_capability`, `stream_not_acceptable`.
pub fn serve(
    behind: &Behind,
    request: &Request<'_, '_, '_>,
    exchange: &mut Exchange,
) -> Result<Outcome, Refusal<'static>> {
    let asked = match Asked::read(request, behind.listeners()) {
        Ok(asked) => asked,
        Err(fault) => return Ok(Outcome::Done(error(exchange, request.id, INVALID_PARAMS, &fault))),
    };
    if !asked.tasks.is_empty() && !tasks::declared(request) {
        return Err(tasks::missing());
    }
    if !request.may_stream {
        return Err(Refusal::plain(Rejection::StreamNotAcceptable));
    }
    let honoured = asked.honour(behind, request);
    let mut id = Vec::new();
    request.id.write(&mut id);
    let acknowledged = acknowledgement(&honoured, &id);
    let subscription = if honoured.is_empty() {
        None
    } else {
        match behind.listeners().open(honoured.filter(), id.len()) {
            Ok(subscription) => Some(subscription),
            Err(full) => {
                return Ok(Outcome::Done(error(exchange, request.id, INTERNAL_ERROR, refused(full))));
            }
        }
    };
    let identity = Arc::clone(behind.identity());
    Ok(Outcome::Listening(Box::new(Listening {
        subscription,
        id,
        acknowledged: Some(acknowledged),
        identity,
        tasks: behind.tasks().clone(),
    })))
}

/// No row of the rejection table: nothing is wrong with the request, and clients take 503 for a server that is down.
const fn refused(full: Full) -> &'static str {
    match full {
        Full::Listeners => {
            "The server holds as many listeners as it may; retry later, or raise the listeners limit"
        }
        Full::Memory => {
            "The server has no memory left for listeners; ask for fewer resources, retry later, or raise listen_memory"
        }
    }
}

/// What a request asks for, or what is honoured of it.
struct Asked<'b> {
    topics: Topics,
    /// In the order asked for, each once.
    resources: Vec<&'b str>,
    /// In the order asked for, each once.
    tasks: Vec<&'b str>,
}

impl<'b> Asked<'b> {
    /// Reads the filter, whose members are what the schema says.
    fn read(request: &Request<'_, '_, 'b>, listeners: &Listeners) -> Result<Self, String> {
        let filter = request.all.and_then(|params| params.get("notifications"));
        let member = |key| filter.and_then(|filter| filter.get(key));
        let asked = |topic: &Topic| member(topic.filter()).and_then(|value| value.as_bool()) == Some(true);
        let topics = Topic::ALL.iter().copied().filter(asked).fold(Topics::NONE, Topics::with);
        let resources = names(member("resourceSubscriptions"), listeners.most_resources());
        check_resources(&resources, listeners)?;
        let tasks = names(member("taskIds"), listeners.most_resources());
        check_tasks(&tasks, listeners)?;
        Ok(Self { topics, resources, tasks })
    }

    /// What the server honours of it: the lists it offers, and the caller's own tasks.
    fn honour(self, behind: &Behind, request: &Request<'_, '_, '_>) -> Self {
        let offered = behind.offered();
        let resources = if offered.has(Topic::ResourcesList) { self.resources } else { Vec::new() };
        let now_ms = request.clock.now_ms();
        let mut tasks = self.tasks;
        tasks.retain(|id| behind.tasks().find(id, request.principal, now_ms).is_some());
        Self { topics: self.topics.both(offered), resources, tasks }
    }

    const fn is_empty(&self) -> bool {
        self.topics.is_empty() && self.resources.is_empty() && self.tasks.is_empty()
    }

    fn filter(&self) -> Filter {
        Filter {
            topics: self.topics,
            resources: Watched::new(self.resources.iter().copied()),
            tasks: Watched::new(self.tasks.iter().copied()),
        }
    }
}

/// The strings of an array, each once. One more than `most` is enough to know that there are too many.
fn names<'b>(value: Option<Value<'_, 'b>>, most: u64) -> Vec<&'b str> {
    let Some(array) = value.and_then(|value| value.as_array()) else { return Vec::new() };
    let mut seen = HashSet::new();
    let most = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1);
    array.iter().filter_map(|value| value.as_str()).filter(|name| seen.insert(*name)).take(most).collect()
}

fn check_resources(resources: &[&str], listeners: &Listeners) -> Result<(), String> {
    let (most, longest) = (listeners.most_resources(), listeners.longest_uri());
    if resources.len() as u64 > most {
        return Err(format!(
            "params.notifications.resourceSubscriptions has more than {most} URIs; ask for fewer, or raise the listen_resources limit"
        ));
    }
    if resources.iter().any(|uri| uri.len() as u64 > longest) {
        return Err(format!(
            "params.notifications.resourceSubscriptions has a URI longer than {longest} bytes; raise the resource_uri limit"
        ));
    }
    Ok(())
}

fn check_tasks(tasks: &[&str], listeners: &Listeners) -> Result<(), String> {
    let most = listeners.most_resources();
    if tasks.len() as u64 > most {
        return Err(format!(
            "params.notifications.taskIds has more than {most} ids; ask for fewer, or raise the listen_resources limit"
        ));
    }
    Ok(())
}

/// A `subscriptions/listen` stream. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Listening {
    /// `None` where nothing is honoured.
    subscription: Option<Subscription>,
    /// The request's id, as JSON: it is the subscription's too.
    id: Vec<u8>,
    /// The first message, until it is taken.
    acknowledged: Option<Vec<u8>>,
    identity: Arc<Identity>,
    tasks: Tasks,
}

impl Listening {
    /// Goes on: the acknowledgement, then what changes, and the result when there is nothing more to come.
    pub fn poll(&mut self, cx: &mut task::Context<'_>, exchange: &mut Exchange) -> Poll<Step> {
        if let Some(acknowledged) = self.acknowledged.take() {
            return Poll::Ready(Step::Event(acknowledged));
        }
        loop {
            let told = match &mut self.subscription {
                Some(subscription) => task::ready!(subscription.poll(cx)),
                None => Told::Ended,
            };
            return Poll::Ready(match told {
                Told::List(topic) => notification(topic.method(), &self.id, |_| {}),
                Told::Resource(uri) => notification("notifications/resources/updated", &self.id, |out| {
                    out.extend_from_slice(b",\"uri\":");
                    json::write_str(out, uri);
                }),
                Told::Task(id) => {
                    // One that has been forgotten meanwhile is told no more.
                    let Some(task) = self.tasks.peek(id) else { continue };
                    notification("notifications/tasks", &self.id, |out| {
                        out.push(b',');
                        task.write_detailed(out);
                    })
                }
                Told::Ended => {
                    write_result(&mut exchange.body, &self.id, &self.identity);
                    Step::Done(Reply::json(200))
                }
            });
        }
    }
}

/// A notification whose params are the tag and what `params` appends.
fn notification(method: &str, id: &[u8], params: impl FnOnce(&mut Vec<u8>)) -> Step {
    let mut event = Vec::with_capacity(160);
    begin(&mut event, method, id);
    params(&mut event);
    event.extend_from_slice(b"}}");
    Step::Event(event)
}

/// Appends the key that tells which subscription a message belongs to, and its value.
fn tag(out: &mut Vec<u8>, id: &[u8]) {
    out.extend_from_slice(b"\"io.modelcontextprotocol/subscriptionId\":");
    out.extend_from_slice(id);
}

/// Appends a notification up to the inside of its params, the tag being there.
fn begin(out: &mut Vec<u8>, method: &str, id: &[u8]) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b"\",\"params\":{\"_meta\":{");
    tag(out, id);
    out.push(b'}');
}

fn acknowledgement(honoured: &Asked<'_>, id: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    begin(&mut out, "notifications/subscriptions/acknowledged", id);
    out.extend_from_slice(b",\"notifications\":{");
    for topic in honoured.topics.iter() {
        json::write_str(&mut out, topic.filter());
        out.extend_from_slice(b":true,");
    }
    for (key, names) in [("resourceSubscriptions", &honoured.resources), ("taskIds", &honoured.tasks)] {
        if names.is_empty() {
            continue;
        }
        json::write_str(&mut out, key);
        out.extend_from_slice(b":[");
        for name in names {
            json::write_str(&mut out, name);
            out.push(b',');
        }
        out.pop();
        out.extend_from_slice(b"],");
    }
    if !honoured.is_empty() {
        out.pop();
    }
    out.extend_from_slice(b"}}}");
    out
}

fn write_result(out: &mut Vec<u8>, id: &[u8], identity: &Identity) {
    out.clear();
    envelope::begin(out);
    out.extend_from_slice(id);
    envelope::open_result(out);
    out.extend_from_slice(b"\"resultType\":\"complete\",\"_meta\":{");
    tag(out, id);
    out.push(b',');
    out.extend_from_slice(identity.server_info());
    out.push(b'}');
    envelope::end_result(out);
}
