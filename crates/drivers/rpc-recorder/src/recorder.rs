use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dcerpc::{AssociationInfo, EndpointState, Observer, Observers, Role, SyntaxId, Transport};
use parking_lot::Mutex;
use rpc::Method;
use rpc_cells::{CellHandle, CellId, EndpointStatus, Interface, Level, Name, Operation, Writer, boot_ms};
use wire::Guid;

use super::client::Shared;
use crate::client::Client;
use crate::server::Server;

/// Keeps the state of all associations of a program in cells. Clones are the same one.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

impl Recorder {
    /// A recorder that knows these names. A writer of nothing costs nothing.
    #[must_use]
    pub fn new(writer: Writer, names: &[InterfaceNames]) -> Self {
        Self::with_clock(writer, names, boot_ms)
    }

    /// The same with another clock, of milliseconds after boot.
    #[must_use]
    pub fn with_clock(
        writer: Writer,
        names: &[InterfaceNames],
        now_ms: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            writer,
            names: Names::new(names),
            endpoints: Mutex::default(),
            now_ms: Box::new(now_ms),
        }))
    }
}

impl Observers for Recorder {
    fn association(&self, info: &AssociationInfo<'_>) -> Arc<dyn Observer> {
        let shared = Arc::clone(&self.0);
        match info.role {
            _ if shared.writer.level() == Level::NONE => Arc::new(()),
            Role::Client => Arc::new(Client::new(shared, info)),
            Role::Server => {
                let endpoint = shared.endpoint(info.transport, info.endpoint, None);
                Arc::new(Server::new(shared, endpoint, info.peer))
            }
        }
    }

    fn endpoint(&self, transport: Transport, endpoint: &str, state: EndpointState) {
        let status = match state {
            EndpointState::Opening => EndpointStatus::ALLOCATED,
            EndpointState::Closed => EndpointStatus::INACTIVE,
            _ => EndpointStatus::ACTIVE,
        };
        self.0.endpoint(transport, endpoint, Some(status));
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("writer", &self.0.writer).finish_non_exhaustive()
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

// Names of interfaces and methods in cells.

/// The names of an interface and its methods.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceNames {
    name: &'static str,
    syntax_id: SyntaxId,
    method: fn(u16) -> Option<&'static Method>,
}

impl InterfaceNames {
    /// Those of a declared interface, inherited methods among them.
    #[must_use]
    pub const fn of<I: rpc::Interface>() -> Self {
        Self { name: I::NAME, syntax_id: I::SYNTAX_ID, method: I::method }
    }

    /// Of which interface they are.
    #[must_use]
    pub const fn syntax_id(&self) -> SyntaxId {
        self.syntax_id
    }
}

/// The cells of names. Each is written once, when it is first used.
#[derive(Debug)]
pub(crate) struct Names(HashMap<(Guid, u16), Mutex<Cells>>);

#[derive(Debug)]
struct Cells {
    names: InterfaceNames,
    interface: Option<CellHandle<Interface>>,
    /// Only methods that are declared, so that they are limited.
    operations: BTreeMap<u16, CellHandle<Operation>>,
}

impl Names {
    pub(crate) fn new(all: &[InterfaceNames]) -> Self {
        let cells = |&names: &InterfaceNames| {
            Mutex::new(Cells { names, interface: None, operations: BTreeMap::new() })
        };
        Self(all.iter().map(|names| (key(&names.syntax_id), cells(names))).collect())
    }

    /// The cell of a method; none without a name.
    pub(crate) fn operation(&self, writer: &Writer, interface: &SyntaxId, opnum: u16) -> CellId {
        let Some(cells) = self.0.get(&key(interface)) else { return CellId::NONE };
        let Cells { names, interface, operations } = &mut *cells.lock();
        if let Some(operation) = operations.get(&opnum) {
            return operation.id();
        }
        let Some(method) = (names.method)(opnum) else { return CellId::NONE };
        let interface = interface.get_or_insert_with(|| {
            let SyntaxId { uuid, version_major, .. } = names.syntax_id;
            writer.interface(Interface { version: version_major, uuid, name: Name::new(names.name) })
        });
        let operation = Operation { opnum, interface: interface.id(), name: Name::new(method.name) };
        operations.entry(opnum).or_insert(writer.operation(operation)).id()
    }
}

fn key(interface: &SyntaxId) -> (Guid, u16) {
    (interface.uuid, interface.version_major)
}
