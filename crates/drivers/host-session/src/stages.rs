use std::time::Duration;

use tokio::time::Instant;
use transport::ByteCounter;

use crate::Stage;

/// Time, calls and bytes of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    pub stage: Stage,
    pub started: Instant,
    /// How long it took.
    pub duration: Duration,
    /// Requests made: of SMB up to the bind, of RPC in queries.
    pub calls: u64,
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

/// A stage that has begun.
#[derive(Clone, Debug)]
pub struct StageTimer {
    stage: Stage,
    started: Instant,
    bytes: ByteCounter,
    received_before: u64,
    sent_before: u64,
    calls_before: u64,
}

impl StageTimer {
    /// Begins `stage` on a connection with `bytes` transferred and `calls` made so far.
    pub(crate) fn start(stage: Stage, bytes: &ByteCounter, calls: u64) -> Self {
        Self {
            stage,
            started: Instant::now(),
            received_before: bytes.received_bytes(),
            sent_before: bytes.sent_bytes(),
            calls_before: calls,
            bytes: bytes.clone(),
        }
    }

    /// Calls that were made before it began.
    pub(crate) const fn calls_before(&self) -> u64 {
        self.calls_before
    }

    pub(crate) fn stop(self, calls: u64) -> StageReport {
        StageReport {
            stage: self.stage,
            started: self.started,
            duration: self.started.elapsed(),
            calls: calls.saturating_sub(self.calls_before),
            received_bytes: self.bytes.received_bytes() - self.received_before,
            sent_bytes: self.bytes.sent_bytes() - self.sent_before,
        }
    }
}
