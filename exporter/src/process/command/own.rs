//! The program's own options, among the words after a command.

use std::path::PathBuf;

use config::{Kerberos, Logon, Secret};
use support::input::secret::SecretSource;

/// What the program itself takes of the words after a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) config: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) principal: Option<String>,
    pub(super) service_principal: Option<String>,
    pub(super) secret: Option<Secret>,
    pub(super) log_level: Option<String>,
    pub(super) wants_help: bool,
}

/// The program's own options: name, name of the value, help.
pub(super) const OWN: [(&str, &str, &str); 9] = [
    (CONFIG, "FILE", "Takes targets, identities and transports from this file"),
    (USERNAME, r"DOMAIN\USER", "Logs on as this account, only at --target; needs no configuration"),
    (PRINCIPAL, "NAME@REALM", "The same by Kerberos"),
    (
        PASSWORD_FILE,
        "FILE",
        "Holds the password of --username or --principal; one trailing newline is dropped",
    ),
    (PASSWORD_ENV, "NAME", "The environment variable that holds that password"),
    (KEYTAB, "FILE", "Holds the keys of --principal"),
    (CCACHE, "NAME", "A credential cache, instead of --principal: a file, or as krb5.conf names it"),
    (
        SERVICE,
        "SPN",
        "What a KDC calls --target, such as host/web1.corp.example.com, where it is given by another name",
    ),
    (LOG_LEVEL, "LEVEL", "The log level on standard error, besides the command's own output [default: off]"),
];

const CONFIG: &str = "config";
const USERNAME: &str = "username";
const PRINCIPAL: &str = "principal";
const KEYTAB: &str = "keytab";
const CCACHE: &str = "ccache";
const SERVICE: &str = "service-principal";
const PASSWORD_FILE: &str = "password-file";
const PASSWORD_ENV: &str = "password-env";
const LOG_LEVEL: &str = "log.level";

/// Takes the program's own options out of `words`; what is left is the command's.
pub(super) fn split(words: Vec<String>) -> Result<(Own, Vec<String>), String> {
    let (mut own, mut rest) = (Own::default(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            rest.push(word);
            rest.extend(words);
            break;
        }
        let (name, given) = match word.strip_prefix("--").map(|name| name.split_once('=')) {
            Some(Some((name, value))) => (name, Some(value.to_owned())),
            Some(None) => (&word[2..], None),
            None => ("", None),
        };
        if name == "help" || word == "-h" {
            own.wants_help = true;
        } else if OWN.iter().any(|(known, ..)| *known == name) {
            let value = given.or_else(|| words.next()).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| format!("--{name} needs a value"))?;
            own.take(name, value)?;
        } else {
            rest.push(word);
        }
    }
    Ok((own, rest))
}

impl Own {
    fn take(&mut self, name: &str, value: String) -> Result<(), String> {
        let twice = |was_set: bool| if was_set { Err(format!("--{name} is given twice")) } else { Ok(()) };
        match name {
            CONFIG => twice(self.config.replace(value.into()).is_some()),
            USERNAME => twice(self.username.replace(value).is_some()),
            LOG_LEVEL => twice(self.log_level.replace(value).is_some()),
            PRINCIPAL => twice(self.principal.replace(value).is_some()),
            PASSWORD_FILE => self.take_secret(Secret::Password(SecretSource::File(value.into()))),
            SERVICE => twice(self.service_principal.replace(value).is_some()),
            KEYTAB => self.take_secret(Secret::Keytab(value.into())),
            CCACHE => self.take_secret(Secret::Cache(value)),
            _ => self.take_secret(Secret::Password(SecretSource::Environment(value))),
        }
    }

    fn take_secret(&mut self, secret: Secret) -> Result<(), String> {
        match self.secret.replace(secret) {
            None => Ok(()),
            Some(_) => {
                Err("give one of --password-file, --password-env, --keytab and --ccache, once".to_owned())
            }
        }
    }

    /// The account, where the command line has one.
    pub(super) fn account(&self) -> Result<Option<Account>, String> {
        let said = |message: &str| Err(message.to_owned());
        let kerberos = Logon::Kerberos(Kerberos {
            ntlm_fallback: false,
            kdc: Vec::new(),
            krb5_conf: None,
            allow_rc4: false,
        });
        let (logon, name, secret) = match (&self.username, &self.principal, self.secret.clone()) {
            (None, None, None) => return Ok(None),
            (Some(_), Some(_), _) => return said("give one of --username and --principal"),
            (Some(name), None, Some(secret @ Secret::Password(_))) => (Logon::Ntlm, name, secret),
            (Some(_), None, Some(_)) => {
                return said("--username is for NTLM: write --principal NAME@REALM with a keytab or a cache");
            }
            (Some(_), None, None) => return said("--username needs --password-file or --password-env"),
            (None, Some(name), Some(secret)) => (kerberos, name, secret),
            (None, Some(_), None) => {
                return said("--principal needs --keytab, --ccache, --password-file or --password-env");
            }
            (None, None, Some(Secret::Cache(name))) => {
                let (domain, username) = (String::new(), String::new());
                let shown = name.clone();
                return Ok(Some(Account {
                    shown,
                    logon: kerberos,
                    domain,
                    username,
                    secret: Secret::Cache(name),
                }));
            }
            (None, None, Some(Secret::Keytab(_))) => return said("--keytab needs --principal NAME@REALM"),
            (None, None, Some(Secret::Password(_))) => {
                return said("a password needs --username 'DOMAIN\\USER' or --principal NAME@REALM");
            }
        };
        let (domain, username) = match logon {
            Logon::Ntlm => match config::account_hint(name) {
                Some(hint) => return Err(format!("--username: `{name}` is not a valid account; {hint}")),
                None => name.split_once('\\').unwrap_or(("", name)),
            },
            Logon::Kerberos(_) => match name.rsplit_once('@') {
                Some((user, realm)) if !user.is_empty() && !realm.is_empty() => (realm, user),
                _ => return Err(format!("--principal: `{name}` is not a principal; write NAME@REALM")),
            },
        };
        let (domain, username) = (domain.to_owned(), username.to_owned());
        Ok(Some(Account { shown: name.clone(), logon, domain, username, secret }))
    }
}

/// An account of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// As it was written: the name of its identity.
    pub(super) shown: String,
    pub(super) logon: Logon,
    pub(super) domain: String,
    pub(super) username: String,
    pub(super) secret: Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_words(words: &[&str]) -> Result<(Own, Vec<String>), String> {
        split(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn the_programs_own_options_are_taken_out_wherever_they_stand() {
        let words =
            ["discover", "--config=a.yml", "--target", "web1", "--log.level", "debug", "--", "--help"];
        let (own, rest) = split_words(&words).unwrap();
        let expected =
            Own { config: Some("a.yml".into()), log_level: Some("debug".to_owned()), ..Own::default() };
        assert_eq!(own, expected);
        assert_eq!(rest, ["discover", "--target", "web1", "--", "--help"]);
    }

    #[test]
    fn an_account_is_whole_or_not_there() {
        let account = |words: &[&str]| {
            let (own, _) = split_words(words)?;
            own.account().map(|account| account.is_some())
        };
        assert_eq!(account(&["--username", "a", "--password-env", "B"]), Ok(true));
        assert_eq!(account(&[]), Ok(false));
        assert!(account(&["--username", "a"]).is_err());
        assert!(account(&["--password-file", "a"]).is_err());
        assert!(account(&["--password-file", "a", "--password-env", "b"]).is_err());
        assert!(account(&["--username", "a", "--username", "b"]).is_err());
    }

    #[test]
    fn an_account_of_kerberos_has_a_realm_and_one_secret() {
        let account = |words: &[&str]| split_words(words).and_then(|(own, _)| own.account());
        for (secret, value) in
            [("--keytab", "k"), ("--ccache", "c"), ("--password-file", "f"), ("--password-env", "P")]
        {
            let found = account(&["--principal", "svc/a@CORP.EXAMPLE", secret, value]).unwrap().unwrap();
            assert_eq!(
                (found.username.as_str(), found.domain.as_str()),
                ("svc/a", "CORP.EXAMPLE"),
                "{secret}"
            );
            assert!(matches!(found.logon, Logon::Kerberos(_)), "{secret}");
        }
        // A cache says whose it is.
        let found = account(&["--ccache", "FILE:/run/c"]).unwrap().unwrap();
        assert_eq!((found.username.as_str(), found.secret), ("", Secret::Cache("FILE:/run/c".to_owned())));
        for wrong in [
            &["--principal", "svc@CORP"][..],
            &["--principal", "svc", "--keytab", "k"],
            &["--principal", "@CORP", "--keytab", "k"],
            &["--principal", "svc@CORP", "--username", "svc", "--keytab", "k"],
            &["--principal", "svc@CORP", "--keytab", "k", "--ccache", "c"],
            &["--username", "svc", "--keytab", "k"],
            &["--keytab", "k"],
        ] {
            assert!(account(wrong).is_err(), "{wrong:?}");
        }
    }
}
