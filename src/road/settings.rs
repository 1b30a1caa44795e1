//! What an operator decides about the road.

use std::sync::Arc;

use super::allow::{HostRule, OriginRule};
use super::auth::Authenticator;
use super::limit::RateLimiter;
use crate::base::error::Error;
use crate::base::limits::Limits;

/// Settings of the road, checked and compiled.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The endpoint's path: begins with `/`, has no `/` at its end, no query. Served with a `/` at its end too.
    pub path: String,
    /// Origins allowed beyond the default.
    pub origins: Vec<OriginRule>,
    /// Hosts allowed beyond the default.
    pub hosts: Vec<HostRule>,
    /// Whether the legacy lane is on.
    pub legacy: bool,
    /// Who checks credentials; `None` serves everybody.
    pub authenticator: Option<Arc<dyn Authenticator>>,
    /// Who limits rates; `None` limits nobody.
    pub limiter: Option<Arc<dyn RateLimiter>>,
    /// Whether peers on the loopback are held to the limits for each peer too. A proxy on this machine brings everybody's requests from there.
    pub limit_loopback: bool,
    /// The bounds.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            origins: Vec::new(),
            hosts: Vec::new(),
            legacy: true,
            authenticator: None,
            limiter: None,
            limit_loopback: false,
            limits: Limits::default(),
        }
    }
}

impl Settings {
    /// Checks a path for the endpoint and takes it over without its final slash.
    ///
    /// # Errors
    /// [`Error::Config`] when the path does not begin with a slash, is the root alone, or has characters a request target cannot have.
    pub fn set_path(&mut self, path: &str) -> Result<(), Error> {
        let trimmed = path.strip_suffix('/').unwrap_or(path);
        let doubled = path.contains("//");
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
        if !trimmed.starts_with('/') || doubled || !trimmed.bytes().all(fits) {
            return Err(Error::Config(format!(
                "path {path:?} cannot be served: begin it with /, end it with a name, and use unreserved characters only"
            )));
        }
        trimmed.clone_into(&mut self.path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let mut settings = Settings::default();
        for (path, kept) in [("/mcp", "/mcp"), ("/mcp/", "/mcp"), ("/a/b.c", "/a/b.c")] {
            settings.set_path(path).unwrap();
            assert_eq!(settings.path, kept);
        }
        for bad in ["", "/", "//", "/mcp//", "mcp", "/a//b", "/a?b", "/a b", "/é", "/%41"] {
            assert!(settings.set_path(bad).is_err(), "{bad}");
        }
    }
}
