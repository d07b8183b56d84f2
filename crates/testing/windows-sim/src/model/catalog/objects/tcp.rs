use counters::perflib_v1::write::Data;

use super::figures::Figures;
use super::network_interface::Traffic;

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
