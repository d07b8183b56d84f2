use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::{Data, Instance};

use super::super::super::PAGE_FILE_BYTES;
use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static PAGING_FILE: PerfObject =
    PerfObject::new(700, "Paging File", "The page files of the host.", &COUNTERS)
        .german("Auslagerungsdatei")
        .advanced();

static COUNTERS: [C; 4] = [
    C::new(702, T::PERF_RAW_FRACTION, "% Usage", "Share of the page file that is in use.")
        .german("Belegung (%)"),
    C::base(702, T::PERF_RAW_BASE),
    C::new(704, T::PERF_RAW_FRACTION, "% Usage Peak", "The largest share in use so far.")
        .german("Maximale Belegung (%)"),
    C::base(704, T::PERF_RAW_BASE),
];

const PAGE: u64 = 4096;

/// In pages: a twentieth to a tenth of the one page file is in use.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let pages = PAGE_FILE_BYTES / PAGE;
    let values = [figures.level(0x9a9e, pages / 20, pages / 10), pages, pages / 10, pages];
    let instance =
        |name: &str| Instance { name: name.to_owned(), values: values.to_vec(), ..Instance::default() };
    Data::Instances([r"\??\C:\pagefile.sys", "_Total"].map(instance).into())
}
