use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static SERVER: PerfObject =
    PerfObject::new(330, "Server", "The file server of the host.", &COUNTERS).german("Server");

static COUNTERS: [C; 27] = [
    C::new(388, T::PERF_COUNTER_BULK_COUNT, "Bytes Total/sec", "Bytes received and sent by the file server.")
        .help(1927),
    C::new(264, T::PERF_COUNTER_BULK_COUNT, "Bytes Received/sec", "Bytes received."),
    C::new(276, T::PERF_COUNTER_BULK_COUNT, "Bytes Transmitted/sec", "Bytes sent."),
    C::new(340, T::PERF_COUNTER_RAWCOUNT, "Sessions Timed Out", "Sessions closed for lack of use."),
    C::new(342, T::PERF_COUNTER_RAWCOUNT, "Sessions Errored Out", "Sessions closed because of errors."),
    C::new(344, T::PERF_COUNTER_RAWCOUNT, "Sessions Logged Off", "Sessions closed by their users."),
    C::new(346, T::PERF_COUNTER_RAWCOUNT, "Sessions Forced Off", "Sessions closed by the server."),
    C::new(348, T::PERF_COUNTER_RAWCOUNT, "Errors Logon", "Logons that failed."),
    C::new(350, T::PERF_COUNTER_RAWCOUNT, "Errors Access Permissions", "Opens of files that were denied."),
    C::new(
        352,
        T::PERF_COUNTER_RAWCOUNT,
        "Errors Granted Access",
        "Accesses to open files that were denied.",
    ),
    C::new(354, T::PERF_COUNTER_RAWCOUNT, "Errors System", "Errors of the server itself."),
    C::new(
        356,
        T::PERF_COUNTER_RAWCOUNT,
        "Blocking Requests Rejected",
        "Requests refused for lack of work items.",
    ),
    C::new(358, T::PERF_COUNTER_RAWCOUNT, "Work Item Shortages", "Times without a work item."),
    C::new(58, T::PERF_COUNTER_RAWCOUNT, "Pool Nonpaged Bytes", "Memory of the nonpaged pool.").help(1933),
    C::new(
        370,
        T::PERF_COUNTER_RAWCOUNT,
        "Pool Nonpaged Failures",
        "Allocations of the nonpaged pool that failed.",
    ),
    C::new(372, T::PERF_COUNTER_RAWCOUNT, "Pool Nonpaged Peak", "Most memory of the nonpaged pool so far."),
    C::new(56, T::PERF_COUNTER_RAWCOUNT, "Pool Paged Bytes", "Memory of the paged pool.").help(1931),
    C::new(
        376,
        T::PERF_COUNTER_RAWCOUNT,
        "Pool Paged Failures",
        "Allocations of the paged pool that failed.",
    ),
    C::new(378, T::PERF_COUNTER_RAWCOUNT, "Pool Paged Peak", "Most memory of the paged pool so far."),
    C::new(360, T::PERF_COUNTER_RAWCOUNT, "Files Opened Total", "Files opened for clients."),
    C::new(362, T::PERF_COUNTER_RAWCOUNT, "Files Open", "Files that are open now."),
    C::new(314, T::PERF_COUNTER_RAWCOUNT, "Server Sessions", "Sessions of clients.").help(1929),
    C::new(366, T::PERF_COUNTER_RAWCOUNT, "File Directory Searches", "Searches of folders that go on now."),
    C::new(404, T::PERF_COUNTER_COUNTER, "Context Blocks Queued/sec", "Requests handed to the service."),
    C::new(692, T::PERF_COUNTER_COUNTER, "Logon/sec", "Logons."),
    C::new(1260, T::PERF_COUNTER_RAWCOUNT, "Logon Total", "Logons since the start."),
    C::new(
        1886,
        T::PERF_COUNTER_RAWCOUNT,
        "Reconnected Durable Handles",
        "Durable handles that were claimed again.",
    ),
];

pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (requests, logons) = (figures.events_at(0x5e71, 30), figures.rare(0x5e72, 20, 90));
    let (received, sent) = (requests * 220, requests * 1_800);
    let sessions = figures.level(0x5e73, 1, 9);
    let (nonpaged, paged) = (sessions * 16_384 + 262_144, sessions * 32_768 + 1_048_576);
    Data::Single(vec![
        received + sent,
        received,
        sent,
        logons / 10,
        figures.rare(0x5e74, 600, 3_600),
        logons.saturating_sub(logons / 10),
        0,
        figures.rare(0x5e75, 3_600, 36_000),
        figures.rare(0x5e76, 900, 3_600),
        0,
        0,
        0,
        0,
        nonpaged,
        0,
        9 * 16_384 + 262_144,
        paged,
        0,
        9 * 32_768 + 1_048_576,
        requests / 8,
        sessions * 3,
        sessions,
        0,
        requests / 50,
        logons,
        logons,
        0,
    ])
}
