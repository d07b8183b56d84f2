use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;
use super::network_interface::Traffic;

/// The index is public, as are those of its counters and their types.
pub(crate) static TCPV4: PerfObject =
    PerfObject::new(638, "TCPv4", "Connections and segments of TCP over IPv4.", &COUNTERS)
        .german("TCPv4")
        .advanced();

/// The index is public; the counters are those of [`TCPV4`].
pub(crate) static TCPV6: PerfObject =
    PerfObject::new(1530, "TCPv6", "Connections and segments of TCP over IPv6.", &COUNTERS)
        .german("TCPv6")
        .advanced();

static COUNTERS: [C; 9] = [
    C::new(640, T::PERF_COUNTER_COUNTER, "Segments/sec", "Segments received and sent.")
        .german("Segmente/s")
        .advanced()
        .scale(-1),
    C::new(642, T::PERF_COUNTER_RAWCOUNT, "Connections Established", "Connections that are open now.")
        .german("Hergestellte Verbindungen")
        .advanced(),
    C::new(644, T::PERF_COUNTER_RAWCOUNT, "Connections Active", "Connections that this host opened.")
        .advanced(),
    C::new(646, T::PERF_COUNTER_RAWCOUNT, "Connections Passive", "Connections that others opened.")
        .advanced(),
    C::new(648, T::PERF_COUNTER_RAWCOUNT, "Connection Failures", "Connections that could not be opened.")
        .advanced(),
    C::new(650, T::PERF_COUNTER_RAWCOUNT, "Connections Reset", "Connections that were reset.").advanced(),
    C::new(652, T::PERF_COUNTER_COUNTER, "Segments Received/sec", "Segments received.")
        .german("Empfangene Segmente/s")
        .advanced()
        .scale(-1),
    C::new(654, T::PERF_COUNTER_COUNTER, "Segments Sent/sec", "Segments sent.")
        .german("Gesendete Segmente/s")
        .advanced()
        .scale(-1),
    C::new(656, T::PERF_COUNTER_COUNTER, "Segments Retransmitted/sec", "Segments sent again.")
        .advanced()
        .scale(-1),
];

/// Nine of ten packets of the adapter carry TCP over IPv4.
pub(super) fn data_v4(figures: &Figures<'_>) -> Data {
    let Traffic { packets_received, packets_sent } = Traffic::of(figures);
    data(figures, 0x7c40, [packets_received / 10 * 9, packets_sent / 10 * 9], [20, 140])
}

/// And one of a hundred TCP over IPv6.
pub(super) fn data_v6(figures: &Figures<'_>) -> Data {
    let Traffic { packets_received, packets_sent } = Traffic::of(figures);
    data(figures, 0x7c60, [packets_received / 100, packets_sent / 100], [2, 30])
}

fn data(figures: &Figures<'_>, salt: u64, [received, sent]: [u64; 2], [least, most]: [u64; 2]) -> Data {
    Data::Single(vec![
        received + sent,
        figures.level(salt, least, most),
        figures.rare(salt + 1, 2, 9),
        figures.events(salt + 2, 1, 4),
        figures.rare(salt + 3, 30, 300),
        figures.rare(salt + 4, 10, 60),
        received,
        sent,
        sent / 900,
    ])
}
