//! `identities:`, and `credentials:`, how their secrets are guarded.

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
    /// `domain`, or what comes before `\` in `username`: empty or `.` for accounts of the host itself.
    pub domain: String,
    /// `username`, without a domain.
    pub username: String,
    pub secret: SecretSource,
    /// `allow_hosts`: the hosts that may get it.
    pub allow_hosts: AllowHosts,
    /// Where the file has it.
    pub position: Position,
}

impl Identity {
    /// Reads its password now. A file that only systemd may read is read as the copy that it has of it, unless another of
    /// `identities` has a file with that name: no identity gets the password of another.
    ///
    /// # Errors
    /// A sentence without the password in it.
    pub fn password(&self, identities: &BTreeMap<String, Self>) -> Result<SecretBytes, String> {
        let SecretSource::File(path) = &self.secret else { return secret::read(&self.secret) };
        let has_same_name = |other: &Self| match &other.secret {
            SecretSource::File(file) => file != path && file.file_name() == path.file_name(),
            SecretSource::Environment(_) => false,
        };
        if identities.values().any(has_same_name) {
            secret::read(&self.secret)
        } else {
            secret::read_password(&self.secret)
        }
    }
}

impl Identity {
    /// The account, and the source of its secret.
    #[must_use]
    pub fn account(&self) -> (&str, &str, &SecretSource) {
        (&self.domain, &self.username, &self.secret)
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

const RESERVED: ReservedKeys =
    &["principal", "keytab_file", "ccache_file", "realm", "kdc", "delegate", "lockout_guard"];
const COOLDOWNS: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(30 * 24 * 3600);

pub(super) fn credentials(item: &Item<'_>, base: &Path) -> Credentials {
    let mut credentials = Credentials::default();
    let Some(mut section) = item.section(&[]) else { return credentials };
    credentials.state_dir = section.file("state_dir", base);
    set(&mut credentials.cooldown, section.duration("cooldown", COOLDOWNS));
    section.finish();
    credentials
}

/// Reads one of `identities:`.
pub(super) fn identity(item: &Item<'_>, base: &Path) -> Option<Identity> {
    let mut section = item.section(RESERVED)?;
    if let Some(kind) = section.require("kind", "write `kind: ntlm`") {
        match kind.text() {
            Some("ntlm") | None => {}
            Some("kerberos") => {
                kind.problem("`kerberos` is not supported yet", Some("use `ntlm`".to_owned()));
            }
            Some(other) => kind.problem(format!("`{other}` is not a choice"), Some("use `ntlm`".to_owned())),
        }
    }
    let domain = section.get("domain").and_then(|item| item.text_or_empty()).unwrap_or_default();
    let username = section.require("username", "name the account");
    let account = username.and_then(|item| account(&item, domain));
    let secret = secret_source(&mut section, base);
    let hint = "list the hosts that may receive this identity's credentials, such as '*.corp.example.com' \
                or 10.0.0.0/8";
    let allow_hosts = section.require("allow_hosts", hint).map(|item| AllowHosts::read(&item));
    let position = section.position;
    section.finish();
    let (domain, username) = account?;
    Some(Identity {
        domain,
        username,
        secret: secret?,
        allow_hosts: allow_hosts.unwrap_or_default(),
        position,
    })
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

fn secret_source(section: &mut Section<'_>, base: &Path) -> Option<SecretSource> {
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
    use super::account_hint;

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
