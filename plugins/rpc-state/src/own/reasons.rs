//! Failures of this source.

use std::fmt::Display;

use plugin_sdk::{DeclaredReason, Failure, Reason, Stage};
use rpc_cells::Error;

/// The reasons that the source declares, each at its index.
pub(super) const REASONS: &[DeclaredReason] = &[
    DeclaredReason {
        word: "run_directory_missing",
        sentence: "The directory with the state of RPC calls is not there.",
        next_step: "Start the program that keeps its state there; the exporter makes its own directory when it starts. If `rpc_state.directory` of the configuration is set, list the \
                    same directory in `directories` of the module; with `rpc_state.level: none` there is nothing to read.",
    },
    DeclaredReason {
        word: "run_directory_refused",
        sentence: "The directory with the state of RPC calls cannot be read: it is a link, no directory, or another user's.",
        next_step: "List the directory itself in `directories` of the module, and let the exporter's user read it and its files.",
    },
    DeclaredReason {
        word: "state_files_unreadable",
        sentence: "Files with the state of RPC calls cannot be read; the others are shown.",
        next_step: "Remove what is not such a file, and update programs that write another version. The metric \
                    `perfmon_rpc_state_files_failed` counts them by reason.",
    },
];

const MISSING: u32 = 0;
const REFUSED: u32 = 1;
const UNREADABLE: u32 = 2;

/// There is no directory to read by default.
pub(super) fn no_default_directory() -> Failure {
    let message = "neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is set, so that there is no default directory: list one in \
                   `directories` of the module";
    failure(MISSING, message)
}

/// A directory cannot be read.
pub(super) fn of_directory(error: &Error, is_default: bool) -> Failure {
    let index = match error {
        Error::Directory { error, .. } if error.kind() == std::io::ErrorKind::NotFound => MISSING,
        _ => REFUSED,
    };
    if is_default {
        // The exporter does not tell its plugins what its configuration says.
        let hint =
            "if `rpc_state.directory` of the configuration is set, list it in `directories` of the module";
        failure(index, format_args!("{error}: {hint}"))
    } else {
        failure(index, error)
    }
}

/// Whether a directory is not there.
pub(super) fn is_missing(failure: &Failure) -> bool {
    failure.reason == Reason::Declared(MISSING)
}

/// Says what a collection before the first start of that program does not show.
pub(super) fn warn_of_missing(failure: &Failure) {
    let next_step = REASONS[MISSING as usize].next_step;
    tracing::warn!(
        detail = failure.message,
        next_step,
        "Directory with the state of RPC calls is not there yet"
    );
}

/// Some files cannot be read, this among them.
pub(super) fn of_files(count: u64, first: &str) -> Failure {
    match count {
        1 => failure(UNREADABLE, first),
        _ => failure(UNREADABLE, format_args!("{count} files, one of them: {first}")),
    }
}

fn failure(index: u32, message: impl Display) -> Failure {
    Failure::new(Stage::Plugin, Reason::Declared(index), message)
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};
    use std::path::PathBuf;

    use super::*;

    fn word(failure: &Failure) -> &'static str {
        match failure.reason {
            Reason::Declared(index) => REASONS[index as usize].word,
            Reason::General(reason) => reason.as_str(),
        }
    }

    #[test]
    fn a_directory_that_is_missing_and_one_that_may_not_be_read_have_reasons_of_their_own() {
        let path = || PathBuf::from("/run/x");
        let directory = |kind: ErrorKind| Error::Directory { path: path(), error: io::Error::from(kind) };
        for (error, expected) in [
            (directory(ErrorKind::NotFound), "run_directory_missing"),
            (directory(ErrorKind::PermissionDenied), "run_directory_refused"),
            (Error::Refused { path: path(), reason: "it is a link".to_owned() }, "run_directory_refused"),
        ] {
            let failure = of_directory(&error, false);
            assert_eq!((word(&failure), &failure.message), (expected, &error.to_string()));
            let hint = "if `rpc_state.directory` of the configuration is set";
            assert!(of_directory(&error, true).message.contains(hint));
        }
        assert_eq!(word(&no_default_directory()), "run_directory_missing");
        assert_eq!(word(&of_files(2, "a.cells: cut short")), "state_files_unreadable");
    }
}
