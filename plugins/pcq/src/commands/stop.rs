use host_session::SessionError;
use plugin_sdk::{Exit, Failure, Reason, Run};

use crate::failure;

/// Why a command ends early.
#[derive(Debug)]
pub(super) struct Stop {
    exit: Exit,
    /// Where it failed and why, in closed words; nothing where there is no stage.
    stage: Option<(&'static str, &'static str)>,
    message: String,
    next_step: String,
}

impl Stop {
    /// The command line is wrong.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, stage: None, message: message.into(), next_step: String::new() }
    }

    /// It cannot be done, and this is what to do.
    pub(super) fn failed(message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { exit: Exit::Failure, stage: None, message: message.into(), next_step: next_step.into() }
    }

    /// The host did not answer as it should.
    pub(super) fn of_session(error: &SessionError) -> Self {
        Self::of_failure(&failure::of_session(error))
    }

    /// As a collection would have failed.
    pub(super) fn of_failure(failure: &Failure) -> Self {
        let (word, next_step) = match failure.reason {
            Reason::General(reason) => (reason.word(), reason.next_step()),
            Reason::Declared(index) => {
                let declared = failure::DECLARED.get(index as usize);
                declared.map_or(("other", ""), |declared| (declared.word, declared.next_step))
            }
        };
        Self {
            exit: Exit::Failure,
            stage: Some((failure.stage.word(), word)),
            message: failure.message.clone(),
            next_step: next_step.to_owned(),
        }
    }

    /// The message alone, in one line.
    pub(super) fn line(&self) -> String {
        match self.stage {
            Some((stage, reason)) => format!("{stage}: {reason}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Prints it, and answers how the command ends.
    pub(super) fn print(&self, run: &Run) -> Exit {
        run.progress("");
        run.err(&format!("{}\n", self.line()));
        if !self.next_step.is_empty() {
            run.err(&format!("next: {}\n", self.next_step));
        }
        self.exit
    }
}
