//! What both sides printed of the same calls: `request METHOD`, `arguments`, `reply METHOD`, `results` and a line for each
//! structure, of words `FIELD=VALUE`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

const WORD_SHOWN_MAX: usize = 100;

/// The files of both sides.
pub(super) struct Transcripts {
    ours: PathBuf,
    wine: PathBuf,
}

impl Transcripts {
    pub(super) fn new(folder: &Path, direction: &str) -> Self {
        let file = |side| folder.join(format!("{direction}.{side}"));
        Self { ours: file("ours"), wine: file("wine") }
    }

    /// The command of our side; it prints to its file.
    pub(super) fn of_ours(&self, command: &Command) -> Command {
        to_file(&self.ours, command)
    }

    /// The same of Wine's side.
    pub(super) fn of_wine(&self, command: &Command) -> Command {
        to_file(&self.wine, command)
    }

    /// What was compared, if both sides printed the same, and each method was called as often as `calls_min` says.
    pub(super) fn compare(&self, calls_min: &[(&str, usize)]) -> Result<String> {
        compare(&fs::read_to_string(&self.ours)?, &fs::read_to_string(&self.wine)?, calls_min)
    }
}

fn to_file(file: &Path, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"exec "$@" > "$0""#]).arg(file).arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn compare(ours: &str, wine: &str, calls_min: &[(&str, usize)]) -> Result<String> {
    let (ours, wine): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), wine.lines().collect());
    let mut pairs = ours.iter().zip(&wine).enumerate();
    if let Some((at, (ours, wine))) = pairs.find(|(_, (ours, wine))| ours != wine) {
        return Err(format!("line {}: {}", at + 1, difference(ours, wine)).into());
    }
    if ours.len() != wine.len() {
        return Err(format!("we have {} lines, Wine has {}", ours.len(), wine.len()).into());
    }
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for method in ours.iter().filter_map(|line| line.strip_prefix("reply ")?.split(' ').next()) {
        *calls.entry(method).or_default() += 1;
    }
    let is_missing = |(method, least): &&(&str, usize)| calls.get(method).is_none_or(|calls| calls < least);
    if let Some((method, least)) = calls_min.iter().find(is_missing) {
        return Err(format!("{method} must be called {least} times at least: {calls:?}").into());
    }
    let values = ours.iter().flat_map(|line| line.split(' ')).filter(|word| word.contains('=')).count();
    Ok(format!("{} calls with {values} values", calls.values().sum::<usize>()))
}

/// The first words that differ, after the first word of the line.
fn difference(ours: &str, wine: &str) -> String {
    let mut words = ours.split(' ').zip(wine.split(' ')).filter(|(ours, wine)| ours != wine);
    let (our_word, wine_word) = words.next().unwrap_or((ours, wine));
    let begin = |word: &str| word.chars().take(WORD_SHOWN_MAX).collect::<String>();
    let structure = ours.split(' ').next().unwrap_or_default();
    format!("{structure}: we have `{}`, Wine has `{}`", begin(our_word), begin(wine_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str =
        "request IsSupported version=5.7 flags=0\nreply IsSupported flags=0\nresults status=00000001\n";

    fn check(wine: &str, calls: usize, expected: &std::result::Result<&str, &str>) {
        let found = compare(OURS, wine, &[("IsSupported", calls)]).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), *expected);
    }

    #[test]
    fn equal_transcripts_are_counted() {
        check(OURS, 1, &Ok("1 calls with 4 values"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let wine = OURS.replace("flags=0\nresults", "flags=7\nresults");
        check(&wine, 1, &Err("line 2: reply: we have `flags=0`, Wine has `flags=7`"));
    }

    #[test]
    fn a_side_that_printed_less_is_an_error() {
        let wine = OURS.replace("results status=00000001\n", "");
        check(&wine, 1, &Err("we have 3 lines, Wine has 2"));
    }

    #[test]
    fn a_method_that_was_called_too_rarely_is_an_error() {
        check(OURS, 2, &Err("IsSupported must be called 2 times at least: {\"IsSupported\": 1}"));
    }
}
