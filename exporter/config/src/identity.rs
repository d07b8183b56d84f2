//! `identities:`, and `credentials:`, how their secrets are guarded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use support::input::secret::{self, SecretBytes, SecretSource};

use super::hosts::AllowHosts;
use super::item::Item;
use super::node::Position;
use super::section::{ReservedKeys, Section, set};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub logon: Logon,
    /// `domain`, or what comes before `\` in `username`: empty or `.` for accounts of the host itself. For Kerberos the
    /// `realm`, or what comes after `@` in `principal`.
    pub domain: String,
    /// `username` or `principal`, without domain and realm. Empty where a cache of tickets says it.
    pub username: String,
    pub secret: Secret,
    /// `allow_hosts`: the hosts that may get it.
    pub allow_hosts: AllowHosts,
    /// Where the file has it.
    pub position: Position,
}

/// `kind`: how an identity logs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logon {
    Ntlm,
    Kerberos(Kerberos),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kerberos {
    /// `kind: negotiate` with `ntlm_fallback`: NTLM where Kerberos is not possible. Otherwise never.
    pub ntlm_fallback: bool,
    /// `kdc`: of the realm, as `HOST` or `HOST:PORT`. If empty, krb5.conf and DNS say it.
    pub kdc: Vec<String>,
    /// `krb5_conf`: read before that of the system.
    pub krb5_conf: Option<PathBuf>,
    /// `allow_rc4`: hosts without AES are taken, too.
    pub allow_rc4: bool,
}

/// What proves an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    Password(SecretSource),
    /// `keytab_file`: the account's keys.
    Keytab(PathBuf),
    /// `ccache`: a credential cache that somebody else renews, as krb5.conf names it: `FILE:/run/cache`, `KCM:`.
    Cache(String),
}

impl Secret {
    /// The file that holds it, if it is one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Password(SecretSource::File(path)) | Self::Keytab(path) => Some(path),
            Self::Password(SecretSource::Environment(_)) => None,
            Self::Cache(name) => match name.split_once(':') {
                Some(("FILE", path)) => Some(Path::new(path)),
                Some(_) => None,
                None => Some(Path::new(name)),
            },
        }
    }

    /// The key of the file.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Password(SecretSource::File(_)) => "password_file",
            Self::Password(SecretSource::Environment(_)) => "password_env",
            Self::Keytab(_) => "keytab_file",
            Self::Cache(_) => "ccache",
        }
    }

    /// Whether it is in another file than `path` whose last part is the same.
    fn is_another_of_that_name(&self, path: &Path) -> bool {
        match self {
            Self::Password(SecretSource::File(file)) | Self::Keytab(file) => {
                file != path && file.file_name() == path.file_name()
            }
            Self::Password(SecretSource::Environment(_)) | Self::Cache(_) => false,
        }
    }
}

impl Identity {
    /// What is shown to hosts or a KDC, read now: the password, or the keytab. A cache of tickets holds nothing that could be
    /// refused, and is nothing here.
    ///
    /// # Errors
    /// A sentence without the secret in it.
    pub fn read_secret(&self, identities: &BTreeMap<String, Self>) -> Result<SecretBytes, String> {
        match &self.secret {
            Secret::Password(SecretSource::File(path)) => {
                secret::read_password(path, &self.readable(path, identities))
            }
            Secret::Password(source @ SecretSource::Environment(_)) => secret::read(source),
            Secret::Keytab(path) => secret::read_keytab(path, &self.readable(path, identities)),
            Secret::Cache(_) => Ok(SecretBytes::default()),
        }
    }

    /// Where the secret of a file is read. A file that only systemd may read is read as the copy that it has of it, unless
    /// another of `identities` has a file with that name: no identity gets the secret of another.
    #[must_use]
    pub fn readable<'a>(&self, path: &'a Path, identities: &BTreeMap<String, Self>) -> Cow<'a, Path> {
        let is_of_another = identities.values().any(|other| other.secret.is_another_of_that_name(path));
        if is_of_another { Cow::Borrowed(path) } else { secret::readable(path) }
    }

    /// How it logs on, the account, and the source of its secret.
    #[must_use]
    pub fn account(&self) -> (&Logon, &str, &str, &Secret) {
        (&self.logon, &self.domain, &self.username, &self.secret)
    }

    /// The account as Windows writes it, or the principal.
    #[must_use]
    pub fn account_name(&self) -> String {
        match (&self.logon, self.domain.as_str(), &self.username) {
            (_, "", name) => name.clone(),
            (Logon::Ntlm, domain, name) => format!("{domain}\\{name}"),
            (Logon::Kerberos(_), realm, name) => format!("{name}@{realm}"),
        }
    }

    #[must_use]
    pub const fn kerberos(&self) -> Option<&Kerberos> {
        match &self.logon {
            Logon::Ntlm => None,
            Logon::Kerberos(kerberos) => Some(kerberos),
        }
    }

    /// The word for its kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.logon {
            Logon::Ntlm => "ntlm",
            Logon::Kerberos(Kerberos { ntlm_fallback: true, .. }) => "negotiate",
            Logon::Kerberos(_) => "kerberos",
        }
    }

    /// Why it cannot log on to `host` at all, and what to do about it: a KDC knows services by names alone.
    #[must_use]
    pub fn refusal_of_address(
        &self,
        host: &str,
        service_principal: Option<&str>,
    ) -> Option<(String, String)> {
        let never = self.kerberos().is_some_and(|kerberos| !kerberos.ntlm_fallback);
        if !never || service_principal.is_some() || super::address(host).is_none() {
            return None;
        }
        let message = format!("`{host}` is an address, and a KDC knows hosts by their names alone");
        let hint = "name the host as in its domain, or set `service_principal: host/NAME` at the target";
        Some((message, hint.to_owned()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// `state_dir`: where verdicts on secrets are kept over a restart. Default: nowhere, a restart tries once more.
    pub state_dir: Option<PathBuf>,
    /// `cooldown`: a refused secret is tried once more after it. Default 1 h.
    pub cooldown: Duration,
}

impl Default for Credentials {
    fn default() -> Self {
        Self { state_dir: None, cooldown: Duration::from_secs(3600) }
    }
}

const RESERVED: ReservedKeys = &["delegate", "lockout_guard"];
/// KDCs of an identity.
const KDCS_MAX: usize = 16;
const COOLDOWNS: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(30 * 24 * 3600);

pub(super) fn credentials(item: &Item<'_>, base: &Path) -> Credentials {
    let mut credentials = Credentials::default();
    let Some(mut section) = item.section(&[]) else { return credentials };
    credentials.state_dir = section.file("state_dir", base);
    set(&mut credentials.cooldown, section.duration("cooldown", COOLDOWNS));
    section.finish();
    credentials
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ntlm,
    Kerberos,
    Negotiate,
}

/// Reads one of `identities:`.
pub(super) fn identity(item: &Item<'_>, base: &Path) -> Option<Identity> {
    let mut section = item.section(RESERVED)?;
    let words = [("ntlm", Kind::Ntlm), ("kerberos", Kind::Kerberos), ("negotiate", Kind::Negotiate)];
    let kind = section.require("kind", "write `kind: ntlm` or `kind: kerberos`");
    let kind = kind.and_then(|kind| kind.choice(&words)).unwrap_or(Kind::Ntlm);
    let read = if kind == Kind::Ntlm {
        let domain = section.get("domain").and_then(|item| item.text_or_empty()).unwrap_or_default();
        let username = section.require("username", "name the account");
        let account = username.and_then(|item| account(&item, domain));
        foreign(
            &mut section,
            &KEYS_OF_KERBEROS,
            "belongs to `kind: kerberos`",
            "remove it, or change `kind`",
        );
        password(&mut section, base).map(Secret::Password).zip(account).map(|read| (Logon::Ntlm, read))
    } else {
        kerberos(&mut section, kind, base)
    };
    let hint = "list the hosts that may receive this identity's credentials, such as '*.corp.example.com' \
                or 10.0.0.0/8";
    let allow_hosts = section.require("allow_hosts", hint).map(|item| AllowHosts::read(&item));
    let position = section.position;
    section.finish();
    let (logon, (secret, (domain, username))) = read?;
    Some(Identity { logon, domain, username, secret, allow_hosts: allow_hosts.unwrap_or_default(), position })
}

const KEYS_OF_KERBEROS: [&str; 8] =
    ["principal", "realm", "keytab_file", "ccache", "kdc", "krb5_conf", "ntlm_fallback", "allow_rc4"];

/// Reports keys that another kind has.
fn foreign(section: &mut Section<'_>, keys: &[&'static str], message: &str, hint: &str) {
    for key in keys {
        if let Some(item) = section.get(key) {
            item.problem(message, Some(hint.to_owned()));
        }
    }
}

/// How it logs on; secret and account.
type Read = (Logon, (Secret, (String, String)));

fn kerberos(section: &mut Section<'_>, kind: Kind, base: &Path) -> Option<Read> {
    let has_username = section.get("username").is_some();
    let hint = "write `principal: NAME@REALM`";
    foreign(section, &["username", "domain"], "belongs to `kind: ntlm`", hint);
    let secret = secret_of_kerberos(section, base);
    let principal = section.get("principal");
    let realm_item = section.get("realm");
    let realm = realm_item.as_ref().and_then(Item::text).unwrap_or_default();
    let account = match (&principal, &secret) {
        (Some(item), _) => item.text().and_then(|text| of_principal(item, text, realm)),
        (None, Some(Secret::Cache(_))) => Some((realm.to_owned(), String::new())),
        (None, _) if has_username => None,
        (None, _) => {
            let hint = Some(hint.to_owned());
            section.problems.push_hint(section.position, &section.path, "`principal` is missing", hint);
            None
        }
    };
    let kdc = section.get("kdc").map(|item| kdcs(&item, account.as_ref())).unwrap_or_default();
    let krb5_conf = section.file("krb5_conf", base);
    let ntlm_fallback = section.get("ntlm_fallback");
    let is_wanted = ntlm_fallback.as_ref().and_then(Item::flag).unwrap_or(false);
    if let Some(item) = ntlm_fallback.as_ref().filter(|_| is_wanted) {
        if kind == Kind::Kerberos {
            item.problem("`kind: kerberos` never uses NTLM", Some("write `kind: negotiate`".to_owned()));
        } else if secret.as_ref().is_some_and(|secret| !matches!(secret, Secret::Password(_))) {
            let hint = Some("use `password_file`, or remove `ntlm_fallback`".to_owned());
            item.problem("NTLM needs the password", hint);
        }
    }
    let allow_rc4 = section.flag("allow_rc4").unwrap_or(false);
    let logon = Logon::Kerberos(Kerberos { ntlm_fallback: is_wanted, kdc, krb5_conf, allow_rc4 });
    Some((logon, (secret?, account?)))
}

/// Realm and name of a principal.
fn of_principal(item: &Item<'_>, text: &str, realm: &str) -> Option<(String, String)> {
    let (name, of_name) = text.rsplit_once('@').unwrap_or((text, ""));
    let problem = |message: String, hint: &str| item.problem(message, Some(hint.to_owned()));
    if name.is_empty() || text.contains('\\') || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        problem(format!("`{text}` is not a principal"), "write `NAME@REALM`, the realm in capitals");
        return None;
    }
    if !realm.is_empty() && !of_name.is_empty() && realm != of_name {
        problem(format!("is of realm `{of_name}`, and `realm` says `{realm}`"), "keep one of them");
    }
    let realm = if of_name.is_empty() { realm } else { of_name };
    if realm.is_empty() {
        problem("has no realm".to_owned(), "write `NAME@REALM`, or `realm: REALM`");
        return None;
    }
    // The realms of Windows are in capitals, and a KDC of MIT's takes no other spelling.
    if realm.chars().any(char::is_lowercase) && realm.contains('.') {
        let capitals = realm.to_uppercase();
        problem(format!("realm `{realm}` is not in capitals"), &format!("write `{name}@{capitals}`"));
    }
    Some((realm.to_owned(), name.to_owned()))
}

/// One KDC, or a list of them.
fn kdcs(item: &Item<'_>, account: Option<&(String, String)>) -> Vec<String> {
    let all = item.text_or_texts();
    for kdc in &all {
        let is_word = kdc.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c));
        if !is_word || kdc.is_empty() {
            item.problem(format!("`{kdc}` is not a host"), Some("write `HOST` or `HOST:PORT`".to_owned()));
        }
    }
    if all.len() > KDCS_MAX {
        item.problem(format!("more than {KDCS_MAX} KDCs"), Some("leave the nearest".to_owned()));
    }
    if account.is_some_and(|(realm, _)| realm.is_empty()) {
        item.problem("is of no realm", Some("write `realm: REALM`".to_owned()));
    }
    all
}

/// A file of a cache starts at the folder of the configuration, as others do.
fn cache_name(name: &str, base: &Path) -> String {
    match name.split_once(':') {
        None => base.join(name).display().to_string(),
        Some(("FILE", path)) => format!("FILE:{}", base.join(path).display()),
        Some(_) => name.to_owned(),
    }
}

fn secret_of_kerberos(section: &mut Section<'_>, base: &Path) -> Option<Secret> {
    let keytab = section.get("keytab_file");
    let cache = section.get("ccache");
    let has_password =
        ["password", "password_file", "password_env"].map(|key| section.get(key).is_some()).contains(&true);
    match (keytab, cache, has_password) {
        (Some(keytab), None, false) => keytab.file(base).map(Secret::Keytab),
        (None, Some(cache), false) => cache.text().map(|name| Secret::Cache(cache_name(name, base))),
        (None, None, true) => password(section, base).map(Secret::Password),
        (None, None, false) => {
            let hint = Some("name the account's keytab, or write `password_file`, or `ccache`".to_owned());
            let message = "`keytab_file` is missing";
            section.problems.push_hint(section.position, &section.path, message, hint);
            None
        }
        (Some(item), _, _) | (None, Some(item), _) => {
            let hint = Some("keep one of `password_file`, `keytab_file` and `ccache`".to_owned());
            item.problem("another secret is also set", hint);
            None
        }
    }
}

/// What to write in place of a text that is no account; nothing if it is one. A host would refuse it as a wrong user name.
#[must_use]
pub fn account_hint(text: &str) -> Option<String> {
    let trimmed = text.trim();
    let (domain, user) = trimmed.split_once(['\\', '/']).unwrap_or(("", trimmed));
    // The names of accounts have neither; those of users at a domain (`user@corp.example`) may have a slash.
    let has_other = |text: &str| text.contains(['\\', '/']);
    let user = user.trim_start_matches(['\\', '/']);
    if trimmed.contains('@') && !trimmed.contains('\\') && trimmed == text {
        return None;
    }
    if domain.is_empty() == trimmed.contains(['\\', '/'])
        || user.is_empty()
        || has_other(domain)
        || has_other(user)
    {
        return Some(r"write `DOMAIN\USER`, or `domain: DOMAIN` and `username: USER`".to_owned());
    }
    let meant = if domain.is_empty() { user.to_owned() } else { format!(r"{domain}\{user}") };
    (meant != text).then(|| format!("write `{meant}`"))
}

/// Domain and name of the account, which may be written as Windows does: `DOMAIN\USER`.
fn account(username: &Item<'_>, domain: &str) -> Option<(String, String)> {
    let text = username.text()?;
    if let Some(hint) = account_hint(text) {
        username.problem(format!("`{text}` is not a valid account"), Some(hint));
        // The rest of the file is read all the same.
        return Some((domain.to_owned(), text.to_owned()));
    }
    let Some((prefix, user)) = text.split_once('\\') else {
        return Some((domain.to_owned(), text.to_owned()));
    };
    if !domain.is_empty() && !domain.eq_ignore_ascii_case(prefix) {
        let hint = format!("write `username: {user}`, or correct `domain`");
        username.problem(format!("is of domain `{prefix}`, and `domain` says `{domain}`"), Some(hint));
    }
    // What is wrong was reported: the rest of the file is read all the same.
    Some((prefix.to_owned(), user.to_owned()))
}

fn password(section: &mut Section<'_>, base: &Path) -> Option<SecretSource> {
    if let Some(literal) = section.get("password") {
        let hint = "put it into a file and name that in `password_file`, or use `password_env`".to_owned();
        literal.problem("a secret must not be in the configuration", Some(hint));
        // One problem is enough; the right keys are marked as known all the same.
        section.get("password_file");
        section.get("password_env");
        return None;
    }
    let file = section.get("password_file");
    let env = section.get("password_env");
    match (file, env) {
        (Some(_), Some(env)) => {
            env.problem("`password_file` is also set", Some("keep one of them".to_owned()));
            None
        }
        (Some(file), None) => file.file(base).map(SecretSource::File),
        (None, Some(env)) => env.text().map(|name| SecretSource::Environment(name.to_owned())),
        (None, None) => {
            let hint = Some("name a file that holds the password, or use `password_env`".to_owned());
            section.problems.push_hint(section.position, &section.path, "`password_file` is missing", hint);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Secret, SecretSource, account_hint};

    /// The copy that systemd has is known by its last part alone.
    #[test]
    fn a_secret_of_another_folder_with_the_same_name_is_another_whatever_it_is() {
        let file = |path: &str| Secret::Password(SecretSource::File(PathBuf::from(path)));
        for (secret, expected) in [
            (file("/a/secret"), false),
            (file("/b/secret"), true),
            (file("/b/other"), false),
            (Secret::Keytab("/b/secret".into()), true),
            (Secret::Keytab("/a/secret".into()), false),
            (Secret::Password(SecretSource::Environment("secret".to_owned())), false),
            (Secret::Cache("FILE:/b/secret".to_owned()), false),
        ] {
            assert_eq!(secret.is_another_of_that_name(Path::new("/a/secret")), expected, "{secret:?}");
        }
    }

    #[test]
    fn an_account_is_written_as_windows_does_and_whatever_else_people_write_is_told_so() {
        for good in [
            "metrics",
            r"SIM\metrics",
            r".\metrics",
            "metrics@corp.example",
            "a/b@corp.example",
            "svc metrics",
            "müller$",
        ] {
            assert_eq!(account_hint(good), None, "{good}");
        }
        for (text, meant) in [
            ("SIM/metrics", r"SIM\metrics"),
            (r"SIM\\metrics", r"SIM\metrics"),
            ("SIM//metrics", r"SIM\metrics"),
            (r"SIM\metrics ", r"SIM\metrics"),
            (" metrics", "metrics"),
            ("metrics@corp.example ", "metrics@corp.example"),
        ] {
            assert_eq!(account_hint(text), Some(format!("write `{meant}`")), "{text}");
        }
        for text in ["", r"\metrics", r"SIM\", r"A\B\c", "/metrics"] {
            assert!(account_hint(text).unwrap().contains("`username: USER`"), "{text}");
        }
    }
}
