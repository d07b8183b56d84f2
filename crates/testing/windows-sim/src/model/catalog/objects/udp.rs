use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static UDPV4: PerfObject =
    PerfObject::new(658, "UDPv4", "Datagrams of UDP over IPv4.", &COUNTERS).german("UDPv4");

/// The index is public; the counters are those of [`UDPV4`].
pub(crate) static UDPV6: PerfObject =
    PerfObject::new(1532, "UDPv6", "Datagrams of UDP over IPv6.", &COUNTERS).german("UDPv6");

static COUNTERS: [C; 5] = [
    C::new(438, T::PERF_COUNTER_COUNTER, "Datagrams/sec", "Datagrams received and sent.")
        .german("Datagramme/s"),
    C::new(446, T::PERF_COUNTER_COUNTER, "Datagrams Received/sec", "Datagrams received.")
        .german("Empfangene Datagramme/s"),
    C::new(
        664,
        T::PERF_COUNTER_COUNTER,
        "Datagrams No Port/sec",
        "Datagrams for a port that nobody listens on.",
    ),
    C::new(
        666,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Received Errors",
        "Datagrams dropped for other reasons.",
    ),
    C::new(442, T::PERF_COUNTER_COUNTER, "Datagrams Sent/sec", "Datagrams sent.")
        .german("Gesendete Datagramme/s"),
];

pub(super) fn data_v4(figures: &Figures<'_>) -> Data {
    data(figures, 0x0d40, 40)
}

pub(super) fn data_v6(figures: &Figures<'_>) -> Data {
    data(figures, 0x0d60, 6)
}

fn data(figures: &Figures<'_>, salt: u64, rate: u64) -> Data {
    let (received, sent) = (figures.events_at(salt, rate), figures.events_at(salt + 1, rate / 2));
    Data::Single(vec![
        received + sent,
        received,
        figures.rare(salt + 2, 3, 30),
        figures.rare(salt + 3, 900, 9_000),
        sent,
    ])
}
