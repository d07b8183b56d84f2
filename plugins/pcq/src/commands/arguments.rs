use std::time::Duration;

use host_session::Target;
use plugin_sdk::CommandOption;
use plugin_session::Encryption;
use plugin_session::command::HostAccess;

/// The words of a command, sorted by its declared options.
#[derive(Debug)]
pub(super) struct Arguments {
    values: Vec<(&'static str, String)>,
    positional: Vec<String>,
}

/// Options that say which host, and as whom; the exporter fills in what its configuration knows.
pub(super) const TARGET: CommandOption =
    option("target", "HOST", "The host, or a target of the configuration by its name", true);
pub(super) const IDENTITY: CommandOption = option(
    "identity",
    "NAME",
    "Who logs on: one of the configuration's identities [default: the target's, or the only one allowed]",
    false,
);
pub(super) const PORT: CommandOption = option("port", "N", "The port of SMB [default: 445]", false);
pub(super) const CONNECT_TIMEOUT: CommandOption =
    option("connect-timeout", "TIME", "What name look-up and TCP may take each [default: 3s]", false);
pub(super) const SMB_ENCRYPTION: CommandOption =
    option("smb-encryption", "MODE", "disabled, preferred or required [default: preferred]", false);

/// A declared option.
pub(super) const fn option(
    name: &'static str,
    value_name: &'static str,
    help: &'static str,
    required: bool,
) -> CommandOption {
    CommandOption { name, value_name, help, required, repeated: false }
}

impl Arguments {
    /// Sorts `words`.
    ///
    /// # Errors
    /// When an option is unknown, lacks its value, is missing, or is there too often.
    pub(super) fn parse(words: &[String], options: &'static [CommandOption]) -> Result<Self, String> {
        let mut arguments = Self { values: Vec::new(), positional: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                arguments.positional.extend(words.cloned());
                break;
            }
            let Some(named) = word.strip_prefix("--") else {
                arguments.positional.push(word.clone());
                continue;
            };
            let (name, given) = match named.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (named, None),
            };
            let Some(option) = options.iter().find(|option| option.name == name && !name.is_empty()) else {
                let nearest = counters::nearest(name, options.iter().map(|option| option.name));
                let hint = nearest.map(|name| format!("; did you mean `--{name}`?")).unwrap_or_default();
                return Err(format!("there is no option `--{name}`{hint}"));
            };
            let value = given.map(str::to_owned).or_else(|| words.next().cloned());
            let value = value.filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| format!("--{name} needs a value: {}", option.value_name))?;
            if !option.repeated && arguments.text(option.name).is_some() {
                return Err(format!("--{name} is here twice"));
            }
            arguments.values.push((option.name, value));
        }
        arguments.check(options)?;
        Ok(arguments)
    }

    fn check(&self, options: &'static [CommandOption]) -> Result<(), String> {
        let takes_positional = options.iter().any(|option| option.name.is_empty());
        if let (false, Some(word)) = (takes_positional, self.positional.first()) {
            return Err(format!("`{word}` belongs to no option"));
        }
        let is_missing = |option: &&CommandOption| {
            option.required
                && if option.name.is_empty() {
                    self.positional.is_empty()
                } else {
                    self.text(option.name).is_none()
                }
        };
        match options.iter().find(is_missing) {
            None => Ok(()),
            Some(option) if option.name.is_empty() => {
                Err(format!("a {} is missing: {}", option.value_name, option.help))
            }
            Some(option) => Err(format!("--{} {} is missing", option.name, option.value_name)),
        }
    }

    /// The value of an option.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The values of an option that may be repeated.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Reads `--target`, `--identity` and how to get there.
    ///
    /// # Errors
    /// When they make no sense.
    pub(super) fn access(&self) -> Result<HostAccess, String> {
        let host = self.text("target").unwrap_or_default();
        let identity = self.text("identity").ok_or("--identity NAME is missing")?;
        let port = self.number("port")?.unwrap_or(SMB_PORT);
        let timeout = self.duration("connect-timeout")?.unwrap_or(CONNECT_TIMEOUT_DEFAULT);
        let modes = [
            ("disabled", Encryption::Disabled),
            ("preferred", Encryption::Preferred),
            ("required", Encryption::Required),
        ];
        let encryption = self.choice("smb-encryption", &modes)?.unwrap_or_default();
        Ok(HostAccess::new(Target::new(host, port), identity.to_owned(), timeout, encryption))
    }

    /// What belongs to no option.
    pub(super) fn positional(&self) -> &[String] {
        &self.positional
    }

    /// A number.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let parse =
            |text: &str| text.parse().map_err(|_error| format!("--{name} `{text}`: write a whole number"));
        self.text(name).map(parse).transpose()
    }

    /// A time such as `500ms`, `1s` or `1m`.
    ///
    /// # Errors
    /// When it is none, or zero.
    pub(super) fn duration(&self, name: &str) -> Result<Option<Duration>, String> {
        let parse = |text: &str| {
            // The exporter writes `1m 30s` for what nobody would write as one number.
            let parts: Option<Vec<Duration>> = text.split_whitespace().map(duration).collect();
            let sum = parts.map(|parts| parts.iter().sum()).filter(|sum: &Duration| !sum.is_zero());
            sum.ok_or_else(|| format!("--{name} `{text}`: write a time such as `500ms`, `1s` or `1m`"))
        };
        self.text(name).map(parse).transpose()
    }

    /// One of a few words.
    ///
    /// # Errors
    /// When it is another one.
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let found = choices.iter().find(|(word, _)| *word == text);
        let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found
            .map(|(_, value)| Some(*value))
            .ok_or_else(|| format!("--{name} `{text}`: write one of {}", words()))
    }
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok().filter(|time| *time <= DURATION_MAX)
}

const SMB_PORT: u16 = 445;
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(3);
/// Longer than anybody waits.
const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    static OPTIONS: &[CommandOption] = &[
        TARGET,
        CommandOption { repeated: true, ..option("counterset", "PATTERN", "", false) },
        option("interval", "TIME", "", false),
        CommandOption { repeated: true, ..option("", "PATH", "", false) },
    ];

    fn parse(words: &[&str]) -> Result<Arguments, String> {
        Arguments::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), OPTIONS)
    }

    #[test]
    fn values_stand_behind_an_option_or_an_equals_sign() {
        let arguments =
            parse(&["--target=a", "x", "--counterset", "b", "--counterset=c", "--", "--y"]).unwrap();
        assert_eq!(arguments.text("target"), Some("a"));
        assert_eq!(arguments.all("counterset").collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(arguments.positional(), ["x", "--y"]);
    }

    #[test]
    fn a_word_that_makes_no_sense_is_told_with_what_would() {
        let error = |words: &[&str]| parse(words).unwrap_err();
        assert_eq!(error(&["--tarjet", "a"]), "there is no option `--tarjet`; did you mean `--target`?");
        assert_eq!(error(&["--target"]), "--target needs a value: HOST");
        assert_eq!(error(&[]), "--target HOST is missing");
        assert_eq!(error(&["--target=a", "--target=b"]), "--target is here twice");
    }

    #[test]
    fn times_have_units() {
        let time = |text: &str| parse(&["--target=a", "--interval", text]).unwrap().duration("interval");
        assert_eq!(time("250ms"), Ok(Some(Duration::from_millis(250))));
        assert_eq!(time("1m 30s"), Ok(Some(Duration::from_secs(90))));
        assert_eq!(time("2"), Ok(Some(Duration::from_secs(2))));
        for text in ["0s", "-1s", "soon", "1e99s", "99999h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
