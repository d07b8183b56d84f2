use counters::perflib_v1::write::Data;

use super::figures::Figures;

/// Of the reads of a kind three quarters wait, and some of each hundred hit.
struct Reads {
    all: u64,
    hits: u64,
}

impl Reads {
    fn of(figures: &Figures<'_>, salt: u64, rate: u64, hit_percent: u64) -> Self {
        let all = figures.events_at(salt, rate);
        Self { all, hits: all / 100 * hit_percent }
    }

    /// All of them, those that waited, and those that did not.
    const fn split(&self) -> [u64; 3] {
        let sync = self.all / 4 * 3;
        [self.all, sync, self.all - sync]
    }
}

pub(super) fn data(figures: &Figures<'_>) -> Data {
    let maps = Reads::of(figures, 0xca01, 60, 99);
    let pins = Reads::of(figures, 0xca02, 8, 97);
    let copies = Reads::of(figures, 0xca03, 300, 96);
    let mdl = Reads::of(figures, 0xca04, 12, 94);
    let fast = Reads::of(figures, 0xca05, 250, 100);
    let lazy = figures.events_at(0xca06, 3);
    let mut values = Vec::with_capacity(super::object("Cache").counters.len());
    for (reads, is_map) in [(&maps, true), (&pins, false), (&copies, false), (&mdl, false)] {
        values.extend(reads.split());
        values.extend([reads.hits, reads.all]);
        if is_map {
            values.push(reads.all / 5);
        }
    }
    values.push(figures.events_at(0xca07, 15));
    values.extend(fast.split());
    values.extend([0, fast.all / 200, lazy, lazy * 9, lazy + lazy / 2, lazy * 12]);
    values.extend([figures.level(0xca08, 20, 4_000), 1 << 20]);
    Data::Single(values)
}
