//! Names of interfaces and methods in cells.

use std::collections::{BTreeMap, HashMap};

use dcerpc::SyntaxId;
use parking_lot::Mutex;
use rpc::Method;
use rpc_cells::{CellHandle, CellId, Interface, Name, Operation, Writer};
use wire::Guid;

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
