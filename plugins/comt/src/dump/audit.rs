//! Records of who had which process dumped.

use ms_dtyp::Guid;
use plugin_session::command::user;

/// An attempt to dump a process: it is recorded before a host hears of it, and when it ends, however it ends.
#[derive(Debug)]
pub(super) struct Attempt {
    user: String,
    target: String,
    container: String,
    directory: String,
    is_ended: bool,
}

/// The field by which the exporter's log finds records of this kind.
const AUDIT: &str = "process_dump";
/// Characters of an option in a record.
const FIELD_LEN_MAX: usize = 320;
/// What a record has in place of a directory that is not given.
const APPLICATION_DIRECTORY: &str = "of the application";

impl Attempt {
    pub(super) fn new(target: &str, container: Guid, directory: Option<&str>) -> Self {
        let cut = |text: &str| text.chars().take(FIELD_LEN_MAX).collect();
        Self {
            user: user(),
            target: cut(target),
            container: container.to_string(),
            directory: directory.map_or_else(|| APPLICATION_DIRECTORY.to_owned(), cut),
            is_ended: false,
        }
    }

    /// The configuration allows it, and the host is asked next.
    pub(super) fn requested(&self) {
        let Self { user, target, container, directory, .. } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, "Process dump requested");
    }

    /// How it ended, in one line: `written: …`, `refused: …`, `failed: …`.
    pub(super) fn end(mut self, outcome: &str) {
        self.record(outcome);
    }

    fn record(&mut self, outcome: &str) {
        self.is_ended = true;
        let Self { user, target, container, directory, .. } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, outcome, "Process dump ended");
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record("cancelled: the host may write it nevertheless");
        }
    }
}
