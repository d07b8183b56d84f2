//! Log records and spans, which their requests hold alike: `resource_logs` and `resource_spans` are field 1, in them
//! the resource is field 1 and `scope_logs` or `scope_spans` field 2, in them the scope is field 1 and the records or
//! spans field 2 (opentelemetry-proto, `logs/v1/logs.proto` and `trace/v1/trace.proto`).

use super::nest::Nest;
use super::resource::{Resource, Scope, put_owner};
use super::wire::{BYTES, key, put_bytes};

/// A `LogRecord` or a `Span`, in bytes. It is made when it happens, because its data is not kept.
#[derive(Clone, Debug)]
pub struct Record(pub(super) Vec<u8>);

impl Record {
    /// How long it is.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Appends records of one target and one plugin to an `ExportLogsServiceRequest`, or spans to an
/// `ExportTraceServiceRequest`: such messages one behind the other are one message.
pub fn put_records<'a>(
    out: &mut Vec<u8>,
    resource: &Resource,
    scope: &Scope,
    records: impl IntoIterator<Item = &'a Record>,
) {
    let mut nest = Nest::default();
    nest.open(out, 1 /* resource_logs, resource_spans */);
    put_owner(out, &resource.message, true);
    nest.open(out, 2 /* scope_logs, scope_spans */);
    put_owner(out, &scope.message, false);
    for record in records {
        put_bytes(out, key(2, BYTES) /* log_records, spans */, &record.0);
    }
    nest.close_to(out, 0);
}
