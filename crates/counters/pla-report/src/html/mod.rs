//! A report as a page of HTML: one file without scripts, which people read in a browser and print.

mod escape;
mod labels;
mod number;
mod page;
mod range;
mod table;
mod warnings;

pub(crate) use self::page::page;
