use super::Host;

/// One account as lockout policies count: an account of a domain, or of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The domain. For an account of a host itself the address that was reached, so that the spelling of the host does not
    /// matter, or the name where no address is known. Lower case.
    pub realm: String,
    /// The user name; lower case.
    pub username: String,
    /// Whether the account is the host's own.
    pub is_local: bool,
}

impl Scope {
    /// Whose failures count together when `domain\username` is shown to `host`.
    ///
    /// No domain, `.`, or the host's own name means an account of that host.
    #[must_use]
    pub fn new(domain: &str, username: &str, host: &Host) -> Self {
        let is_any_host = Self::is_of_any_host(domain);
        let short_name = host.name().split('.').next().unwrap_or_default();
        let is_named = config::address(host.name()).is_none()
            && (domain.eq_ignore_ascii_case(host.name()) || domain.eq_ignore_ascii_case(short_name));
        let realm = match host.address() {
            Some(address) if is_any_host => address.to_string(),
            None if is_any_host => host.name().to_owned(),
            _ => domain.to_lowercase(),
        };
        Self { realm, username: username.to_lowercase(), is_local: is_any_host || is_named }
    }

    /// Whether an account with this domain is local to each host.
    #[must_use]
    pub fn is_of_any_host(domain: &str) -> bool {
        matches!(domain, "" | ".")
    }

    /// Whether this may be the account `domain\username`.
    #[must_use]
    pub fn may_be(&self, domain: &str, username: &str) -> bool {
        let is_realm =
            if Self::is_of_any_host(domain) { self.is_local } else { self.realm == domain.to_lowercase() };
        is_realm && self.username == username.to_lowercase()
    }
}
