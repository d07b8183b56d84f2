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

mod field;
mod read;
mod record;
mod set;
mod validate;

use core::fmt;

use wire::Guid;

pub use self::field::{Date, Time};
pub use self::read::Limits;
pub use self::set::{
    AlertDataCollector, ApiTracingDataCollector, ConfigurationDataCollector, DataCollectorSet, DataManager,
    FolderAction, PerformanceCounterDataCollector, Schedule,
};
pub use self::validate::{Finding, Validation};

use self::field::Field;
use self::record::{collector, record};
use super::types::{AutoPathFormat, ClockType, DataCollectorType, StreamMode, ValueMapType};

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

/// A place in a document, from 1. Zero in what was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    pub line: u32,
    /// The character in it.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// An element as it is in a document.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Its name, perhaps with the prefix of a namespace.
    pub name: String,
    /// Its attributes; declarations of namespaces are among them.
    pub attributes: Vec<Attribute>,
    /// What is in it. Text that is white space between elements is not kept.
    pub nodes: Vec<Node>,
    pub position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name, perhaps with the prefix of a namespace.
    pub name: String,
    /// Its value, without entities.
    pub value: String,
}

/// What is in an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// The name without the prefix of a namespace.
    #[must_use]
    pub fn local_name(&self) -> &str {
        self.name.split_once(':').map_or(&self.name, |(_prefix, name)| name)
    }

    /// The elements in it.
    pub fn elements(&self) -> impl Iterator<Item = &Self> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The text in it, if there are no elements.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.nodes[..] {
            [] => Some(""),
            [Node::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The value of the attribute with this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &*attribute.value)
    }
}

/// Where an element stood is no part of it.
impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.attributes, &self.nodes) == (&other.name, &other.attributes, &other.nodes)
    }
}

impl Eq for Element {}

impl Element {
    /// Writes a document whose root it is: its text, which says that it is UTF-16.
    ///
    /// # Errors
    /// When a name or a text has characters that XML does not have.
    pub fn to_xml(&self) -> Result<String, Error> {
        write_document(self)
    }
}

/// The text of a document. Elements with elements are on lines of their own.
///
/// # Errors
/// When a name or a text has characters that XML does not have.
fn write_document(root: &Element) -> Result<String, Error> {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n");
    write_element(root, 0, &mut text)?;
    Ok(text)
}

/// A model is not deep, and what was read is no deeper than its limit.
fn write_element(element: &Element, depth: usize, text: &mut String) -> Result<(), Error> {
    check_chars(element, &element.name)?;
    indent(depth, text);
    text.push('<');
    text.push_str(&element.name);
    for attribute in &element.attributes {
        check_chars(element, &attribute.value)?;
        text.push(' ');
        text.push_str(&attribute.name);
        text.push_str("=\"");
        push_escaped(&attribute.value, true, text);
        text.push('"');
    }
    if element.nodes.is_empty() {
        text.push_str("/>\r\n");
        return Ok(());
    }
    text.push('>');
    // Line breaks beside a text would be part of it.
    let is_mixed = element.nodes.iter().any(|node| matches!(node, Node::Text(_)));
    if !is_mixed {
        text.push_str("\r\n");
    }
    for node in &element.nodes {
        match node {
            Node::Text(part) => {
                check_chars(element, part)?;
                push_escaped(part, false, text);
            }
            Node::Element(inner) if is_mixed => {
                let mut part = String::new();
                write_element(inner, 0, &mut part)?;
                text.push_str(part.strip_suffix("\r\n").unwrap_or(&part));
            }
            Node::Element(inner) => write_element(inner, depth + 1, text)?,
        }
    }
    if !is_mixed {
        indent(depth, text);
    }
    text.push_str("</");
    text.push_str(&element.name);
    text.push_str(">\r\n");
    Ok(())
}

fn indent(depth: usize, text: &mut String) {
    (0..depth).for_each(|_| text.push('\t'));
}

/// Adds a text of an element, or of an attribute in double quotes, as a document has it. Characters that XML does not have stay
/// as they are, see [`is_char`].
pub fn push_escaped(part: &str, is_attribute: bool, text: &mut String) {
    for char in part.chars() {
        match char {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' if is_attribute => text.push_str("&quot;"),
            // A reader makes line feeds of them, and spaces in attributes.
            '\r' => text.push_str("&#13;"),
            '\n' | '\t' if is_attribute => text.push_str(if char == '\n' { "&#10;" } else { "&#9;" }),
            char => text.push(char),
        }
    }
}

/// Whether XML has the character.
#[must_use]
pub const fn is_char(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

fn check_chars(element: &Element, text: &str) -> Result<(), Error> {
    if text.chars().all(is_char) {
        Ok(())
    } else {
        Err(Error::new(element.position, &element.name, "has a character that XML does not have"))
    }
}

// Trace collectors and their providers, as XML.

collector! {
    /// See section 3.2.4.9 of [MS-PLA].
    TraceDataCollector = "TraceDataCollector" {
        one {
            guid: Guid = "Guid",
            /// KB of one buffer.
            buffer_size_kb: u32 = "BufferSize",
            /// Buffers that could not be written.
            buffers_lost: u32 = "BuffersLost",
            /// Buffers that were written.
            buffers_written: u32 = "BuffersWritten",
            /// The clock of the time stamps.
            clock_type: ClockType = "ClockType",
            /// Events that no buffer had room for.
            events_lost: u32 = "EventsLost",
            /// Flags of the session.
            extended_modes: u32 = "ExtendedModes",
            /// Seconds after which a buffer is written that is not full.
            flush_timer_s: u32 = "FlushTimer",
            /// Buffers that are free.
            free_buffers: u32 = "FreeBuffers",
            /// Buffers that there may be.
            buffers_max: u32 = "MaximumBuffers",
            /// Buffers that there are from the beginning.
            buffers_min: u32 = "MinimumBuffers",
            /// Buffers that there are.
            buffers: u32 = "NumberOfBuffers",
            /// Whether the file has its full size from the beginning.
            preallocates_file: bool = "PreallocateFile",
            /// Whether each process has buffers of its own.
            is_per_process: bool = "ProcessMode",
            /// Buffers that no consumer took in time.
            real_time_buffers_lost: u32 = "RealTimeBuffersLost",
            session_name: String = "SessionName",
            /// The thread that writes its buffers.
            session_thread_id: u32 = "SessionThreadId",
            stream_mode: StreamMode = "StreamMode",
        }
        many {
            /// The providers of its events.
            providers: TraceDataProvider = "TraceDataProvider",
        }
    }
}

record! {
    /// See section 3.2.4.11 of [MS-PLA].
    TraceDataProvider = "TraceDataProvider" {
        one {
            display_name: String = "DisplayName",
            /// Whether the filter is in force.
            is_filter_enabled: bool = "FilterEnabled",
            /// The kind of the filter.
            filter_type: u32 = "FilterType",
            /// The level up to which events are wanted.
            level: ValueMap = "Level",
            /// Keywords of which an event needs one.
            keywords_any: ValueMap = "KeywordsAny",
            /// Keywords of which an event needs all.
            keywords_all: ValueMap = "KeywordsAll",
            /// What is added to each event.
            properties: ValueMap = "Properties",
            guid: Guid = "Guid",
            filter_data: String = "FilterData",
        }
        many {}
    }
}

record! {
    /// [MS-PLA] 3.2.4.18; its element has the name of the property.
    ValueMap = "ValueMap" {
        one {
            description: String = "Description",
            /// How the value follows from the items.
            kind: ValueMapType = "ValueMapType",
            /// The value, a number as it was written: decimal, or hexadecimal after `0x`.
            value: String = "Value",
        }
        many {
            items: ValueMapItem = "ValueMapItem",
        }
    }
}

record! {
    /// See section 3.2.4.17 of [MS-PLA].
    ValueMapItem = "ValueMapItem" {
        one {
            key: String = "Key",
            description: String = "Description",
            /// Whether it is chosen.
            is_enabled: bool = "Enabled",
            /// The value, a number as it was written: decimal, or hexadecimal after `0x`.
            value: String = "Value",
        }
        many {}
    }
}
