use host_session::SessionError;
use plugin_sdk::{DeclaredReason, Exit, Failure, Reason, Run};

use crate::{DECLARED_REASONS, ObjectService, ObjectStep, failure_of};

/// Why a command ends early: the stage, the reason, and the next step.
#[derive(Debug)]
pub struct CommandError {
    exit: Exit,
    /// Stage and reason, if there is a stage.
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

    /// It cannot be done; `next_step` is what to do about it.
    #[must_use]
    pub fn failed(message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { exit: Exit::Failure, stage: None, message: message.into(), next_step: next_step.into() }
    }

    /// The host failed to answer correctly.
    #[must_use]
    pub fn of_session(error: &SessionError) -> Self {
        Self::of_failure(&failure_of(error))
    }

    /// The object, or the way to it, failed.
    #[must_use]
    pub fn of_object(service: &ObjectService, error: &SessionError, step: ObjectStep) -> Self {
        Self::with_reasons(&service.failure_of(error, step), service.reasons)
    }

    /// The failure of a collection.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        Self::with_reasons(failure, &DECLARED_REASONS)
    }

    fn with_reasons(failure: &Failure, reasons: &[DeclaredReason]) -> Self {
        let (word, next_step) = match failure.reason {
            Reason::General(reason) => (reason.as_str(), reason.next_step()),
            Reason::Declared(index) => {
                let declared = reasons.get(index as usize);
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
