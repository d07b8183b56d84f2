//! Records of who had which process dumped.

use plugin_session::command::{AuditRecord, AuditedAttempt, audit_field, user};
use wire::Guid;

/// A process dump, as the log records it.
#[derive(Debug)]
pub(super) struct Record {
    user: String,
    target: String,
    container: String,
    directory: String,
}

/// The field by which the exporter's log finds records of this kind.
const AUDIT: &str = "process_dump";
/// What a record has in place of a directory that is not given.
const APPLICATION_DIRECTORY: &str = "of the application";

/// An attempt to dump a process.
pub(super) fn attempt(target: &str, container: Guid, directory: Option<&str>) -> AuditedAttempt<Record> {
    AuditedAttempt::new(Record {
        user: user(),
        target: audit_field(target),
        container: container.to_string(),
        directory: directory.map_or_else(|| APPLICATION_DIRECTORY.to_owned(), audit_field),
    })
}

impl AuditRecord for Record {
    fn requested(&self) {
        let Self { user, target, container, directory } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, "Process dump requested");
    }

    fn ended(&self, outcome: &str) {
        let Self { user, target, container, directory } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, outcome, "Process dump ended");
    }
}
