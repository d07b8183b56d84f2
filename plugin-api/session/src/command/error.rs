use host_session::SessionError;
use plugin_sdk::{Exit, Failure, Reason, Run};

use crate::{DECLARED_REASONS, failure_of};

/// Why a command ends early: where it failed, why, and what to do next.
#[derive(Debug)]
pub struct CommandError {
    exit: Exit,
    /// Where it failed and why, in closed words; nothing where there is no stage.
    stage: Option<(&'static str, &'static str)>,
    message: String,
    next_step: String,
}

impl CommandError {
    /// The command line is wrong.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, stage: None, message: message.into(), next_step: String::new() }
    }

    /// It cannot be done, and `next_step` is what to do about it.
    #[must_use]
    pub fn failed(message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { exit: Exit::Failure, stage: None, message: message.into(), next_step: next_step.into() }
    }

    /// The host did not answer as it should.
    #[must_use]
    pub fn of_session(error: &SessionError) -> Self {
        Self::of_failure(&failure_of(error))
    }

    /// As a collection would have failed.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        let (word, next_step) = match failure.reason {
            Reason::General(reason) => (reason.as_str(), reason.next_step()),
            Reason::Declared(index) => {
                let declared = DECLARED_REASONS.get(index as usize);
                declared.map_or(("other", ""), |declared| (declared.word, declared.next_step))
            }
        };
        Self {
            exit: Exit::Failure,
            stage: Some((failure.stage.as_str(), word)),
            message: failure.message.clone(),
            next_step: next_step.to_owned(),
        }
    }

    /// The message alone, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        match self.stage {
            Some((stage, reason)) => format!("{stage}: {reason}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Prints it with the next step. Returns how the command ends.
    pub fn print(&self, run: &Run) -> Exit {
        run.progress("");
        run.err(&format!("{}\n", self.line()));
        if !self.next_step.is_empty() {
            run.err(&format!("next: {}\n", self.next_step));
        }
        self.exit
    }
}
