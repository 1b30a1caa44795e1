//! Who the server says it is, rendered once: the insides of `initialize` and `server/discover`, and what every modern result carries.

use crate::reply::json;
use crate::tables::versions::{Feature, Revision};

/// The server's name and what it says of itself (`Implementation` in the schema).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The name, for machines.
    pub name: String,
    /// The version.
    pub version: String,
    /// The name, for people.
    pub title: Option<String>,
    /// What the server is for.
    pub description: Option<String>,
    /// Its page.
    pub website_url: Option<String>,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// A server with a name and a version.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            website_url: None,
            instructions: None,
        }
    }
}

/// Whom a cached answer may be served to (2026-07-28, caching).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// Anybody.
    Public,
    /// The caller it was given to.
    Private,
}

/// The rendered pieces.
#[derive(Debug)]
pub struct Identity {
    /// What stands before and after the capabilities, by [`Revision::index`].
    initialize: Vec<Around>,
    discover: Around,
    server_info: Vec<u8>,
    cacheable_tail: Vec<u8>,
    ttl_ms: u64,
    scope: CacheScope,
}

/// What stands before and after something that changes.
#[derive(Debug)]
struct Around {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Identity {
    /// Renders everything. `supported` is the list of versions that discover offers, `ttl_ms` how long lists and discover stay fresh.
    #[must_use]
    pub fn new(info: &ServerInfo, supported: &[Revision], ttl_ms: u64, scope: CacheScope) -> Self {
        let modern = Revision::NEWEST_MODERN;
        let mut server_info = b"\"io.modelcontextprotocol/serverInfo\":".to_vec();
        write_implementation(&mut server_info, info, modern);
        let cacheable_tail = cacheable_tail(&server_info, ttl_ms, scope);
        Self {
            initialize: Revision::ALL.iter().map(|&revision| initialize(info, revision)).collect(),
            discover: discover(info, supported, &cacheable_tail),
            server_info,
            cacheable_tail,
            ttl_ms,
            scope,
        }
    }

    /// Appends the inside of the result of `initialize`, for a session of `revision`. `capabilities` is the member as rendered.
    pub fn write_initialize(&self, out: &mut Vec<u8>, revision: Revision, capabilities: &[u8]) {
        if let Some(around) = self.initialize.get(revision.index()) {
            around.write(out, capabilities);
        }
    }

    /// Appends the inside of the result of `server/discover`. `capabilities` is the member as rendered.
    pub fn write_discover(&self, out: &mut Vec<u8>, capabilities: &[u8]) {
        self.discover.write(out, capabilities);
    }

    /// Appends how long a modern result stays fresh and for whom: as the server has it, unless one of them is given.
    pub fn write_freshness(&self, out: &mut Vec<u8>, ttl_ms: Option<u64>, scope: Option<CacheScope>) {
        // What only some may ask for stays private, whatever is said of one resource.
        let scope = if self.scope == CacheScope::Private { self.scope } else { scope.unwrap_or(self.scope) };
        write_freshness(out, ttl_ms.unwrap_or(self.ttl_ms), scope);
    }

    /// The member `io.modelcontextprotocol/serverInfo` for the `_meta` of a modern result.
    #[must_use]
    pub fn server_info(&self) -> &[u8] {
        &self.server_info
    }

    /// The members that end every cacheable modern result: freshness, `resultType`, `_meta`.
    #[must_use]
    pub fn cacheable_tail(&self) -> &[u8] {
        &self.cacheable_tail
    }
}

impl Around {
    fn write(&self, out: &mut Vec<u8>, inside: &[u8]) {
        out.extend_from_slice(&self.before);
        out.extend_from_slice(inside);
        out.extend_from_slice(&self.after);
    }
}

fn initialize(info: &ServerInfo, revision: Revision) -> Around {
    let mut before = b"\"protocolVersion\":".to_vec();
    json::write_str(&mut before, revision.as_str());
    before.push(b',');
    let mut after = b",\"serverInfo\":".to_vec();
    write_implementation(&mut after, info, revision);
    write_member(&mut after, "instructions", info.instructions.as_deref());
    Around { before, after }
}

fn discover(info: &ServerInfo, supported: &[Revision], tail: &[u8]) -> Around {
    let mut out = b"\"supportedVersions\":[".to_vec();
    for (at, revision) in supported.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        json::write_str(&mut out, revision.as_str());
    }
    out.extend_from_slice(b"],");
    let mut after = Vec::new();
    write_member(&mut after, "instructions", info.instructions.as_deref());
    after.push(b',');
    after.extend_from_slice(tail);
    Around { before: out, after }
}

fn cacheable_tail(server_info: &[u8], ttl_ms: u64, scope: CacheScope) -> Vec<u8> {
    let mut out = Vec::new();
    write_freshness(&mut out, ttl_ms, scope);
    out.extend_from_slice(b",\"resultType\":\"complete\",\"_meta\":{");
    out.extend_from_slice(server_info);
    out.push(b'}');
    out
}

fn write_freshness(out: &mut Vec<u8>, ttl_ms: u64, scope: CacheScope) {
    out.extend_from_slice(b"\"ttlMs\":");
    json::write_int(out, ttl_ms);
    out.extend_from_slice(match scope {
        CacheScope::Public => b",\"cacheScope\":\"public\"",
        CacheScope::Private => b",\"cacheScope\":\"private\"".as_slice(),
    });
}

fn write_implementation(out: &mut Vec<u8>, info: &ServerInfo, revision: Revision) {
    out.extend_from_slice(b"{\"name\":");
    json::write_str(out, &info.name);
    write_member(out, "version", Some(&info.version));
    if revision.has(Feature::Titles) {
        write_member(out, "title", info.title.as_deref());
    }
    if revision.has(Feature::Icons) {
        write_member(out, "description", info.description.as_deref());
        write_member(out, "websiteUrl", info.website_url.as_deref());
    }
    out.push(b'}');
}

fn write_member(out: &mut Vec<u8>, key: &str, value: Option<&str>) {
    let Some(value) = value else { return };
    out.push(b',');
    json::write_str(out, key);
    out.push(b':');
    json::write_str(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn read(inside: &[u8]) -> Value {
        let text = format!("{{{}}}", std::str::from_utf8(inside).unwrap());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn each_revision_gets_its_own_fields() {
        let mut info = ServerInfo::new("n\"ame", "1");
        info.title = Some("T".to_owned());
        info.website_url = Some("https://example.test".to_owned());
        info.instructions = Some("Do\nthis.".to_owned());
        let identity = Identity::new(&info, &[Revision::V2026_07_28], 5, CacheScope::Private);
        let inside = |revision| {
            let mut out = Vec::new();
            identity.write_initialize(&mut out, revision, b"\"capabilities\":{}");
            read(&out)
        };
        let oldest = inside(Revision::V2025_03_26);
        assert_eq!(oldest["serverInfo"], serde_json::json!({"name": "n\"ame", "version": "1"}));
        assert_eq!(oldest["protocolVersion"], "2025-03-26");
        assert_eq!(oldest["instructions"], "Do\nthis.");
        let middle = inside(Revision::V2025_06_18);
        assert_eq!(middle["serverInfo"], serde_json::json!({"name": "n\"ame", "version": "1", "title": "T"}));
        let newest = inside(Revision::V2025_11_25);
        assert_eq!(newest["serverInfo"]["websiteUrl"], "https://example.test");
        let mut out = Vec::new();
        identity.write_discover(&mut out, b"\"capabilities\":{}");
        let discover = read(&out);
        assert_eq!(discover["supportedVersions"], serde_json::json!(["2026-07-28"]));
        assert_eq!((&discover["ttlMs"], &discover["cacheScope"]), (&5.into(), &"private".into()));
        assert_eq!(discover["resultType"], "complete");
        assert_eq!(discover["_meta"]["io.modelcontextprotocol/serverInfo"]["title"], "T");
    }
}
