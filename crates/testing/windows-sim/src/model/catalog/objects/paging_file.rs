use counters::perflib_v1::write::{Data, Instance};

use super::super::super::PAGE_FILE_BYTES;
use super::figures::Figures;

const PAGE: u64 = 4096;

/// In pages: a twentieth to a tenth of the one page file is in use.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let pages = PAGE_FILE_BYTES / PAGE;
    let values = [figures.level(0x9a9e, pages / 20, pages / 10), pages, pages / 10, pages];
    let instance =
        |name: &str| Instance { name: name.to_owned(), values: values.to_vec(), ..Instance::default() };
    Data::Instances([r"\??\C:\pagefile.sys", "_Total"].map(instance).into())
}
