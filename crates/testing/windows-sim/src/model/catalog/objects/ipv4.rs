use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;
use super::network_interface::Traffic;

/// The index is public, as are those of its counters and their types.
pub(crate) static IPV4: PerfObject =
    PerfObject::new(546, "IPv4", "Datagrams of IP version 4.", &COUNTERS).german("IPv4");

static COUNTERS: [C; 17] = [
    C::new(438, T::PERF_COUNTER_COUNTER, "Datagrams/sec", "Datagrams received and sent.")
        .german("Datagramme/s"),
    C::new(446, T::PERF_COUNTER_COUNTER, "Datagrams Received/sec", "Datagrams received.")
        .german("Empfangene Datagramme/s"),
    C::new(
        552,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Received Header Errors",
        "Datagrams dropped for a bad header.",
    )
    .advanced(),
    C::new(
        554,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Received Address Errors",
        "Datagrams dropped for a bad address.",
    )
    .advanced(),
    C::new(556, T::PERF_COUNTER_COUNTER, "Datagrams Forwarded/sec", "Datagrams sent on to others.")
        .advanced(),
    C::new(
        558,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Received Unknown Protocol",
        "Datagrams dropped for an unknown protocol.",
    )
    .advanced(),
    C::new(
        560,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Received Discarded",
        "Datagrams dropped for lack of room.",
    )
    .advanced(),
    C::new(
        562,
        T::PERF_COUNTER_COUNTER,
        "Datagrams Received Delivered/sec",
        "Datagrams given to their protocols.",
    ),
    C::new(442, T::PERF_COUNTER_COUNTER, "Datagrams Sent/sec", "Datagrams sent.")
        .german("Gesendete Datagramme/s"),
    C::new(
        566,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Outbound Discarded",
        "Datagrams not sent for lack of room.",
    )
    .advanced(),
    C::new(
        568,
        T::PERF_COUNTER_RAWCOUNT,
        "Datagrams Outbound No Route",
        "Datagrams not sent for lack of a route.",
    )
    .advanced(),
    C::new(570, T::PERF_COUNTER_COUNTER, "Fragments Received/sec", "Fragments received.").advanced(),
    C::new(572, T::PERF_COUNTER_COUNTER, "Fragments Re-assembled/sec", "Fragments put together.").advanced(),
    C::new(
        574,
        T::PERF_COUNTER_RAWCOUNT,
        "Fragment Re-assembly Failures",
        "Fragments that could not be put together.",
    )
    .advanced(),
    C::new(576, T::PERF_COUNTER_COUNTER, "Fragmented Datagrams/sec", "Datagrams sent in fragments.")
        .advanced(),
    C::new(
        578,
        T::PERF_COUNTER_RAWCOUNT,
        "Fragmentation Failures",
        "Datagrams that could not be fragmented.",
    )
    .advanced(),
    C::new(580, T::PERF_COUNTER_COUNTER, "Fragments Created/sec", "Fragments made.").advanced(),
];

/// Nearly all packets of the adapter are of this version, and nobody fragments.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let Traffic { packets_received, packets_sent } = Traffic::of(figures);
    let (received, sent) = (packets_received / 50 * 49, packets_sent / 50 * 49);
    let (bad_address, no_route) = (figures.rare(0x1904, 100, 400), figures.rare(0x1905, 600, 3_600));
    let delivered = received.saturating_sub(bad_address);
    Data::Single(vec![
        received + sent,
        received,
        0,
        bad_address,
        0,
        0,
        0,
        delivered,
        sent,
        0,
        no_route,
        0,
        0,
        0,
        0,
        0,
        0,
    ])
}
