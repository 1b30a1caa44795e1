//! Two faults in one request: the earlier one answers. Every pair of rows of the rejection table is either composed of their scenarios and
//! sent, or stands below with the reason why no request can have both.

use twolane::tables::rejection::Rejection::{self, *};
use twolane::tables::scenarios::{Base, Scenario, World, scenario};

use crate::draft::Draft;
use crate::place::Places;
use crate::rejections::golden;
use crate::support::Protocol;

/// The rows in the order in which a request meets them. It is the table's, but for two rows of the router's: a verb that is not served is
/// refused after `origin`, and a body finds no memory while it is read, after the arms of `parse` that need the head alone. What is
/// shed at the door is shed before all of them: see overload.rs.
fn road() -> Vec<Rejection> {
    let mut rows = Rejection::ALL.to_vec();
    for (row, after) in [(MethodNotAllowed, HostNotAllowed), (Overloaded, BodyTooLarge)] {
        rows.retain(|other| *other != row);
        let at = rows.iter().position(|other| *other == after).unwrap();
        rows.insert(at + 1, row);
    }
    rows
}

/// Sets of rows of which a request can have one alone, and why.
const EXCLUSIVE: [(&str, &[Rejection]); 15] = [
    ("a GET without a session is told that there is no stream", &[MissingSessionId, GetNotAcceptable]),
    ("a body over the ceiling is refused before memory for it is asked", &[BodyTooLarge, Overloaded]),
    ("a stranger's large body is refused unread: see strangers.rs", &[Unauthenticated, Overloaded]),
    ("the worlds have one trait each", &[Draining, LaneOff, SessionCap, Overloaded]),
    (
        "one Authorization line has one fault",
        &[Unauthenticated, InsufficientScope, ProviderError, RateLimited],
    ),
    ("Authorization is missing or stands twice", &[Unauthenticated, MalformedAuthorization]),
    ("Mcp-Session-Id is missing or stands twice", &[DuplicatedSessionId, MissingSessionId]),
    ("the same on GET", &[DuplicatedSessionId, NoStreamOffered]),
    (
        "a session is missing or unknown, and without one nothing is negotiated",
        &[MissingSessionId, NoStreamOffered, UnknownSession, NotReady],
    ),
    ("without a session nothing is negotiated", &[MissingSessionId, ProtocolVersionMismatch]),
    ("the same on GET", &[NoStreamOffered, ProtocolVersionMismatch]),
    ("one Accept line has one fault", &[NotAcceptable, StreamNotAcceptable]),
    ("a request has one method", &[UnknownMethod, MissingClientCapability, StreamNotAcceptable]),
    ("a version is modern, or of another session's", &[ModernVersion, ProtocolVersionMismatch]),
    (
        "initialize ignores sessions",
        &[SessionCap, MissingSessionId, UnknownSession, ProtocolVersionMismatch, NotReady],
    ),
];

/// Rows of the first set never meet rows of the second, and why.
const APART: [(&str, &[Rejection], &[Rejection]); 4] = [
    (
        "a request takes one lane",
        &[
            LaneOff,
            ModernVersion,
            NoStreamOffered,
            MissingSessionId,
            UnknownSession,
            ProtocolVersionMismatch,
            NotReady,
            GetNotAcceptable,
            SessionCap,
        ],
        &[
            InvalidProtocolField,
            UnsupportedProtocolVersion,
            HeaderMissing,
            HeaderDuplicated,
            HeaderMalformed,
            HeaderMismatch,
            UnknownMethod,
            MissingClientCapability,
            StreamNotAcceptable,
        ],
    ),
    (
        "GET and DELETE have no body to be wrong",
        &[LaneOff, ModernVersion, NoStreamOffered, GetNotAcceptable],
        &[
            DuplicatedContentType,
            QueryTooLong,
            QueryNotUtf8,
            UnsupportedMediaType,
            UnsupportedContentEncoding,
            NotAcceptable,
            BodyTooLarge,
            MalformedJson,
            InvalidId,
            NotReady,
            InvalidMessage,
            SessionCap,
            Overloaded,
        ],
    ),
    (
        "a method that nobody knows binds no name and no argument, nor does one that listens",
        &[UnknownMethod, StreamNotAcceptable],
        &[HeaderDuplicated, HeaderMalformed, HeaderMismatch, MissingClientCapability],
    ),
    ("a session that is unknown is not in a state", &[UnknownSession], &[NotReady]),
];

fn contradiction(one: Rejection, other: Rejection) -> Option<&'static str> {
    let exclusive = EXCLUSIVE.iter().find(|(_, rows)| rows.contains(&one) && rows.contains(&other));
    let apart = APART.iter().find(|(_, left, right)| {
        (left.contains(&one) && right.contains(&other)) || (left.contains(&other) && right.contains(&one))
    });
    exclusive.map(|(reason, _)| *reason).or(apart.map(|(reason, ..)| *reason))
}

/// The world, base and verb that both scenarios can play in.
fn stage(one: &Scenario, other: &Scenario) -> Option<(World, Base, &'static str)> {
    let world = match (one.world, other.world) {
        (World::Usual, world) | (world, World::Usual) => world,
        (one, other) if one == other => one,
        _ => return None,
    };
    let base = match (one.base, other.base) {
        (Base::Any, base) | (base, Base::Any) => base,
        (Base::Legacy, Base::Opened) | (Base::Opened, Base::Legacy) => Base::Opened,
        (one, other) if one == other => one,
        _ => return None,
    };
    let verb = one.verbs.iter().find(|verb| other.verbs.contains(verb));
    // Where a verb is not served at all, every other fault is put into it as well.
    let verb =
        verb.or_else(|| [one, other].into_iter().find(|one| one.verbs.contains(&"PUT")).map(|_| &"PUT"))?;
    Some((world, base, verb))
}

/// Whether the earlier row's message quotes what the later one's fault has changed.
fn quotes_the_other(earlier: Rejection, later: Rejection) -> bool {
    let header = matches!(earlier, HeaderMissing | HeaderDuplicated);
    earlier == MalformedJson
        || (header && matches!(later, UnknownMethod | MissingClientCapability | StreamNotAcceptable))
}

#[test]
fn the_earlier_of_two_faults_answers() {
    let mut places = Places::default();
    let road = road();
    let mut sent = 0;
    for (at, &earlier) in road.iter().enumerate() {
        for &later in &road[at + 1..] {
            let (first, second) = (scenario(earlier), scenario(later));
            let staged = stage(&first, &second);
            let (world, base, verb) = match (contradiction(earlier, later), staged) {
                (Some(_), _) => continue,
                (None, Some(staged)) => staged,
                (None, None) => {
                    panic!("{earlier:?} and {later:?}: no request has both, and nothing says why")
                }
            };
            let place = places.get(world);
            let mut draft = Draft::of(base, verb, place);
            draft.apply(second.edits);
            draft.apply(first.edits);
            let request = draft.request();
            for protocol in Protocol::BOTH {
                let before = place.server.met();
                let runs = place.server.tools.runs();
                let response = place.server.client(protocol).send(&request);
                let context = format!("{earlier:?} before {later:?} on {verb}, {protocol:?}: {response}");
                assert_eq!(place.server.met_since(&before), [earlier], "{context}");
                assert_eq!(response.status, first.status, "{context}");
                assert_eq!(place.server.tools.runs(), runs, "{context}");
                if !quotes_the_other(earlier, later) {
                    assert_eq!(response.text(), golden(&first, verb), "{context}");
                }
            }
            sent += 1;
        }
    }
    assert!(sent >= 600, "the lists above leave {sent} pairs: they hide what they should explain");
}
