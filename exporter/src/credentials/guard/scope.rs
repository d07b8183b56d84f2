/// One account as lockout policies count: an account of a domain, or of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The domain, or for a local account the host; lower case.
    pub realm: String,
    /// The user name; lower case.
    pub username: String,
    /// Whether `realm` is a host.
    pub is_local: bool,
}

impl Scope {
    /// Whose failures count together when `domain\username` is shown to `host`.
    ///
    /// No domain, `.`, or the host's own name means an account of that host.
    #[must_use]
    pub fn new(domain: &str, username: &str, host: &str) -> Self {
        let short_name = host.split('.').next().unwrap_or(host);
        let is_local = matches!(domain, "" | ".")
            || domain.eq_ignore_ascii_case(host)
            || (crate::config::address(host).is_none() && domain.eq_ignore_ascii_case(short_name));
        let realm = if is_local { host } else { domain };
        Self { realm: realm.to_lowercase(), username: username.to_lowercase(), is_local }
    }
}
