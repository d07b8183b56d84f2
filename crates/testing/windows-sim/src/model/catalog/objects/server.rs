use counters::perflib_v1::write::Data;

use super::figures::Figures;

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
