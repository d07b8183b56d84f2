use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::{Data, Instance};

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters below 1848 and all types. Hosts since Windows 8 have the last four.
pub(crate) static NETWORK_INTERFACE: PerfObject =
    PerfObject::new(510, "Network Interface", "Each network adapter.", &COUNTERS)
        .german("Netzwerkschnittstelle")
        .advanced();

static COUNTERS: [C; 22] = [
    C::new(388, T::PERF_COUNTER_BULK_COUNT, "Bytes Total/sec", "Bytes received and sent.")
        .german("Gesamtanzahl Bytes/s")
        .help(513)
        .advanced()
        .scale(-4),
    C::new(400, T::PERF_COUNTER_BULK_COUNT, "Packets/sec", "Packets received and sent.")
        .help(515)
        .advanced()
        .scale(-1),
    C::new(266, T::PERF_COUNTER_BULK_COUNT, "Packets Received/sec", "Packets received.")
        .german("Empfangene Pakete/s")
        .help(517)
        .advanced()
        .scale(-1),
    C::new(452, T::PERF_COUNTER_BULK_COUNT, "Packets Sent/sec", "Packets sent.")
        .german("Gesendete Pakete/s")
        .help(519)
        .advanced()
        .scale(-1),
    C::new(
        520,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Current Bandwidth",
        "Bandwidth of the link, in bits a second.",
    )
    .german("Aktuelle Bandbreite")
    .advanced()
    .scale(-6),
    C::new(264, T::PERF_COUNTER_BULK_COUNT, "Bytes Received/sec", "Bytes received.")
        .german("Empfangene Bytes/s")
        .help(523)
        .advanced()
        .scale(-4),
    C::new(
        524,
        T::PERF_COUNTER_BULK_COUNT,
        "Packets Received Unicast/sec",
        "Packets received for this host alone.",
    )
    .expert()
    .scale(-1),
    C::new(
        526,
        T::PERF_COUNTER_BULK_COUNT,
        "Packets Received Non-Unicast/sec",
        "Packets received for several hosts.",
    )
    .expert()
    .scale(-1),
    C::new(
        528,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Packets Received Discarded",
        "Packets dropped for lack of room.",
    )
    .advanced(),
    C::new(530, T::PERF_COUNTER_LARGE_RAWCOUNT, "Packets Received Errors", "Packets received with errors.")
        .advanced(),
    C::new(
        532,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Packets Received Unknown",
        "Packets of an unknown protocol.",
    )
    .advanced(),
    C::new(506, T::PERF_COUNTER_BULK_COUNT, "Bytes Sent/sec", "Bytes sent.")
        .german("Gesendete Bytes/s")
        .help(535)
        .advanced()
        .scale(-4),
    C::new(536, T::PERF_COUNTER_BULK_COUNT, "Packets Sent Unicast/sec", "Packets sent to one host.")
        .expert()
        .scale(-1),
    C::new(538, T::PERF_COUNTER_BULK_COUNT, "Packets Sent Non-Unicast/sec", "Packets sent to several hosts.")
        .expert()
        .scale(-1),
    C::new(
        540,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Packets Outbound Discarded",
        "Packets that were not sent though they had no error.",
    )
    .advanced(),
    C::new(
        542,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Packets Outbound Errors",
        "Packets that were not sent because of errors.",
    )
    .advanced(),
    C::new(544, T::PERF_COUNTER_LARGE_RAWCOUNT, "Output Queue Length", "Packets that wait to be sent.")
        .advanced(),
    C::new(
        1860,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Offloaded Connections",
        "TCP connections that the adapter handles.",
    )
    .advanced(),
    C::new(
        1862,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "TCP Active RSC Connections",
        "TCP connections whose received segments the adapter joins now.",
    )
    .advanced(),
    C::new(
        1864,
        T::PERF_COUNTER_BULK_COUNT,
        "TCP RSC Coalesced Packets/sec",
        "Packets received that the adapter had joined.",
    )
    .advanced(),
    C::new(
        1866,
        T::PERF_COUNTER_BULK_COUNT,
        "TCP RSC Exceptions/sec",
        "Segments received that could not be joined with others.",
    )
    .advanced(),
    C::new(
        1868,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "TCP RSC Average Packet Size",
        "Mean bytes of a packet that the adapter had joined.",
    )
    .advanced(),
];

/// `Intel(R) I210 Gigabit Network Connection #2`, as Windows writes it in an instance's name.
const ADAPTER: &str = "Intel[R] I210 Gigabit Network Connection _2";
const BANDWIDTH_BITS: u64 = 1_000_000_000;
/// Mean bytes of a packet.
const PACKET_BYTES: u64 = 780;

/// What the one adapter has received and sent since the start of the host.
pub(super) struct Traffic {
    pub(super) packets_received: u64,
    pub(super) packets_sent: u64,
}

impl Traffic {
    /// 100 to 4,000 packets a second, less are sent: below a fifth of the bandwidth.
    pub(super) fn of(figures: &Figures<'_>) -> Self {
        let packets_received = figures.events(0x4e71, 100, 4_000);
        Self { packets_received, packets_sent: packets_received / 3 * 2 }
    }
}

pub(super) fn data(figures: &Figures<'_>) -> Data {
    let Traffic { packets_received, packets_sent } = Traffic::of(figures);
    let (received, sent) = (packets_received * PACKET_BYTES, packets_sent * PACKET_BYTES / 2);
    let (broadcast_received, broadcast_sent) = (packets_received / 40, packets_sent / 200);
    let values = vec![
        received + sent,
        packets_received + packets_sent,
        packets_received,
        packets_sent,
        BANDWIDTH_BITS,
        received,
        packets_received - broadcast_received,
        broadcast_received,
        figures.rare(0x4e72, 600, 3_600),
        figures.rare(0x4e73, 3_600, 36_000),
        figures.rare(0x4e74, 300, 900),
        sent,
        packets_sent - broadcast_sent,
        broadcast_sent,
        0,
        figures.rare(0x4e75, 36_000, 72_000),
        figures.level(0x4e76, 0, 3),
        0,
        figures.level(0x4e77, 0, 12),
        packets_received / 20,
        figures.rare(0x4e78, 60, 600),
        4 * PACKET_BYTES,
    ];
    Data::Instances(vec![Instance { name: ADAPTER.to_owned(), values, ..Instance::default() }])
}
