//! Verbs of the endpoint and the dialect each answers in.

/// A request's verb, as far as the endpoint tells verbs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// `POST`: the road.
    Post,
    /// `GET`: the session's event stream (legacy lane).
    Get,
    /// `DELETE`: ends a session (legacy lane).
    Delete,
    /// `OPTIONS`: CORS preflight.
    Options,
    /// `HEAD`: refused, and its answer has no body.
    Head,
    /// Anything else. Verbs are case-sensitive (RFC 9110 9.1), so `post` is one of these.
    Other,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 6] = [Self::Post, Self::Get, Self::Delete, Self::Options, Self::Head, Self::Other];

    /// Reads a method token.
    #[must_use]
    pub fn from_token(token: &[u8]) -> Self {
        match token {
            b"POST" => Self::Post,
            b"GET" => Self::Get,
            b"DELETE" => Self::Delete,
            b"OPTIONS" => Self::Options,
            b"HEAD" => Self::Head,
            _ => Self::Other,
        }
    }

    /// The verb's name in logs; an unknown verb is not repeated.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Get => "GET",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Head => "HEAD",
            Self::Other => "other",
        }
    }

    /// The dialect of this verb's rejections.
    #[must_use]
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Post => Dialect::JsonRpc,
            Self::Get | Self::Delete | Self::Options | Self::Head | Self::Other => Dialect::PlainJson,
        }
    }
}

/// The form of a rejection's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The enveloped error object.
    JsonRpc,
    /// The flat `{"error":"…"}`.
    PlainJson,
}

/// A set of verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verbs(u8);

impl Verbs {
    /// `POST` alone.
    pub const POST: Self = Self(1);
    /// `GET` alone.
    pub const GET: Self = Self(2);
    /// `DELETE` alone.
    pub const DELETE: Self = Self(4);
    /// `GET` and `DELETE`.
    pub const GET_DELETE: Self = Self(6);
    /// `POST` and `DELETE`.
    pub const POST_DELETE: Self = Self(5);
    /// The verbs that pass every wire check.
    pub const WIRE: Self = Self(7);
    /// Verbs the endpoint does not serve, `HEAD` and plain `OPTIONS` among them.
    pub const OTHERS: Self = Self(8 | 16 | 32);
    /// All verbs.
    pub const ALL: Self = Self(63);

    /// Whether the set has `verb`.
    #[must_use]
    pub const fn has(self, verb: Verb) -> bool {
        let bit = match verb {
            Verb::Post => 1,
            Verb::Get => 2,
            Verb::Delete => 4,
            Verb::Options => 8,
            Verb::Head => 16,
            Verb::Other => 32,
        };
        self.0 & bit != 0
    }

    /// The set as the rejection table prints it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self.0 {
            1 => "POST",
            2 => "GET",
            4 => "DELETE",
            5 => "POST DELETE",
            6 => "GET DELETE",
            7 => "POST GET DELETE",
            56 => "other verbs",
            63 => "all",
            _ => "?",
        }
    }
}
