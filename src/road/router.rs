//! What stands before the road, and the verbs that have none: routing, shedding, GET, DELETE, OPTIONS and the rest.

use super::pace::Toll;
use super::post::{Entry, Ticket};
use super::shared::{Peer, Road, Shared};
use super::{auth, limit, origin, parse, session, singleton, stream};
use crate::reply::json;
use crate::reply::rejection::Refusal;
use crate::reply::{Exchange, Extra, Reply};
use crate::tables::headers::{Known, PARAM_PREFIX};
use crate::tables::rejection::Rejection;
use crate::tables::routes::Verb;
use crate::tables::versions::Era;
use crate::view::head::{Cardinality, RequestHead};

impl Road {
    /// Everything that is decided before the body: routing, shedding, `origin`, and arms 1 to 7 of `parse`. Verbs other than POST are
    /// answered here, whole. `declared` is the body's length where the head names it.
    pub fn enter(
        &self,
        head: RequestHead<'_>,
        declared: Option<u64>,
        peer: &Peer,
        exchange: &mut Exchange,
    ) -> Entry {
        let shared = &*self.0;
        shared.note_head(&head, exchange);
        let endpoint = is_endpoint(&shared.settings.path, head.path());
        let admitted = if endpoint { admit(shared, peer) } else { Ok(()) };
        // Before anything else, whatever comes of the request: another path, a guessed token. Who is turned away for what others do does not
        // pay for it.
        let admitted = admitted.and_then(|()| limit::door(shared.rates.as_ref(), &shared.clock, peer));
        let toll = match admitted {
            Ok(toll) => toll,
            Err(refusal) => {
                origin::note(&shared.settings, &head, peer, exchange);
                return Entry::Answer(shared.refuse(refusal, &head, None, exchange));
            }
        };
        if !endpoint {
            origin::note(&shared.settings, &head, peer, exchange);
            return Entry::Answer(not_found(&shared.settings.path, exchange));
        }
        let entered = match head.verb() {
            Verb::Post => enter_post(shared, &head, declared, peer, toll, exchange).map(Entry::Body),
            Verb::Get | Verb::Delete => bodiless(shared, &head, peer, toll, exchange),
            Verb::Options => options(shared, &head, peer, exchange).map(Entry::Answer),
            Verb::Head | Verb::Other => other(shared, &head, peer, exchange).map(Entry::Answer),
        };
        entered.unwrap_or_else(|refusal| Entry::Answer(shared.refuse(refusal, &head, None, exchange)))
    }

    /// The body outgrew the ticket's ceiling while it was read.
    pub fn outgrown(&self, head: RequestHead<'_>, ticket: &Ticket, exchange: &mut Exchange) -> Reply {
        let settings = &self.0.settings;
        // The ceiling of strangers is the lower one only while it is the one that was met.
        let refusal = if ticket.ceiling() < settings.limits.body {
            auth::missing()
        } else {
            parse::too_large(settings)
        };
        self.0.refuse(refusal, &head, None, exchange)
    }

    /// There is no memory left for this body.
    pub fn shed(&self, head: RequestHead<'_>, exchange: &mut Exchange) -> Reply {
        let text = "no memory is left for request bodies (body_memory)";
        self.0.refuse(Refusal::text(Rejection::Overloaded, text), &head, None, exchange)
    }
}

/// Judges a request by what this server has to do.
fn admit(shared: &Shared, peer: &Peer) -> Result<(), Refusal<'static>> {
    shared.loads.admit(peer, &shared.clock)?;
    if shared.is_draining() { Err(Refusal::plain(Rejection::Draining)) } else { Ok(()) }
}

/// The endpoint is served with and without a slash at its end, and nothing is ever redirected.
fn is_endpoint(path: &str, asked: &[u8]) -> bool {
    asked == path.as_bytes() || (asked.strip_suffix(b"/")).is_some_and(|asked| asked == path.as_bytes())
}

#[cold]
fn not_found(path: &str, exchange: &mut Exchange) -> Reply {
    exchange.body.extend_from_slice(b"{\"error\":\"Not found; the endpoint is ");
    json::write_str_part(&mut exchange.body, path);
    exchange.body.extend_from_slice(b"\"}");
    Reply::json(404)
}

fn enter_post<'h>(
    shared: &Shared,
    head: &RequestHead<'h>,
    declared: Option<u64>,
    peer: &Peer,
    toll: Toll,
    exchange: &mut Exchange,
) -> Result<Ticket, Refusal<'h>> {
    let settings = &shared.settings;
    let passed = origin::check(settings, head, peer, exchange)?;
    let parsed = parse::head(settings, head, declared)?;
    let limits = &settings.limits;
    let stranger = auth::is_stranger(settings, head) && limits.unauthenticated_body < limits.body;
    let ceiling = if stranger { limits.unauthenticated_body } else { limits.body };
    if declared.is_some_and(|length| length > ceiling) {
        return Err(auth::missing());
    }
    Ok(Ticket::new(passed, parsed, toll, ceiling))
}

/// GET and DELETE: the wire checks, then the session.
fn bodiless<'h>(
    shared: &Shared,
    head: &RequestHead<'h>,
    peer: &Peer,
    toll: Toll,
    exchange: &mut Exchange,
) -> Result<Entry, Refusal<'h>> {
    let settings = &shared.settings;
    let verb = head.verb();
    let passed = origin::check(settings, head, peer, exchange)?;
    let authed = auth::check(settings, head, passed)?;
    let admitted = limit::check(settings, verb, peer.address.map(|address| address.ip()), toll, authed)?;
    let singletons = singleton::check(head, admitted)?;
    let behind = shared.behind(&singletons);
    exchange.era = Some(if session::names_modern(&singletons) { Era::Modern } else { Era::Legacy });
    let now = shared.clock.now_ms();
    let session = session::resolve_bodiless(settings, behind.sessions(), &singletons, verb, now)?;
    match verb {
        Verb::Delete => {
            // Two that come at once: the one that finds it gone says so.
            if behind.sessions().end(&session.id) {
                Ok(Entry::Answer(Reply::empty(200)))
            } else {
                Err(Refusal::plain(Rejection::UnknownSession))
            }
        }
        Verb::Get | Verb::Post | Verb::Options | Verb::Head | Verb::Other => {
            stream::open(head, &session, now).map(Entry::Stream)
        }
    }
}

/// An allowed preflight is answered before auth: browsers send none of the caller's credentials with it.
fn options<'h>(
    shared: &Shared,
    head: &RequestHead<'h>,
    peer: &Peer,
    exchange: &mut Exchange,
) -> Result<Reply, Refusal<'h>> {
    origin::check(&shared.settings, head, peer, exchange)?;
    let preflight =
        !exchange.cors.is_empty() && matches!(head.header(Known::RequestMethod), Cardinality::One(_));
    if !preflight {
        return Err(Refusal::plain(Rejection::MethodNotAllowed));
    }
    allowed_headers(head, &mut exchange.body);
    Ok(Reply { extra: Extra { preflight: true, ..Extra::NONE }, ..Reply::empty(204) })
}

/// Notes which headers the answer to a preflight allows, where the fixed list is not enough: mirrored arguments are named one by one,
/// as browsers ask for them.
fn allowed_headers(head: &RequestHead<'_>, list: &mut Vec<u8>) {
    let mut asked = head
        .values(Known::RequestHeaders)
        .flat_map(crate::base::ascii::list_members)
        .filter(|name| {
            name.len() > PARAM_PREFIX.len()
                && name[..PARAM_PREFIX.len()].eq_ignore_ascii_case(PARAM_PREFIX.as_bytes())
                && crate::base::ascii::is_token(name)
        })
        .peekable();
    if asked.peek().is_none() {
        return;
    }
    list.extend_from_slice(crate::reply::head::PREFLIGHT_HEADERS);
    for name in asked {
        list.extend_from_slice(b", ");
        list.extend_from_slice(name);
    }
}

fn other<'h>(
    shared: &Shared,
    head: &RequestHead<'h>,
    peer: &Peer,
    exchange: &mut Exchange,
) -> Result<Reply, Refusal<'h>> {
    origin::check(&shared.settings, head, peer, exchange)?;
    Err(Refusal::plain(Rejection::MethodNotAllowed))
}
