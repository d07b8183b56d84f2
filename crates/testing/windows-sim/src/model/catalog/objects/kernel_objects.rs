use counters::perflib_v1::write::Data;

use super::figures::Figures;
use super::system::{processes, threads};

/// Each thread has some events, and each process some of the others.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (processes, threads) = (processes(figures), threads(figures));
    let events = threads * 9 + figures.level(0x0b01, 0, 200);
    Data::Single(vec![processes, threads, events, threads * 3, processes * 12, processes * 34])
}
