//! What the RPC servers of the simulated host count (`inq_stats`).

use std::sync::atomic::{AtomicU32, Ordering};

use endpoints::mgmt::types::Statistics;

/// What the RPC run time of a program counts over all of its associations, since the host was made. All of them wrap.
#[derive(Debug, Default)]
pub(crate) struct RpcCounts {
    calls_in: AtomicU32,
    calls_out: AtomicU32,
    packets_in: AtomicU32,
    packets_out: AtomicU32,
}

impl RpcCounts {
    pub(crate) fn call_received(&self) {
        self.calls_in.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn call_sent(&self) {
        self.calls_out.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn packets_received(&self, count: u64) {
        self.packets_in.fetch_add(low_half(count), Ordering::Relaxed);
    }

    pub(crate) fn packets_sent(&self, count: u64) {
        self.packets_out.fetch_add(low_half(count), Ordering::Relaxed);
    }

    /// As a client of the program reads them.
    pub(crate) fn statistics(&self) -> Statistics {
        let read = |count: &AtomicU32| count.load(Ordering::Relaxed);
        Statistics {
            calls_in: read(&self.calls_in),
            calls_out: read(&self.calls_out),
            packets_in: read(&self.packets_in),
            packets_out: read(&self.packets_out),
        }
    }
}

/// What is added to a count that wraps.
#[expect(clippy::cast_possible_truncation, reason = "the count has 32 bits and wraps")]
const fn low_half(count: u64) -> u32 {
    count as u32
}
