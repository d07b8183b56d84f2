//! The program's own options, among the words after a command.

use std::path::PathBuf;

use support::input::secret::SecretSource;

/// What the program itself takes of the words after a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) config: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) secret: Option<SecretSource>,
    pub(super) log_level: Option<String>,
    pub(super) wants_help: bool,
}

/// The program's own options: name, name of the value, help.
pub(super) const OWN: [(&str, &str, &str); 5] = [
    (CONFIG, "FILE", "Takes targets, identities and transports from this file"),
    (USERNAME, r"DOMAIN\USER", "Logs on as this account, only at --target; needs no configuration"),
    (PASSWORD_FILE, "FILE", "Holds the password of --username; one trailing newline is dropped"),
    (PASSWORD_ENV, "NAME", "The environment variable that holds the password of --username"),
    (LOG_LEVEL, "LEVEL", "The log level on standard error, besides the command's own output [default: off]"),
];

const CONFIG: &str = "config";
const USERNAME: &str = "username";
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
            PASSWORD_FILE => self.take_secret(SecretSource::File(value.into())),
            _ => self.take_secret(SecretSource::Environment(value)),
        }
    }

    fn take_secret(&mut self, secret: SecretSource) -> Result<(), String> {
        match self.secret.replace(secret) {
            None => Ok(()),
            Some(_) => Err("give one of --password-file and --password-env, once".to_owned()),
        }
    }

    /// Account and password where the command line has them.
    pub(super) fn account(&self) -> Result<Option<(&str, &SecretSource)>, String> {
        match (&self.username, &self.secret) {
            (Some(username), Some(secret)) => Ok(Some((username, secret))),
            (None, None) => Ok(None),
            (Some(_), None) => Err("--username needs --password-file or --password-env".to_owned()),
            (None, Some(_)) => Err("a password needs --username 'DOMAIN\\USER'".to_owned()),
        }
    }
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
}
