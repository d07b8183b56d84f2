//! Counter paths on the command line: parsing, and errors for invalid ones.

use counter_poll::paths::PathProblem;
use counter_types::CounterPath;
use plugin_session::command::CommandError;

/// Reads a counter path.
///
/// # Errors The path with a caret below the error.
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

/// The error for a path that the host does not have.
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
