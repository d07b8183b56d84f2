//! Reports of data collector sets, [MS-PLA] 2.2.3.3, and the rules that add to them, 2.2.3.4 to 2.2.8.
//!
//! No input or output, and no clock.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod error;
mod facts;
mod html;
mod report;
mod rules;
mod statistics;
mod tree;
pub mod xpath;

pub use self::error::Error;
pub use self::facts::{Gap, RunFacts, RunFile};
pub use self::report::{Options, Report, Source};
pub use self::rules::{Applied, Documents, Failure, Limits, Rules};
pub use self::statistics::{Figures, Statistics};
pub use self::tree::Tree;
