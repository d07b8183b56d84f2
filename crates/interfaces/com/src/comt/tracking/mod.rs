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

mod dropped;
mod entry;
mod layout;
mod read;
pub mod write;

pub use self::dropped::{Dropped, Limits, Position, Reason};
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
