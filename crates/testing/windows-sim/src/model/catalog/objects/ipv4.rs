use counters::perflib_v1::write::Data;

use super::figures::Figures;
use super::network_interface::Traffic;

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
