//! [MS-COMT] 2.2.5 and 3.2.5.1.1: the buffer of a tracker event, an `OBJREF_CUSTOM` with the state of the whole host.
//!
//! It is a collection of processes. A process has named properties, one of which is a collection of instance
//! containers: instances of COM+ applications. A container has a collection of components.
//!
//! ```
//! use com::comt::tracking::{Component, Container, Dropped, Limits, Process, Visitor, read, write};
//!
//! struct Print;
//!
//! impl<'a> Visitor<'a> for Print {
//!     fn component(&mut self, process: Option<&Process<'a>>, container: &Container<'a>, component: &Component<'a>) {
//!         println!("{process:?} {} {} {:?}", container.application_id, component.clsid, component.in_call);
//!     }
//!     fn dropped(&mut self, dropped: &Dropped<'a>) {
//!         println!("{dropped}");
//!     }
//! }
//!
//! let components = vec![write::Component { in_call: Some(2), ..write::Component::default() }];
//! let containers = vec![write::Container { components, ..write::Container::default() }];
//! let processes = [write::Process { process_id: Some(4711), containers, ..write::Process::default() }];
//! let bytes = write::encode(&processes, &write::Choices::default()).unwrap();
//! read(&bytes, &Limits::default(), &mut Print).unwrap();
//! ```
//!
//! # Checks
//!
//! Reading borrows from the buffer and allocates nothing. No field states how many bytes an object has (the `reserved`
//! field of `OBJREF_CUSTOM` does not), so that an object ends where its last property ends. Therefore there are two
//! kinds of bad input:
//!
//! - A bad property costs itself, or its entry where it identifies the entry. Its neighbours are read, and
//!   [`Visitor::dropped`] tells which entry it was, and why.
//! - Bytes that are no structure at all end the event with an error: what follows cannot be found. Everything before
//!   it was visited.

mod entry;
mod layout;
mod read;
pub mod write;

use core::fmt;

use wire::WideStr;

pub use self::entry::{ApplicationType, Component, Container, Process};
pub use self::layout::CollectionType;
pub use self::read::{check_frame, read};

/// Gets the entries of an event in their order: a process, a container of it, the components of that, the next container.
pub trait Visitor<'a> {
    /// A process. Its containers follow.
    fn process(&mut self, process: &Process<'a>) {
        let _ = process;
    }

    /// An instance container, and the process that it is in; none where the event lists containers only. An application
    /// with several containers is listed as often. Its components follow.
    fn container(&mut self, process: Option<&Process<'a>>, container: &Container<'a>) {
        let _ = (process, container);
    }

    /// A component of `container`.
    fn component(
        &mut self,
        process: Option<&Process<'a>>,
        container: &Container<'a>,
        component: &Component<'a>,
    );

    /// A property, or an entry with all that is in it, was not read. What is around it is read.
    fn dropped(&mut self, dropped: &Dropped<'a>) {
        let _ = dropped;
    }
}

/// How many entries of an event are visited; the rest is checked, skipped and reported as dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub processes_max: u32,
    /// Maximum instance containers in all processes together.
    pub containers_max: u32,
    /// Maximum components in all containers together.
    pub components_max: u32,
    /// Maximum UTF-16 code units of a text.
    pub text_units_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { processes_max: 256, containers_max: 512, components_max: 4_096, text_units_max: 1_024 }
    }
}

/// Where an entry is: its index in each collection, from zero. The last that is not `None` is the entry's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    /// Index of the process.
    pub process: Option<u32>,
    /// Index of the container in its process.
    pub container: Option<u32>,
    /// Index of the component in its container.
    pub component: Option<u32>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels =
            [("process", self.process), ("container", self.container), ("component", self.component)];
        let mut separator = "";
        for (level, index) in levels {
            if let Some(index) = index {
                write!(f, "{separator}{level} {index}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// Something that was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<'a> {
    pub position: Position,
    /// The property; empty if it has no name, or if the whole entry was dropped.
    pub property: WideStr<'a>,
    /// Bytes from the beginning of the buffer.
    pub offset: usize,
    /// Why, and whether the whole entry was dropped.
    pub reason: Reason,
}

/// Why something was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The property has no name.
    NoName,
    /// [MS-COMT] 3.2.5.1.1 does not list a property with this name for such an entry.
    Unknown,
    /// A property with this name came before, and counts.
    Repeated,
    /// The value has this type instead of the listed one.
    WrongType { vt: u16 },
    /// The value means nothing: a flag that is neither 0 nor 1, a text that is no GUID.
    WrongValue,
    /// The text is longer than [`Limits::text_units_max`].
    TooLong,
    /// The property is a collection of something else.
    WrongCollection { collection_type: u32 },
    /// The property, or the entry, is an object where a collection must be, or the other way round.
    WrongObject,
    /// The entry was dropped with all that is in it: the property that identifies it is missing.
    Missing { property: &'static str },
    /// The last entries of the collection were dropped: an event has more than [`Limits`] allow.
    Limit {
        /// Maximum entries of this level in an event.
        limit: u32,
        /// How many were dropped.
        entries: u32,
    },
}

impl fmt::Display for Dropped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, property, offset, reason } = self;
        write!(f, "{position}: ")?;
        if !property.as_bytes().is_empty() {
            write!(f, "`{property}`: ")?;
        }
        write!(f, "{reason} (offset {offset})")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("property without a name"),
            Self::Unknown => f.write_str("unknown property"),
            Self::Repeated => f.write_str("repeated property"),
            Self::WrongType { vt } => write!(f, "unexpected type {vt:#06x}"),
            Self::WrongValue => f.write_str("value without a meaning"),
            Self::TooLong => f.write_str("text is too long"),
            Self::WrongCollection { collection_type } => write!(f, "collection of type {collection_type}"),
            Self::WrongObject => f.write_str("unexpected class of object"),
            Self::Missing { property } => write!(f, "entry without `{property}`"),
            Self::Limit { limit, entries } => write!(f, "{entries} entries above the limit of {limit}"),
        }
    }
}
