use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static REDIRECTOR: PerfObject =
    PerfObject::new(262, "Redirector", "The client of file shares.", &COUNTERS).german("Redirector");

static COUNTERS: [C; 37] = [
    C::new(
        388,
        T::PERF_COUNTER_BULK_COUNT,
        "Bytes Total/sec",
        "Bytes received and sent by the client of file shares.",
    ),
    C::new(406, T::PERF_COUNTER_COUNTER, "File Data Operations/sec", "Reads and writes of files."),
    C::new(400, T::PERF_COUNTER_BULK_COUNT, "Packets/sec", "Packets received and sent."),
    C::new(264, T::PERF_COUNTER_BULK_COUNT, "Bytes Received/sec", "Bytes received."),
    C::new(266, T::PERF_COUNTER_BULK_COUNT, "Packets Received/sec", "Packets received."),
    C::new(268, T::PERF_COUNTER_BULK_COUNT, "Read Bytes Paging/sec", "Bytes read to serve page faults."),
    C::new(
        270,
        T::PERF_COUNTER_BULK_COUNT,
        "Read Bytes Non-Paging/sec",
        "Bytes read because a program asked.",
    ),
    C::new(272, T::PERF_COUNTER_BULK_COUNT, "Read Bytes Cache/sec", "Bytes read through the cache."),
    C::new(274, T::PERF_COUNTER_BULK_COUNT, "Read Bytes Network/sec", "Bytes read over the network."),
    C::new(276, T::PERF_COUNTER_BULK_COUNT, "Bytes Transmitted/sec", "Bytes sent."),
    C::new(278, T::PERF_COUNTER_BULK_COUNT, "Packets Transmitted/sec", "Packets sent."),
    C::new(280, T::PERF_COUNTER_BULK_COUNT, "Write Bytes Paging/sec", "Bytes of changed pages written."),
    C::new(
        282,
        T::PERF_COUNTER_BULK_COUNT,
        "Write Bytes Non-Paging/sec",
        "Bytes written because a program asked.",
    ),
    C::new(284, T::PERF_COUNTER_BULK_COUNT, "Write Bytes Cache/sec", "Bytes written through the cache."),
    C::new(286, T::PERF_COUNTER_BULK_COUNT, "Write Bytes Network/sec", "Bytes written over the network."),
    C::new(10, T::PERF_COUNTER_COUNTER, "File Read Operations/sec", "Reads of files."),
    C::new(290, T::PERF_COUNTER_COUNTER, "Read Operations Random/sec", "Reads that are not sequential."),
    C::new(292, T::PERF_COUNTER_COUNTER, "Read Packets/sec", "Read packets."),
    C::new(294, T::PERF_COUNTER_COUNTER, "Reads Large/sec", "Reads larger than a buffer."),
    C::new(296, T::PERF_COUNTER_COUNTER, "Read Packets Small/sec", "Reads smaller than a buffer."),
    C::new(12, T::PERF_COUNTER_COUNTER, "File Write Operations/sec", "Writes of files."),
    C::new(300, T::PERF_COUNTER_COUNTER, "Write Operations Random/sec", "Writes that are not sequential."),
    C::new(302, T::PERF_COUNTER_COUNTER, "Write Packets/sec", "Write packets."),
    C::new(304, T::PERF_COUNTER_COUNTER, "Writes Large/sec", "Writes larger than a buffer."),
    C::new(306, T::PERF_COUNTER_COUNTER, "Write Packets Small/sec", "Writes smaller than a buffer."),
    C::new(308, T::PERF_COUNTER_COUNTER, "Reads Denied/sec", "Raw reads that the server refused."),
    C::new(310, T::PERF_COUNTER_COUNTER, "Writes Denied/sec", "Raw writes that the server refused."),
    C::new(312, T::PERF_COUNTER_COUNTER, "Network Errors/sec", "Errors of the network."),
    C::new(314, T::PERF_COUNTER_RAWCOUNT, "Server Sessions", "Sessions with servers."),
    C::new(316, T::PERF_COUNTER_RAWCOUNT, "Server Reconnects", "Sessions that had to be opened again."),
    C::new(318, T::PERF_COUNTER_RAWCOUNT, "Connects Core", "Connections with the oldest dialect."),
    C::new(320, T::PERF_COUNTER_RAWCOUNT, "Connects Lan Manager 2.0", "Connections with that dialect."),
    C::new(322, T::PERF_COUNTER_RAWCOUNT, "Connects Lan Manager 2.1", "Connections with that dialect."),
    C::new(324, T::PERF_COUNTER_RAWCOUNT, "Connects Windows NT", "Connections with newer dialects."),
    C::new(326, T::PERF_COUNTER_RAWCOUNT, "Server Disconnects", "Times that servers disconnected."),
    C::new(328, T::PERF_COUNTER_RAWCOUNT, "Server Sessions Hung", "Sessions that timed out."),
    C::new(392, T::PERF_COUNTER_RAWCOUNT, "Current Commands", "Requests that wait for a server."),
];

/// What is read, and the same for what is written: paging, through the cache and over the network.
fn transfer(figures: &Figures<'_>, salt: u64, rate: u64) -> (u64, [u64; 6]) {
    let operations = figures.events_at(salt, rate);
    let bytes = operations * 8_192;
    (operations, [bytes + operations * 96, operations * 2, bytes / 10, bytes / 10 * 9, bytes / 2, bytes])
}

pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (reads, read) = transfer(figures, 0x4ed1, 12);
    let (writes, written) = transfer(figures, 0x4ed2, 4);
    let mut values = vec![read[0] + written[0], reads + writes, read[1] + written[1]];
    values.extend(read);
    values.extend(written);
    for operations in [reads, writes] {
        values.extend([operations, operations / 4, operations, operations / 20, operations / 3]);
    }
    values.extend([
        0,
        0,
        figures.rare(0x4ed3, 3_600, 9_000),
        3,
        figures.rare(0x4ed4, 7_200, 36_000),
        0,
        0,
        0,
        3,
    ]);
    values.extend([figures.rare(0x4ed5, 7_200, 36_000), 0, figures.level(0x4ed6, 0, 2)]);
    Data::Single(values)
}
