//! [MS-PLA] 3.2.4.19: data collector sets as XML, as hosts export them and tools and people write them.
//!
//! ```
//! use ms_pla::xml::{DataCollectorSet, Limits};
//!
//! let text = "<DataCollectorSet><Duration>60</Duration><Segment>-1</Segment><New>x</New></DataCollectorSet>";
//! let set = DataCollectorSet::read(text.as_bytes(), &Limits::default()).unwrap();
//! assert_eq!((set.duration_s, set.is_segmented), (Some(60), Some(true)));
//! // What this crate does not know is kept.
//! assert!(set.to_xml().unwrap().contains("<New>x</New>"));
//! ```
//!
//! What is read: UTF-16 and UTF-8, with a byte order mark or without; elements in any order, of any namespace or of none;
//! booleans as 0, -1, any other number, `true` or `false`; [`Date`]s and [`Time`]s in the
//! forms that are common. A value of another type costs the document, or only itself: [`DataCollectorSet::read_each`]. A property that is twice counts where it is first.
//!
//! Nothing is lost but comments, processing instructions, and attributes of properties that are known: elements without a
//! meaning here, the second one of a property, and reports and rules, which have schemas of their own, are [`Element`]s.
//!
//! All of it is untrusted. There are no entities but the five of XML, and no document type declaration at all; bytes, elements
//! and depth have [`Limits`]; errors say line and column.

mod collectors;
mod data_manager;
mod element;
mod field;
mod read;
mod record;
mod set;
mod trace;
mod validate;
mod write;

pub use self::collectors::{
    AlertDataCollector, ApiTracingDataCollector, ConfigurationDataCollector, PerformanceCounterDataCollector,
};
pub use self::data_manager::{DataManager, FolderAction};
pub use self::element::{Attribute, Element, Node, Position};
pub use self::field::{Date, Time};
pub use self::read::Limits;
pub use self::set::{DataCollectorSet, Schedule};
pub use self::trace::{TraceDataCollector, TraceDataProvider, ValueMap, ValueMapItem};
pub use self::validate::{Finding, Validation};
use core::fmt;

/// Why a document is refused.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Error {
    /// Where: the beginning of what is wrong.
    pub position: Position,
    /// The elements around it, from the root, with `/` between them.
    pub path: String,
    pub reason: String,
}

impl Error {
    fn new(position: Position, path: &str, reason: impl Into<String>) -> Self {
        Self { position, path: path.to_owned(), reason: reason.into() }
    }
}

impl Error {
    /// The same error of an element in this one.
    fn within(mut self, name: &str) -> Self {
        let behind = if self.path.is_empty() { String::new() } else { format!("/{}", self.path) };
        self.path = format!("{name}{behind}");
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, path, reason } = self;
        if path.is_empty() {
            write!(f, "{position}: {reason}")
        } else {
            write!(f, "{position}: `{path}` {reason}")
        }
    }
}

impl core::error::Error for Error {}
