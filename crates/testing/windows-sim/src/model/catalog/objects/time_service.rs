use counters::perflib_v1::write::Data;

use super::figures::Figures;

/// A host that asks one time server, and is none itself.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    Data::Single(vec![
        figures.level(0x71e0, 20, 900),
        156_250,
        figures.level(0x71e1, 100, 400),
        figures.level(0x71e2, 300, 2_500),
        1,
        0,
        0,
    ])
}
