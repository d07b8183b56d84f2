use counters::perflib_v1::write::{Data, Instance};

use super::figures::Figures;

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
