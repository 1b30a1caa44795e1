//! Protocol revisions, the era each belongs to, and what each revision's messages may carry.

/// How a revision talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// A handshake and sessions.
    Legacy,
    /// Metadata on every request, no session.
    Modern,
}

impl Era {
    /// The era's name in logs and marks.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

macro_rules! revisions {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal, $era:ident;)+) => {
        /// A protocol revision that is served, oldest first.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Revision { $($(#[doc = $doc])+ $variant,)+ }

        impl Revision {
            /// Every served revision, oldest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The revision's date, as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $text,)+ } }

            /// The era the revision belongs to.
            #[must_use]
            pub const fn era(self) -> Era { match self { $(Self::$variant => Era::$era,)+ } }

            /// Reads a revision's date. Exact: no whitespace, no other spelling.
            #[must_use]
            pub fn from_wire(text: &[u8]) -> Option<Self> {
                $(if text == $text.as_bytes() { return Some(Self::$variant); })+
                None
            }
        }
    };
}

revisions! {
    /// 2025-03-26: the first with Streamable HTTP; has batches.
    V2025_03_26 = "2025-03-26", Legacy;
    /// 2025-06-18: structured content, `MCP-Protocol-Version`; batches are gone.
    V2025_06_18 = "2025-06-18", Legacy;
    /// 2025-11-25: icons, tool errors for bad arguments.
    V2025_11_25 = "2025-11-25", Legacy;
    /// 2026-07-28: stateless, mirrored headers.
    V2026_07_28 = "2026-07-28", Modern;
}

impl Revision {
    /// The revision offered to a legacy client whose own is not served.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest modern revision.
    pub const NEWEST_MODERN: Self = Self::V2026_07_28;

    /// What `initialize` comes to: a served legacy revision is echoed, any other is answered with the newest legacy one.
    #[must_use]
    pub fn negotiated(requested: &str) -> Self {
        let served = Self::from_wire(requested.as_bytes());
        served.filter(|revision| matches!(revision.era(), Era::Legacy)).unwrap_or(Self::NEWEST_LEGACY)
    }

    /// The position in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether messages of this revision may carry `feature`.
    #[must_use]
    pub fn has(self, feature: Feature) -> bool {
        let (since, until) = feature.span();
        self >= since && until.is_none_or(|until| self <= until)
    }
}

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $variant:ident: $since:ident $(..= $until:ident)?;)+) => {
        /// Something that a message may carry from one revision on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Feature { $($(#[doc = $doc])+ $variant,)+ }

        impl Feature {
            /// Every feature.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The first revision that has the feature, and the last where it was removed again.
            #[must_use]
            pub const fn span(self) -> (Revision, Option<Revision>) {
                match self { $(Self::$variant => (Revision::$since, features!(@until $($until)?)),)+ }
            }
        }
    };
    (@until) => { None };
    (@until $until:ident) => { Some(Revision::$until) };
}

features! {
    /// Several messages in one body.
    Batches: V2025_03_26 ..= V2025_03_26;
    /// `annotations` on tools; audio content.
    ToolAnnotations: V2025_03_26;
    /// `title` on tools and implementations.
    Titles: V2025_06_18;
    /// `outputSchema` and `structuredContent`.
    StructuredContent: V2025_06_18;
    /// `resource_link` content blocks.
    ResourceLinks: V2025_06_18;
    /// `_meta` on tools and content blocks.
    Meta: V2025_06_18;
    /// Settled arguments beside the one that is completed.
    CompletionContext: V2025_06_18;
    /// `lastModified` in annotations.
    LastModified: V2025_06_18;
    /// `elicitation/create`.
    Elicitation: V2025_06_18;
    /// A version header that must match the negotiated one.
    VersionHeader: V2025_06_18;
    /// `icons`; `description` and `websiteUrl` on implementations.
    Icons: V2025_11_25;
    /// Priming events, and streams that the server ends early for the client to come back to.
    Priming: V2025_11_25 ..= V2025_11_25;
    /// `mode` in elicitations: pages beside forms. Forms with several choices, titled ones, and defaults for every field.
    ElicitationModes: V2025_11_25;
    /// `elicitationId`, and `notifications/elicitation/complete`.
    ElicitationIds: V2025_11_25 ..= V2025_11_25;
    /// Tools in sampling, turns of several blocks, and parts of the capability.
    SamplingTools: V2025_11_25;
    /// `extensions` among the capabilities.
    Extensions: V2026_07_28;
    /// `structuredContent` of any JSON type, and output schemas of any type.
    AnyStructuredContent: V2026_07_28;
    /// `resultType`, `ttlMs`, `cacheScope`, `serverInfo` in `_meta`.
    ModernResults: V2026_07_28;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_read_back_exactly() {
        for &revision in Revision::ALL {
            assert_eq!(Revision::from_wire(revision.as_str().as_bytes()), Some(revision));
            assert_eq!(Revision::ALL[revision.index()], revision);
        }
        for bad in ["", "2025-03-26 ", "2024-11-05", "v999.0.0", "2026-07-2"] {
            assert_eq!(Revision::from_wire(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn features_by_revision() {
        let row = |feature| {
            Revision::ALL.iter().map(|&revision| Revision::has(revision, feature)).collect::<Vec<_>>()
        };
        assert_eq!(row(Feature::Batches), [true, false, false, false]);
        assert_eq!(row(Feature::Titles), [false, true, true, true]);
        assert_eq!(row(Feature::Icons), [false, false, true, true]);
        assert_eq!(row(Feature::ModernResults), [false, false, false, true]);
    }
}
