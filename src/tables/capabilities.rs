//! What a client may say it can do, as far as the server acts on it.

use std::fmt;

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $variant:ident = $path:literal;)+) => {
        /// Something that a client has declared, or not.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Capability { $($(#[doc = $doc])+ $variant,)+ }

        impl Capability {
            /// Every capability.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The member of the client's capabilities, then after a dot the member of that one.
            #[must_use]
            pub const fn path(self) -> &'static str { match self { $(Self::$variant => $path,)+ } }
        }
    };
}

capabilities! {
    /// It runs messages through a model.
    Sampling = "sampling";
    /// The model may be given tools.
    SamplingTools = "sampling.tools";
    /// It takes `includeContext`.
    SamplingContext = "sampling.context";
    /// It shows forms to its user. An empty `elicitation` means this one too.
    ElicitationForm = "elicitation.form";
    /// It opens pages for its user.
    ElicitationUrl = "elicitation.url";
    /// It tells which folders it works in.
    Roots = "roots";
    /// It knows tasks.
    Tasks = "extensions.io.modelcontextprotocol/tasks";
}

impl Capability {
    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Whether it lets the server ask something.
    const fn is_to_be_asked(self) -> bool {
        match self {
            Self::Sampling
            | Self::SamplingTools
            | Self::SamplingContext
            | Self::ElicitationForm
            | Self::ElicitationUrl
            | Self::Roots => true,
            Self::Tasks => false,
        }
    }

    /// The capability, or the part of one, that a path names: `elicitation` is its form mode.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        if path == "elicitation" {
            return Some(Self::ElicitationForm);
        }
        Self::ALL.iter().copied().find(|capability| capability.path() == path)
    }
}

/// A set of capabilities.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(u8);

const _: () = assert!(Capability::ALL.len() <= u8::BITS as usize);

impl Capabilities {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// The set with `capability` in it.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | capability.bit())
    }

    /// Whether `capability` is in the set.
    #[must_use]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Whether a client that declares these can be asked anything.
    #[must_use]
    pub fn can_be_asked(self) -> bool {
        Capability::ALL.iter().any(|&capability| capability.is_to_be_asked() && self.has(capability))
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(
                Capability::ALL
                    .iter()
                    .filter(|capability| self.has(**capability))
                    .map(|capability| capability.path()),
            )
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        for &capability in Capability::ALL {
            let set = Capabilities::NONE.with(capability);
            for &other in Capability::ALL {
                assert_eq!(set.has(other), other == capability);
            }
            assert_eq!(Capability::from_path(capability.path()), Some(capability));
            assert_eq!(set.can_be_asked(), capability != Capability::Tasks);
        }
        assert_eq!(Capability::from_path("elicitation"), Some(Capability::ElicitationForm));
        assert_eq!(Capability::from_path("Sampling"), None);
        assert!(!Capabilities::NONE.can_be_asked());
    }
}
