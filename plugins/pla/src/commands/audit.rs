//! Records of who had which set started or stopped.

use plugin_session::command::{AuditRecord, AuditedAttempt, HostAccess, audit_field, user};

use crate::host::{AUDIT, Order};

/// Control of a set, as the log records it.
#[derive(Debug)]
pub(super) struct Record {
    user: String,
    identity: String,
    target: String,
    set: String,
    order: &'static str,
}

/// An attempt to control a set.
pub(super) fn attempt(access: &HostAccess, set: &str, order: Order) -> AuditedAttempt<Record> {
    AuditedAttempt::new(Record {
        user: user(),
        identity: audit_field(access.identity()),
        target: audit_field(access.host()),
        set: audit_field(set),
        order: order.as_str(),
    })
}

impl AuditRecord for Record {
    fn requested(&self) {
        let Self { user, identity, target, set, order } = self;
        tracing::warn!(
            audit = AUDIT,
            user,
            identity,
            target,
            set,
            order,
            "Control of a data collector set requested"
        );
    }

    fn ended(&self, outcome: &str) {
        let Self { user, identity, target, set, order } = self;
        tracing::warn!(
            audit = AUDIT,
            user,
            identity,
            target,
            set,
            order,
            outcome,
            "Control of a data collector set ended"
        );
    }
}
