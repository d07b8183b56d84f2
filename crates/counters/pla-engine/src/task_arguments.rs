//! The arguments of an alert's task, with what stands for its placeholders.

use std::str::FromStr;

/// [MS-PLA] 3.2.4.8.11, 3.2.4.1.38: the arguments of the task that an alert or the end of a set starts, with variables in braces.
///
/// They are split into words first, as a command line is: blanks separate, quotation marks keep blanks. Variables are
/// inserted after that, so that no value adds a word, whatever it contains. An unknown variable stays as it is. No shell
/// reads them.
///
/// ```
/// use pla_engine::{TaskArguments, TaskValues};
///
/// let arguments: TaskArguments = r#"--counter "{counter}" {usertext}"#.parse()?;
/// let values = TaskValues { counter: r"\Memory\Available Bytes", user_text: "{name}; reboot", ..TaskValues::default() };
/// assert_eq!(arguments.words(&values), ["--counter", r"\Memory\Available Bytes", "{name}; reboot"]);
/// # Ok::<(), pla_engine::TaskArgumentsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TaskArguments(Vec<Vec<Piece>>);

/// The values of the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TaskValues<'a> {
    /// `{name}`: of the data collector, or of the set.
    pub name: &'a str,
    /// `{counter}`: the path of the counter that crossed the threshold.
    pub counter: &'a str,
    pub date: &'a str,
    pub threshold: &'a str,
    /// `{value}`: of the counter.
    pub value: &'a str,
    /// `{logs}`: the full paths of the files of a set, of whose run this is the end.
    pub logs: &'a str,
    /// `{state}`: whether the set runs, 1 or 0.
    pub state: &'a str,
    /// `{usertext}`: what the user wants to have passed on. Variables in it stay as they are.
    pub user_text: &'a str,
}

/// A text that cannot be split into words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task arguments: {reason}, at character {}", position + 1)]
pub struct TaskArgumentsError {
    /// Characters before the mistake.
    pub position: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(Variable),
}

macro_rules! variables {
    ($($variable:ident = $name:literal as $field:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Variable {
            $($variable,)*
        }

        impl Variable {
            fn named(name: &str) -> Option<Self> {
                $(if name.eq_ignore_ascii_case($name) {
                    return Some(Self::$variable);
                })*
                None
            }

            fn value<'a>(self, values: &TaskValues<'a>) -> &'a str {
                match self {
                    $(Self::$variable => values.$field,)*
                }
            }
        }
    };
}

variables! {
    Name = "name" as name,
    Counter = "counter" as counter,
    Date = "date" as date,
    Threshold = "threshold" as threshold,
    Value = "value" as value,
    Logs = "logs" as logs,
    State = "state" as state,
    UserText = "usertext" as user_text,
}

/// The longest text, in characters.
const CHARS_MAX: usize = 8192;

impl TaskArguments {
    #[must_use]
    pub fn words(&self, values: &TaskValues<'_>) -> Vec<String> {
        let word = |pieces: &Vec<Piece>| {
            let texts = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Variable(variable) => variable.value(values),
            });
            texts.collect()
        };
        self.0.iter().map(word).collect()
    }
}

impl FromStr for TaskArguments {
    type Err = TaskArgumentsError;

    fn from_str(text: &str) -> Result<Self, TaskArgumentsError> {
        if text.chars().count() > CHARS_MAX {
            return Err(TaskArgumentsError {
                position: CHARS_MAX,
                reason: "they are longer than 8,192 characters",
            });
        }
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quoted_at = None;
        for (position, c) in text.chars().enumerate() {
            match c {
                '"' => {
                    quoted_at = if quoted_at.is_some() { None } else { Some(position) };
                    word.get_or_insert_default();
                }
                ' ' | '\t' if quoted_at.is_none() => words.extend(word.take()),
                c if c.is_control() => {
                    return Err(TaskArgumentsError { position, reason: "a control character" });
                }
                c => word.get_or_insert_default().push(c),
            }
        }
        if let Some(position) = quoted_at {
            return Err(TaskArgumentsError { position, reason: "this quotation mark is not closed" });
        }
        words.extend(word);
        Ok(Self(words.iter().map(|word| pieces(word)).collect()))
    }
}

/// Cuts a word at its variables.
fn pieces(word: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        text += before;
        let variable = from.find('}').and_then(|close| Some((Variable::named(&from[1..close])?, close)));
        if let Some((variable, close)) = variable {
            pieces.extend(Some(std::mem::take(&mut text)).filter(|text| !text.is_empty()).map(Piece::Text));
            pieces.push(Piece::Variable(variable));
            rest = &from[close + 1..];
        } else {
            text.push('{');
            rest = &from[1..];
        }
    }
    text += rest;
    pieces.extend(Some(text).filter(|text| !text.is_empty()).map(Piece::Text));
    pieces
}
