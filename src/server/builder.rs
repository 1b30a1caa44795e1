//! From tools and settings to a server: where an embedding program starts.

use std::net::SocketAddr;
use std::sync::Arc;

use super::{Config, Server, Workers};
use crate::base::clock::Clock;
use crate::base::error::Error;
use crate::base::limits::Limits;
use crate::conn::access::AccessLog;
use crate::road::Road;
use crate::road::allow::{HostRule, OriginRule};
use crate::road::auth::Authenticator;
use crate::road::limit::RateLimiter;
use crate::road::protocol_fields::supported;
use crate::road::settings::Settings;
use crate::tools::{Behind, CacheScope, Identity, Offer, Prompt, Registry, Resource, ResourceTemplate};
use crate::tools::{SealingKey, ServerInfo, Tool};

/// How long clients may take lists and discovery as fresh, unless told otherwise, in milliseconds.
const CACHE_TTL_MS: u64 = 60_000;

/// Collects what a server needs. Faults are kept until [`Builder::build`], which reports the first.
///
/// ```
/// use twolane::tools::{Context, Prompt, PromptArguments, Resource, ResourceTemplate, Typed, Variables};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greet { name: String }
///
/// let server = twolane::Server::builder()
///     .name("greeter", "1.0.0")
///     .listen(["127.0.0.1:0".parse().unwrap()])
///     .tool(Typed::new("greet", "Greets somebody.", |greet: Greet, _: Context| async move {
///         format!("Hello, {}!", greet.name)
///     }))
///     .resource(Resource::text("greet://words", "words", "Hello, hi, hey"))
///     .resource_template(ResourceTemplate::new("greet://{name}", "greeting", |variables: Variables| async move {
///         format!("Hello, {}!", variables.get("name").unwrap_or("you"))
///     }))
///     .prompt(Prompt::new("politely", "Greets politely.", |_: PromptArguments| async { "Greet me politely." }))
///     .build()?;
/// assert!(server.urls().next().is_some());
/// # Ok::<(), twolane::Error>(())
/// ```
#[must_use]
pub struct Builder {
    config: Config,
    settings: Settings,
    registry: Registry,
    info: ServerInfo,
    cache_ttl_ms: u64,
    sealing_keys: Vec<SealingKey>,
    clock: Clock,
    fault: Option<Error>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("config", &self.config)
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            config: Config::default(),
            settings: Settings::default(),
            registry: Registry::new(&Limits::default()),
            info: ServerInfo::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            cache_ttl_ms: CACHE_TTL_MS,
            sealing_keys: Vec::new(),
            clock: Clock::system(),
            fault: None,
        }
    }
}

impl Builder {
    /// What the server calls itself, and its version.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.info.name, self.info.version) = (name.into(), version.into());
        self
    }

    /// Everything the server says of itself.
    pub fn info(mut self, info: ServerInfo) -> Self {
        self.info = info;
        self
    }

    /// How to use the server, for the model.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.info.instructions = Some(text.into());
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: impl Tool) -> Self {
        if let Err(error) = self.registry.add(tool) {
            self.fault.get_or_insert(error);
        }
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: Resource) -> Self {
        if let Err(error) = self.registry.add_resource(resource) {
            self.fault.get_or_insert(error);
        }
        self
    }

    /// Adds a template for resources.
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        if let Err(error) = self.registry.add_resource_template(template) {
            self.fault.get_or_insert(error);
        }
        self
    }

    /// Adds a prompt.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        if let Err(error) = self.registry.add_prompt(prompt) {
            self.fault.get_or_insert(error);
        }
        self
    }

    /// Declares a capability whatever is registered now: for a server that fills its registry later, since clients look at capabilities
    /// once.
    pub fn offer(self, offer: Offer) -> Self {
        self.registry.offer(offer);
        self
    }

    /// The registry, to add to now or, from a clone, while the server runs.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The addresses to listen on. Default: `127.0.0.1:8080`.
    pub fn listen(mut self, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.config = self.config.listen(addresses);
        self
    }

    /// How connections are spread over threads, for [`Server::run_workers`].
    pub fn workers(mut self, workers: Workers) -> Self {
        self.config = self.config.workers(workers);
        self
    }

    /// Keeps an access log.
    pub fn access_log(mut self, log: AccessLog) -> Self {
        self.config = self.config.access_log(log);
        self
    }

    /// The endpoint's path. Default: `/mcp`.
    pub fn path(mut self, path: &str) -> Self {
        if let Err(error) = self.settings.set_path(path) {
            self.fault.get_or_insert(error);
        }
        self
    }

    /// Allows an origin beyond the default: see [`OriginRule::parse`].
    pub fn allow_origin(mut self, rule: &str) -> Self {
        match OriginRule::parse(rule) {
            Ok(rule) => self.settings.origins.push(rule),
            Err(fault) => {
                self.fault.get_or_insert(Error::Config(format!("allow-origin: {fault}")));
            }
        }
        self
    }

    /// Allows a host beyond the default: see [`HostRule::parse`].
    pub fn allow_host(mut self, rule: &str) -> Self {
        match HostRule::parse(rule) {
            Ok(rule) => self.settings.hosts.push(rule),
            Err(fault) => {
                self.fault.get_or_insert(Error::Config(format!("allow-host: {fault}")));
            }
        }
        self
    }

    /// Switches the legacy lane.
    pub const fn legacy(mut self, on: bool) -> Self {
        self.settings.legacy = on;
        self
    }

    /// Requires credentials.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.settings.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// Limits rates.
    pub fn limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.settings.limiter = Some(Arc::new(limiter));
        self
    }

    /// Whether peers on the loopback are held to the limits for each peer (`peer_connections`, `peer_rate`) too. Default: they are exempt, since
    /// a proxy on the same machine brings everybody's requests.
    pub const fn limit_loopback(mut self, on: bool) -> Self {
        self.settings.limit_loopback = on;
        self
    }

    /// The bounds.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// All settings of the road at once.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// How long clients may take lists and discovery as fresh, in milliseconds. Default: 60,000.
    pub const fn cache_ttl_ms(mut self, ms: u64) -> Self {
        self.cache_ttl_ms = ms;
        self
    }

    /// The keys that seal what modern calls remember while their clients are asked: the first seals, all open. Processes that serve the same
    /// clients need the same keys; to change a key, add the new one behind the old on all, then put it first, then leave the old one out.
    /// Default: a random one, which dies with the process.
    pub fn sealing_keys(mut self, keys: impl IntoIterator<Item = SealingKey>) -> Self {
        self.sealing_keys = keys.into_iter().collect();
        self
    }

    /// The clock that idle sessions are measured by.
    #[doc(hidden)]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Binds the addresses.
    ///
    /// # Errors
    /// The first fault of what was collected, else [`Error::Bind`].
    pub fn build(self) -> Result<Server, Error> {
        let Self { config, settings, registry, info, cache_ttl_ms, sealing_keys, clock, fault } = self;
        if let Some(fault) = fault {
            return Err(fault);
        }
        settings.limits.check().map_err(Error::Config)?;
        settings.clone().set_path(&settings.path)?;
        let offered: Vec<_> = supported(settings.legacy).collect();
        // What only some may ask for must not end in a shared cache.
        let scope = if settings.authenticator.is_some() { CacheScope::Private } else { CacheScope::Public };
        let identity = Identity::new(&info, &offered, cache_ttl_ms, scope);
        let behind =
            Behind::new(registry, identity, &settings.limits).sealing_keys(&settings.limits, &sealing_keys);
        let workers = config.workers.runtimes();
        Server::bind(config, Road::of_workers(settings, clock, behind, workers))
    }
}
