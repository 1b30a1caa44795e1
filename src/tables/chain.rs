//! The road as data: every stage a POST passes, in order. A test holds the running code to it.

/// A stage of the road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// `Origin` and `Host`.
    Origin,
    /// Content type, query, body ceilings, JSON.
    Parse,
    /// Message kind and the id's form.
    Classify,
    /// Who is asking.
    Auth,
    /// Rate limits.
    Limit,
    /// Headers that may stand once.
    Singleton,
    /// Which lane.
    Era,
    /// The modern lane's `_meta` fields.
    ProtocolFields,
    /// The modern lane's mirrored headers.
    HeaderBinding,
    /// Session and lifecycle of the legacy lane.
    Session,
    /// The JSON-RPC envelope.
    Validate,
    /// The method.
    Dispatch,
}

impl Stage {
    /// The stage's name: the name of its file, and the rejecter in the rejection table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Origin => "origin",
            Self::Parse => "parse",
            Self::Classify => "classify",
            Self::Auth => "auth",
            Self::Limit => "limit",
            Self::Singleton => "singleton",
            Self::Era => "era",
            Self::ProtocolFields => "protocol_fields",
            Self::HeaderBinding => "header_binding",
            Self::Session => "session",
            Self::Validate => "validate",
            Self::Dispatch => "dispatch",
        }
    }

    /// Whether the stage runs on GET and DELETE too, or why it cannot.
    #[must_use]
    pub const fn reach(self) -> Reach {
        match self {
            Self::Origin | Self::Auth | Self::Limit | Self::Singleton => Reach::WireCheck,
            Self::Parse => Reach::BodyBound("GET and DELETE have no body to parse"),
            Self::Classify => Reach::BodyBound("a message kind needs a message"),
            Self::Era => {
                Reach::BodyBound("the lane is read from the body first; GET and DELETE are legacy only")
            }
            Self::ProtocolFields => Reach::BodyBound("the fields stand in params._meta"),
            Self::HeaderBinding => Reach::BodyBound("headers are compared with the body"),
            Self::Session | Self::Validate | Self::Dispatch => Reach::BehindTheDoor,
        }
    }
}

/// Where a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// On POST, GET and DELETE, before anything touches session state.
    WireCheck,
    /// On POST only, for this reason.
    BodyBound(&'static str),
    /// From `session` on: needs the proof that every wire check has passed.
    BehindTheDoor,
}

/// Every stage in the order a POST passes them.
pub const CHAIN: [Stage; 12] = [
    Stage::Origin,
    Stage::Parse,
    Stage::Classify,
    Stage::Auth,
    Stage::Limit,
    Stage::Singleton,
    Stage::Era,
    Stage::ProtocolFields,
    Stage::HeaderBinding,
    Stage::Session,
    Stage::Validate,
    Stage::Dispatch,
];

/// The stages that GET and DELETE pass too, in order.
pub const WIRE_CHECKS: [Stage; 4] = [Stage::Origin, Stage::Auth, Stage::Limit, Stage::Singleton];

const _: () = {
    let mut check = 0;
    let mut at = 0;
    let mut door = false;
    while at < CHAIN.len() {
        assert!(CHAIN[at] as usize == at, "CHAIN stands in the order of the enum");
        match CHAIN[at].reach() {
            Reach::WireCheck => {
                assert!(!door, "a wire check stands before session");
                assert!(
                    check < WIRE_CHECKS.len() && WIRE_CHECKS[check] as usize == CHAIN[at] as usize,
                    "wire checks in list order"
                );
                check += 1;
            }
            Reach::BodyBound(reason) => {
                assert!(!door && !reason.is_empty(), "a body-bound stage stands before session and says why");
            }
            Reach::BehindTheDoor => door = true,
        }
        at += 1;
    }
    assert!(check == WIRE_CHECKS.len(), "every wire check is in the chain");
};
