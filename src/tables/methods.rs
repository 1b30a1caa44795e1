//! The methods served: who may call them, when, and what their requests mirror into headers.

use super::versions::Era;

/// Where `Mcp-Name` takes its value from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// The method has no name.
    None,
    /// `params.name`.
    Name,
    /// `params.uri`.
    Uri,
    /// `params.taskId`.
    TaskId,
}

/// Which eras know a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eras {
    /// The legacy lane alone.
    Legacy,
    /// The modern lane alone.
    Modern,
    /// Both lanes.
    Both,
}

impl Eras {
    /// Whether the method is known in `era`.
    #[must_use]
    pub const fn has(self, era: Era) -> bool {
        matches!((self, era), (Self::Both, _) | (Self::Legacy, Era::Legacy) | (Self::Modern, Era::Modern))
    }
}

/// Whether a legacy request needs a session, and when in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// Opens a session; any session id sent is ignored.
    Opens,
    /// Served without a session; with an id it is resolved like any other.
    SessionExempt,
    /// Needs a session, served before `notifications/initialized` too.
    BeforeReady,
    /// Needs a session that is ready.
    Ready,
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $variant:ident = $wire:literal, $eras:ident, $lifecycle:ident, $name:ident, cacheable: $cacheable:literal;)+) => {
        /// A method that is served.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Method { $($(#[doc = $doc])+ $variant,)+ }

        impl Method {
            /// Every method.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name on the wire.
            #[must_use]
            pub const fn wire(self) -> &'static str { match self { $(Self::$variant => $wire,)+ } }

            /// The eras that know the method.
            #[must_use]
            pub const fn eras(self) -> Eras { match self { $(Self::$variant => Eras::$eras,)+ } }

            /// When a legacy session may call it.
            #[must_use]
            pub const fn lifecycle(self) -> Lifecycle { match self { $(Self::$variant => Lifecycle::$lifecycle,)+ } }

            /// What `Mcp-Name` mirrors.
            #[must_use]
            pub const fn name_source(self) -> NameSource { match self { $(Self::$variant => NameSource::$name,)+ } }

            /// Whether modern results carry `ttlMs` and `cacheScope`.
            #[must_use]
            pub const fn cacheable(self) -> bool { match self { $(Self::$variant => $cacheable,)+ } }

            /// Finds a method by its exact name.
            #[must_use]
            pub fn find(name: &str) -> Option<Self> { match name { $($wire => Some(Self::$variant),)+ _ => None } }
        }
    };
}

methods! {
    /// The legacy handshake.
    Initialize = "initialize", Legacy, Opens, None, cacheable: false;
    /// Liveness on the legacy lane.
    Ping = "ping", Legacy, SessionExempt, None, cacheable: false;
    /// What the server is and offers.
    Discover = "server/discover", Modern, Ready, None, cacheable: true;
    /// Which log messages a legacy session wants.
    LoggingSetLevel = "logging/setLevel", Legacy, Ready, None, cacheable: false;
    /// A stream of what changes.
    SubscriptionsListen = "subscriptions/listen", Modern, Ready, None, cacheable: false;
    /// The tools on offer.
    ToolsList = "tools/list", Both, BeforeReady, None, cacheable: true;
    /// Runs a tool.
    ToolsCall = "tools/call", Both, BeforeReady, Name, cacheable: false;
    /// The resources on offer.
    ResourcesList = "resources/list", Both, Ready, None, cacheable: true;
    /// The templates of resources on offer.
    ResourcesTemplatesList = "resources/templates/list", Both, Ready, None, cacheable: true;
    /// What a resource holds.
    ResourcesRead = "resources/read", Both, Ready, Uri, cacheable: true;
    /// Asks to be told when a resource changes.
    ResourcesSubscribe = "resources/subscribe", Legacy, Ready, None, cacheable: false;
    /// Asks to be told no longer.
    ResourcesUnsubscribe = "resources/unsubscribe", Legacy, Ready, None, cacheable: false;
    /// The prompts on offer.
    PromptsList = "prompts/list", Both, Ready, None, cacheable: true;
    /// The messages of a prompt.
    PromptsGet = "prompts/get", Both, Ready, Name, cacheable: false;
    /// How an argument may go on.
    CompletionComplete = "completion/complete", Both, Ready, None, cacheable: false;
    /// What has become of a task (extension).
    TasksGet = "tasks/get", Modern, Ready, TaskId, cacheable: false;
    /// Answers a task's questions (extension).
    TasksUpdate = "tasks/update", Modern, Ready, TaskId, cacheable: false;
    /// Stops a task (extension).
    TasksCancel = "tasks/cancel", Modern, Ready, TaskId, cacheable: false;
}

/// What `Mcp-Name` mirrors for a method, served or not: the binding is the specification's, so a method that this server lacks is
/// still bound before it is refused as unknown.
#[must_use]
pub fn name_source(method: &str) -> NameSource {
    match method {
        "tools/call" | "prompts/get" => NameSource::Name,
        "resources/read" => NameSource::Uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => NameSource::TaskId,
        _ => NameSource::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_exact_name() {
        for &method in Method::ALL {
            assert_eq!(Method::find(method.wire()), Some(method));
            assert_eq!(name_source(method.wire()), method.name_source());
        }
        assert_eq!(Method::find("Tools/List"), None);
        assert_eq!(Method::find(""), None);
    }
}
