//! Counter paths on the command line: how they are read, and what is said of those that mean nothing.

use counter_poll::paths::PathProblem;
use counter_types::CounterPath;
use plugin_session::command::CommandError;

/// Reads a counter path.
///
/// # Errors
/// The path with a caret below the place where it goes wrong.
pub(super) fn parse(text: &str) -> Result<CounterPath, CommandError> {
    text.parse().map_err(|error: counter_types::PathError| {
        let before: usize = text.chars().take(error.position).count();
        CommandError::usage(format!(
            "invalid counter path: {}\n  {text}\n  {:before$}^\nwrite it as \\Counterset(instance)\\Counter \
             or \\Counterset\\Counter, in single quotes for the shell",
            error.reason, ""
        ))
    })
}

/// What is printed of a path that means nothing at the host.
pub(super) fn explain(problem: &PathProblem) -> CommandError {
    let next_step = match problem {
        PathProblem::Pattern(_) => return CommandError::usage(problem.to_string()),
        PathProblem::UnknownCounterset { .. } | PathProblem::Classic { .. } => {
            "list what exists: perfmon-exporter discover --format table".to_owned()
        }
        PathProblem::Unusable { .. } => "see whether its provider runs on the host".to_owned(),
        PathProblem::LacksInstance { path, counterset } => {
            format!("name one, or write \\{counterset}(*)\\{}", path.counter)
        }
        PathProblem::HasNoInstances { path, counterset } => {
            format!("write \\{counterset}\\{}", path.counter)
        }
        PathProblem::UnknownCounter { counterset, .. } => {
            format!("list what exists: \\{counterset}(*)\\*")
        }
    };
    CommandError::failed(problem.to_string(), next_step)
}
