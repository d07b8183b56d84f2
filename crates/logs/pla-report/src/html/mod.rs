//! A report as a page of HTML: one file without scripts, which people read in a browser and print.

mod escape;
mod labels;
mod number;
mod page;
mod range;
mod table;
mod warnings;

pub(crate) use self::page::page;

/// Bytes after which a page ends: more is of no use in a browser. Names are shown in many places, so that a small report could
/// have a very large page.
const PAGE_BYTES_MAX: usize = 32 << 20;

/// Whether nothing more is added to a page but its end.
const fn is_full(out: &str) -> bool {
    out.len() >= PAGE_BYTES_MAX
}
