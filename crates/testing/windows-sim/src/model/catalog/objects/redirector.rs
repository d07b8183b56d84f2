use counters::perflib_v1::write::Data;

use super::figures::Figures;

/// What is read, and the same for what is written: paging, through the cache and over the network.
fn transfer(figures: &Figures<'_>, salt: u64, rate: u64) -> (u64, [u64; 6]) {
    let operations = figures.events_at(salt, rate);
    let bytes = operations * 8_192;
    (operations, [bytes + operations * 96, operations * 2, bytes / 10, bytes / 10 * 9, bytes / 2, bytes])
}

pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (reads, read) = transfer(figures, 0x4ed1, 12);
    let (writes, written) = transfer(figures, 0x4ed2, 4);
    let mut values = vec![read[0] + written[0], reads + writes, read[1] + written[1]];
    values.extend(read);
    values.extend(written);
    for operations in [reads, writes] {
        values.extend([operations, operations / 4, operations, operations / 20, operations / 3]);
    }
    values.extend([
        0,
        0,
        figures.rare(0x4ed3, 3_600, 9_000),
        3,
        figures.rare(0x4ed4, 7_200, 36_000),
        0,
        0,
        0,
        3,
    ]);
    values.extend([figures.rare(0x4ed5, 7_200, 36_000), 0, figures.level(0x4ed6, 0, 2)]);
    Data::Single(values)
}
