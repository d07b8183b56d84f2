//! For commands of plugins that read one host: connecting, and error messages.

mod arguments;
mod connect;
mod error;
mod user;

pub use self::arguments::{HostArguments, ObjectTransportArguments, TransportArguments, parse_duration};
pub use self::connect::{ConnectError, HostAccess};
pub use self::error::CommandError;
pub use self::user::user;

/// What a record says of an attempt to change something on a host.
pub trait AuditRecord {
    /// Records that the configuration allows it, and that the host is asked next.
    fn requested(&self);

    /// Records how it ended, in one line.
    fn ended(&self, outcome: &str);
}

/// An attempt to change something on a host: it is recorded before the host hears of it, and when it ends, however it ends.
#[derive(Debug)]
pub struct AuditedAttempt<R: AuditRecord> {
    record: R,
    is_ended: bool,
}

impl<R: AuditRecord> AuditedAttempt<R> {
    /// An attempt that is recorded as `record` says.
    pub const fn new(record: R) -> Self {
        Self { record, is_ended: false }
    }

    /// The configuration allows it, and the host is asked next.
    pub fn requested(&self) {
        self.record.requested();
    }

    /// How it ended, in one line: `done`, `refused: …`, `failed: …`.
    pub fn end(mut self, outcome: &str) {
        self.is_ended = true;
        self.record.ended(outcome);
    }
}

impl<R: AuditRecord> Drop for AuditedAttempt<R> {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record.ended("cancelled: the host may do it nevertheless");
        }
    }
}

/// An argument as a record has it, which nobody can make long.
#[must_use]
pub fn audit_field(text: &str) -> String {
    text.chars().take(FIELD_CHARS_MAX).collect()
}

const FIELD_CHARS_MAX: usize = 320;
