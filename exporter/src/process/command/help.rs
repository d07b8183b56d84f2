//! The help of plugins' commands, made of what they declare.

use std::fmt::Write;

use plugin_host::{CommandInfo, OptionInfo};

use super::offers::{Offer, Offers};
use super::own::OWN;

const EXIT_CODES: &str = "\
Exit codes:
  0    it did what it was asked for
  1    it did not; the reason is printed, and what to do about it
  2  the command line is invalid
  130  it was ended by Ctrl-C";

/// The lines of the program's help that list all commands; empty if there are none.
pub(super) fn list(offers: &Offers) -> String {
    if offers.all().is_empty() {
        return String::new();
    }
    let rows = offers.all().iter().map(|offer| (offer.call(), offer.command.help.clone()));
    let mut text = "Commands of plugins (`perfmon-exporter COMMAND --help` shows more):\n".to_owned();
    table(&mut text, &rows.collect::<Vec<_>>(), width());
    text
}

/// The help of a plugin.
pub(super) fn plugin(offers: &Offers, plugin: &str) -> String {
    let rows: Vec<_> =
        offers.of(plugin).map(|offer| (offer.command.name.clone(), offer.command.help.clone())).collect();
    if rows.is_empty() {
        return format!("Plugin {plugin} has no commands.\n");
    }
    let mut text = format!("Usage: perfmon-exporter {plugin} COMMAND [OPTIONS]\n\nCommands:\n");
    table(&mut text, &rows, width());
    text
}

/// The help of a command.
pub(super) fn command(offer: &Offer) -> String {
    let command = &offer.command;
    let width = width();
    let mut text = format!("{}\n\n{}\n", command.help, usage(offer));
    let (arguments, options): (Vec<_>, Vec<_>) =
        command.options.iter().partition(|option| option.name.is_empty());
    if !arguments.is_empty() {
        text += "\nArguments:\n";
        let rows = arguments.iter().map(|option| (shown(option), option.help.clone()));
        table(&mut text, &rows.collect::<Vec<_>>(), width);
    }
    text += "\nOptions:\n";
    let rows = options.iter().map(|option| (shown(option), option.help.clone()));
    table(&mut text, &rows.collect::<Vec<_>>(), width);
    text += "\nOptions of every command:\n";
    let own = OWN.iter().map(|(name, value, help)| (format!("--{name} <{value}>"), (*help).to_owned()));
    let help = ("-h, --help".to_owned(), "Prints this".to_owned());
    table(&mut text, &own.chain([help]).collect::<Vec<_>>(), width);
    let _ = write!(text, "\n{}\n{EXIT_CODES}\n", examples(offer));
    text
}

/// The usage line of a command.
pub(super) fn usage(offer: &Offer) -> String {
    let command = &offer.command;
    let mut line = format!("Usage: perfmon-exporter {} [OPTIONS]", offer.call());
    for option in command.options.iter().filter(|option| option.required) {
        let dots = if option.repeated { "..." } else { "" };
        let _ = match option.name.as_str() {
            "" => write!(line, " <{}>{dots}", option.value_name),
            name => write!(line, " --{name} <{}>{dots}", option.value_name),
        };
    }
    line
}

fn shown(option: &OptionInfo) -> String {
    let dots = if option.repeated { "..." } else { "" };
    match (option.name.as_str(), option.value_name.as_str()) {
        ("", value) => format!("<{value}>{dots}"),
        (name, "") => format!("--{name}{dots}"),
        (name, value) => format!("--{name} <{value}>{dots}"),
    }
}

/// Calls that work as they stand, but for the names: one with a configuration and one without.
fn examples(offer: &Offer) -> String {
    let call = format!("perfmon-exporter {}", offer.call());
    let command = &offer.command;
    let arguments: String = command
        .options
        .iter()
        .filter(|option| option.name.is_empty())
        .map(|o| format!(" {}", example(o)))
        .collect();
    let mut text = "Examples:\n".to_owned();
    if has_option(command, "target") {
        let _ = writeln!(text, "  {call} --config perfmon.yml --target web1{arguments}");
        let _ = writeln!(
            text,
            "  {call} --target web1.corp.example.com --username 'CORP\\me' --password-file secret{arguments}"
        );
    } else {
        let _ = writeln!(text, "  {call}{arguments}");
    }
    for option in command.options.iter().filter(|option| !option.name.is_empty() && quoted(option).is_some())
    {
        let target = if has_option(command, "target") { " --target web1" } else { "" };
        let _ = writeln!(text, "  {call}{target} --{} {}{arguments}", option.name, example(option));
    }
    text
}

fn has_option(command: &CommandInfo, name: &str) -> bool {
    command.options.iter().any(|option| option.name == name)
}

/// The example of an option: the text in single quotes after a colon at the end of its help; else the name of its
/// value.
fn example(option: &OptionInfo) -> &str {
    quoted(option).unwrap_or(&option.value_name)
}

fn quoted(option: &OptionInfo) -> Option<&str> {
    let (_, quoted) = option.help.split_once(": ")?;
    (quoted.len() > 2 && quoted.starts_with('\'') && quoted.ends_with('\'')).then_some(quoted)
}

/// Two columns; what does not fit in the second goes on below.
fn table(text: &mut String, rows: &[(String, String)], width: usize) {
    const LEFT_MAX: usize = 32;
    let left = rows.iter().map(|(name, _)| name.chars().count()).filter(|count| *count <= LEFT_MAX).max();
    let left = left.unwrap_or(LEFT_MAX);
    for (name, help) in rows {
        let _ = write!(text, "  {name:left$}");
        if name.chars().count() > left {
            let _ = write!(text, "\n  {:left$}", "");
        }
        let room = width.saturating_sub(left + 4).max(30);
        for (index, line) in wrapped(help, room).iter().enumerate() {
            let _ = match index {
                0 => writeln!(text, "  {line}"),
                _ => writeln!(text, "  {:left$}  {line}", ""),
            };
        }
    }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ') {
        let count = word.chars().count();
        if length > 0 && length + 1 + count > width {
            lines.push(String::new());
            length = 0;
        }
        if let Some(line) = lines.last_mut() {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += count;
        }
    }
    lines
}

fn width() -> usize {
    const WITHOUT_TERMINAL: u16 = 100;
    usize::from(super::console::terminal_width().unwrap_or(WITHOUT_TERMINAL)).min(120)
}
