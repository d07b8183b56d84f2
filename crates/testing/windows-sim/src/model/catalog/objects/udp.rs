use counters::perflib_v1::write::Data;

use super::figures::Figures;

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
