//! Commands for developers: whether they exist, without running them.

use std::process::Command;

use clap::Parser;

use crate::workspace::{Workspace, capture};
use crate::{Arguments, Result};

/// Whether cargo, or this tool, would take the command.
pub(super) fn check(workspace: &Workspace, command: &str) -> Result<()> {
    let words = words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cargo", "xtask", rest @ ..] => {
            Arguments::try_parse_from(["cargo xtask"].iter().chain(rest)).map_err(|error| {
                let error = error.to_string();
                format!("`{command}`: {}", error.lines().next().unwrap_or_default())
            })?;
            Ok(())
        }
        ["cargo", "build" | "test" | "bench", options @ ..] => {
            for pair in options.windows(2).filter(|pair| pair[0] == "-p") {
                if !workspace.packages.contains_key(pair[1]) {
                    return Err(format!("`{command}`: there is no package `{}`", pair[1]).into());
                }
            }
            Ok(())
        }
        ["cargo", "fuzz", ..] | ["cp", ..] => Ok(()),
        _ => Err(format!("`{command}`: there is no check for it; see developer.rs").into()),
    }
}

/// The words of a command as a shell splits them.
fn words(command: &str) -> Result<Vec<String>> {
    let printed = capture(Command::new("bash").args(["-c", &format!("printf '%s\\n' {command}")]))?;
    Ok(printed.lines().map(str::to_owned).collect())
}
