//! The severities of log messages (RFC 5424), mildest first.

macro_rules! levels {
    ($($(#[doc = $doc:literal])+ $variant:ident = $wire:literal;)+) => {
        /// How grave a log message is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum LogLevel { $($(#[doc = $doc])+ $variant,)+ }

        impl LogLevel {
            /// Every level, mildest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Their words on the wire.
            pub const WORDS: &'static [&'static str] = &[$($wire,)+];

            /// The word on the wire.
            #[must_use]
            pub const fn wire(self) -> &'static str { match self { $(Self::$variant => $wire,)+ } }

            /// Reads a level. Exact: lower case, no other spelling.
            #[must_use]
            pub fn from_wire(text: &str) -> Option<Self> { match text { $($wire => Some(Self::$variant),)+ _ => None } }
        }
    };
}

levels! {
    /// What a developer wants to see.
    Debug = "debug";
    /// What happens.
    Info = "info";
    /// Normal, but worth noting.
    Notice = "notice";
    /// May become an error.
    Warning = "warning";
    /// An operation failed.
    Error = "error";
    /// A component failed.
    Critical = "critical";
    /// Somebody must act at once.
    Alert = "alert";
    /// Nothing works.
    Emergency = "emergency";
}

impl LogLevel {
    /// The level of a session that has not set one.
    pub const DEFAULT: Self = Self::Info;

    /// The level at a position in [`Self::ALL`].
    #[must_use]
    pub fn at(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_read_back_and_are_ordered() {
        for (index, &level) in LogLevel::ALL.iter().enumerate() {
            assert_eq!(LogLevel::from_wire(level.wire()), Some(level));
            assert_eq!(LogLevel::at(u8::try_from(index).unwrap()), Some(level));
            assert_eq!(level as usize, index);
        }
        assert!(LogLevel::Debug < LogLevel::Info && LogLevel::Alert < LogLevel::Emergency);
        for bad in ["", "Info", "warn", "info "] {
            assert_eq!(LogLevel::from_wire(bad), None, "{bad:?}");
        }
        assert_eq!(LogLevel::at(8), None);
    }
}
