//! Reports of data collector sets, [MS-PLA] 2.2.3.3, and the rules that add to them, 2.2.3.4 to 2.2.8.
//!
//! No input or output, and no clock. Records go into [`Statistics`] while a run goes on; at its end, they become a [`Report`],
//! to which [`Rules`] add warnings, and which is written as XML and as a page.
//!
//! Schemas and rules come with exported sets, names of counters from hosts: all of it is untrusted. What cannot be used is
//! named in the report, work and sizes have [`Limits`], and a host does not choose by a name what a rule selects.
//!
//! ```
//! use counter_log::{Batch, Column, Sample};
//! use jiff::{Timestamp, tz::TimeZone};
//! use counter_log::data_manager::reports::{Limits, Options, Report, RunFacts, Rules, Source, Statistics};
//!
//! let column = Column {
//!     machine: "web1".into(), object: "Memory".into(), parent: None, instance: None, instance_index: 0,
//!     counter: "Pages/sec".into(), counter_type: 0, default_scale: 0, time_base: 0,
//! };
//! let mut batch = Batch::new(1);
//! batch.push(Timestamp::UNIX_EPOCH, [Sample { value: Some(4000.0), raw: None }]);
//! let mut statistics = Statistics::new(1);
//! batch.rows().for_each(|row| statistics.add(row));
//! let facts = RunFacts {
//!     set: "Shop".into(), host: "web1".into(), start: Timestamp::UNIX_EPOCH, end: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC,
//!     serial_number: None, files: vec![], gaps: vec![], records: Some(1), records_lost: Some(0), remarks: vec![],
//! };
//! let source = Source { columns: &[column], statistics: &statistics, facts: &facts };
//! let mut report = Report::build(None, &source, &Options::default());
//!
//! let rules = r#"<Rules><Group name="Memory"><Rule name="Paging"><Step select="//Item[Data='Pages/sec']/Data[@name='mean']">
//!     <Exists><When expression=". > 1000"><Warning select="." table="//Table[@name='warning']" tag="Paging">
//!       <Item><Data name="symptom" link="Paging">The host pages.</Data></Item></Warning></When></Exists>
//!   </Step></Rule></Group></Rules>"#;
//! let rules = Rules::read_document(rules.as_bytes(), &Limits::default())?;
//! let mut documents = |name: &str| Err(format!("the folder has no file `{name}`"));
//! let applied = rules.apply(&mut report, &mut documents, &Limits::default());
//! assert_eq!((applied.warnings, applied.failures.len()), (1, 0));
//! assert!(report.to_xml().contains(r#"<Data name="mean" warning="Paging">4000</Data>"#));
//! # Ok::<(), counter_log::data_manager::reports::Error>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod facts;
mod html;
mod report;
mod rules;
mod statistics;
mod tree;
pub mod xpath;

pub use self::facts::{Gap, RunFacts, RunFile};
pub use self::report::{Options, Report, Source};
pub use self::rules::{Applied, Documents, Failure, Limits, Rules};
pub use self::statistics::{Figures, Statistics};
pub use self::tree::Tree;

/// Why rules are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The document is not XML that is read here.
    #[error("read the rules: {0}")]
    Document(#[from] ms_pla::xml::Error),
    /// An element is not what [MS-PLA] 2.2.3.4 to 2.2.8 say.
    #[error("rules, {place}: {reason}")]
    Rule {
        /// Where: the names of group and rule as far as they are known, and line and column.
        place: String,
        /// What is wrong, and what is expected.
        reason: String,
    },
}
