//! The arguments of a command: declared by a type that derives [`clap::Args`], shown by the program's help, and
//! parsed with the program's own error messages.

use std::error::Error as _;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args};

/// One option or argument, for the program's help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandOption {
    /// Without dashes; empty for positional arguments.
    pub(crate) name: String,
    /// The name of its value; empty if it takes none.
    pub(crate) value_name: String,
    /// One line for people, with the possible values and the default.
    pub(crate) help: String,
    /// Whether the command needs it.
    pub(crate) required: bool,
    /// Whether it may be given more than once.
    pub(crate) repeated: bool,
}

/// The options of `A` for the program's help.
pub(crate) fn options_of<A: Args>() -> Vec<CommandOption> {
    command_of::<A>().get_arguments().map(CommandOption::of).collect()
}

/// Reads `A` from the words after a command's name.
///
/// # Errors
/// What is wrong with the words, in one line.
pub(crate) fn parse<A: Args>(words: &[String]) -> Result<A, String> {
    let mut command = command_of::<A>();
    let matches = command.try_get_matches_from_mut(words).map_err(|error| message_of(&error, &command))?;
    if let Some(empty) = command.get_arguments().find(|argument| has_empty_value(argument, &matches)) {
        return Err(needs_value(empty));
    }
    A::from_arg_matches(&matches).map_err(|error| message_of(&error, &command))
}

fn command_of<A: Args>() -> clap::Command {
    let command = clap::Command::new("command").no_binary_name(true);
    let mut command = A::augment_args(command.disable_help_flag(true).disable_version_flag(true));
    command.build();
    command
}

impl CommandOption {
    fn of(argument: &Arg) -> Self {
        let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let possible = argument.get_possible_values();
        let takes_value = takes_value(argument);
        if takes_value && !possible.is_empty() {
            let told = possible.iter().map(|value| match value.get_help() {
                Some(help) => format!("{} ({help})", value.get_name()),
                None => value.get_name().to_owned(),
            });
            let separator = if help.is_empty() { "" } else { " " };
            help = format!("{help}{separator}{}", any_of(&told.collect::<Vec<_>>()));
        }
        if takes_value && let [default, ..] = argument.get_default_values() {
            help = format!("{help} [default: {}]", default.display());
        }
        Self {
            name: argument.get_long().unwrap_or_default().to_owned(),
            value_name: value_name(argument),
            help,
            required: argument.is_required_set(),
            repeated: matches!(argument.get_action(), ArgAction::Append | ArgAction::Count),
        }
    }
}

/// `a, b or c`
fn any_of(words: &[String]) -> String {
    match words {
        [first @ .., before, last] => {
            first.iter().map(|word| format!("{word}, ")).collect::<String>() + &format!("{before} or {last}")
        }
        [only] => only.clone(),
        [] => String::new(),
    }
}

fn takes_value(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}

fn value_name(argument: &Arg) -> String {
    let name = argument.get_value_names().and_then(|names| names.first());
    name.filter(|_| takes_value(argument)).map(ToString::to_string).unwrap_or_default()
}

fn has_empty_value(argument: &Arg, matches: &ArgMatches) -> bool {
    let id = argument.get_id().as_str();
    let is_empty = || matches.get_raw(id).is_some_and(|mut values| values.any(std::ffi::OsStr::is_empty));
    argument.get_long().is_some() && takes_value(argument) && is_empty()
}

fn needs_value(argument: &Arg) -> String {
    format!("--{} needs a value: {}", argument.get_long().unwrap_or_default(), value_name(argument))
}

/// The error about the words, in this program's wording.
fn message_of(error: &clap::Error, command: &clap::Command) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        Some(ContextValue::Strings(texts)) => texts.first().map_or("", String::as_str),
        _ => "",
    };
    // `--target <HOST>`, or `<PATH>...`
    let shown = text(ContextKind::InvalidArg);
    let name = shown.split([' ', '=']).next().unwrap_or_default();
    let argument = command.get_arguments().find(|argument| match argument.get_long() {
        Some(long) => name.strip_prefix("--") == Some(long),
        None => shown.starts_with(&format!("<{}>", value_name(argument))),
    });
    let value = text(ContextKind::InvalidValue);
    match (error.kind(), argument) {
        (ErrorKind::UnknownArgument, _) if name.starts_with('-') => match text(ContextKind::SuggestedArg) {
            "" => format!("there is no option `{name}`"),
            near => format!("there is no option `{name}`; did you mean `{near}`?"),
        },
        (ErrorKind::UnknownArgument, _) => format!("`{shown}` belongs to no option"),
        (ErrorKind::InvalidValue, Some(argument)) if value.is_empty() => needs_value(argument),
        (ErrorKind::InvalidValue, _) => {
            let valid = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(texts)) => texts.join(", "),
                _ => String::new(),
            };
            format!("{name} `{value}`: write one of {valid}")
        }
        (ErrorKind::ValueValidation, _) => format!("{name} `{value}`: {}", cause_of(error)),
        (ErrorKind::MissingRequiredArgument, Some(argument)) => match argument.get_long() {
            Some(_) => format!("{name} {} is missing", value_name(argument)),
            None => format!("a {} is missing: {}", value_name(argument), CommandOption::of(argument).help),
        },
        (ErrorKind::ArgumentConflict, _) if text(ContextKind::PriorArg) == shown => {
            format!("{name} is listed twice")
        }
        _ => {
            let rendered = error.to_string();
            let line = rendered.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_owned()
        }
    }
}

fn cause_of(error: &clap::Error) -> String {
    match error.source() {
        Some(source) if source.is::<ParseIntError>() => "write a whole number".to_owned(),
        Some(source) => source.to_string(),
        None => "is no value of this option".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
    enum Format {
        /// for reading
        Table,
        Csv,
        /// an object a line
        Json,
    }

    #[derive(Args, Debug, PartialEq, Eq)]
    struct Arguments {
        /// What is shown: '\A\B'
        #[arg(value_name = "PATH", required = true)]
        paths: Vec<String>,
        /// The host
        #[arg(long, value_name = "HOST")]
        target: String,
        /// Only these
        #[arg(long = "counterset", value_name = "PATTERN")]
        patterns: Vec<String>,
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: Format,
        /// Its port
        #[arg(long, value_name = "N")]
        port: Option<u16>,
        /// Says more
        #[arg(long)]
        verbose: bool,
    }

    fn parsed(words: &[&str]) -> Result<Arguments, String> {
        parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_stand_behind_an_option_or_an_equals_sign() {
        let words =
            ["--target=a", "x", "--counterset", "b", "--counterset=c", "--verbose", "--port=7", "--", "--y"];
        let expected = Arguments {
            paths: vec!["x".to_owned(), "--y".to_owned()],
            target: "a".to_owned(),
            patterns: vec!["b".to_owned(), "c".to_owned()],
            format: Format::Table,
            port: Some(7),
            verbose: true,
        };
        assert_eq!(parsed(&words), Ok(expected));
    }

    #[test]
    fn words_that_make_no_sense_are_answered_with_what_would() {
        let error = |words: &[&str]| parsed(&[words, &["--target=t", "p"]].concat()).unwrap_err();
        assert_eq!(error(&["--tarjet=a"]), "there is no option `--tarjet`; did you mean `--target`?");
        assert_eq!(error(&["--x"]), "there is no option `--x`");
        assert_eq!(error(&["--target=b"]), "--target is listed twice");
        assert_eq!(error(&["--format", "xml"]), "--format `xml`: write one of table, csv, json");
        assert_eq!(error(&["--port", "smb"]), "--port `smb`: write a whole number");
        assert_eq!(error(&["--port=65536"]), "--port `65536`: 65536 is not in 0..=65535");
        assert_eq!(error(&["--counterset="]), "--counterset needs a value: PATTERN");
        assert_eq!(parsed(&["p", "--target"]), Err("--target needs a value: HOST".to_owned()));
        assert_eq!(parsed(&["p"]), Err("--target HOST is missing".to_owned()));
        assert_eq!(parsed(&["--target=a"]), Err(r"a PATH is missing: What is shown: '\A\B'".to_owned()));
    }

    #[derive(Args, Debug, PartialEq, Eq)]
    struct Nothing {}

    #[test]
    fn a_word_for_a_command_without_arguments_belongs_to_no_option() {
        assert_eq!(parse::<Nothing>(&["extra".to_owned()]), Err("`extra` belongs to no option".to_owned()));
    }

    #[test]
    fn help_names_possible_values_and_the_default() {
        let options = options_of::<Arguments>();
        let shown: Vec<_> = options
            .iter()
            .map(|option| (option.name.as_str(), option.value_name.as_str(), option.help.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("", "PATH", r"What is shown: '\A\B'"),
                ("target", "HOST", "The host"),
                ("counterset", "PATTERN", "Only these"),
                ("format", "FORMAT", "table (for reading), csv or json (an object a line) [default: table]"),
                ("port", "N", "Its port"),
                ("verbose", "", "Says more"),
            ]
        );
        let required = options.iter().filter(|option| option.required).map(|option| option.name.as_str());
        assert_eq!(required.collect::<Vec<_>>(), ["", "target"]);
        let repeated = options.iter().filter(|option| option.repeated).map(|option| option.name.as_str());
        assert_eq!(repeated.collect::<Vec<_>>(), ["", "counterset"]);
    }
}
