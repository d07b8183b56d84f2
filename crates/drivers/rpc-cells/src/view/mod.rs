//! What is made of cells: the tables that Windows' tool `dbgrpc` prints, the same as JSON, one cell in full, and the way of
//! a call from process to process.
//!
//! All of it works on [`Snapshot`]s, one for each file; a process may have several. The options are
//! those of `dbgrpc`:
//!
//! | option | here |
//! | --- | --- |
//! | `-e` | [`endpoints`] |
//! | `-t` | [`threads`] |
//! | `-c` | [`server_calls`] |
//! | `-a` | [`client_calls`] |
//! | `-l` | [`cell`] |
//!
//! `dbgrpc` has no list of connections; [`connections`] is ours.
//!
//! Rows are sorted as the files and their cells are. `Display` of a [`Table`] is the text for people; rows are `Serialize`.
//! The names of a method and its interface, where its process knows them, follow the columns that `dbgrpc` has.
//! Names come from other processes, so control characters in them are escaped.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod detail;
mod follow;
mod rows;

use std::fmt;

use safe_text::OneLine;
use serde::Serialize;

pub use self::detail::{CellText, cell};
pub use self::follow::{Hop, Place, Trail, TrailEnd, follow};
pub use self::rows::{ClientCallRow, ConnectionRow, EndpointRow, Found, ServerCallRow, ThreadRow};

use crate::{CallFlags, Cell, CellId, ObjectCall, ProtocolSequence, Snapshot};

/// A line of a table.
pub trait Row {
    /// What was searched for.
    const SOUGHT: &str;
    /// The names of the columns.
    const HEADING: &str;
    /// The length of the line below them.
    const RULE: usize;

    /// Writes the columns.
    ///
    /// # Errors
    /// When the formatter has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Rows, which print as `dbgrpc` prints them. As JSON it is an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Table<R> {
    pub rows: Vec<R>,
}

impl<R: Row> fmt::Display for Table<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Searching for {} info ...", R::SOUGHT)?;
        writeln!(f, "{}", R::HEADING)?;
        writeln!(f, "{}", "-".repeat(R::RULE))?;
        self.rows.iter().try_for_each(|row| {
            row.fmt(f)?;
            writeln!(f)
        })
    }
}

/// How `dbgrpc` abbreviates a protocol sequence; its number if it has no abbreviation.
#[must_use]
pub fn short(protocol_sequence: ProtocolSequence) -> String {
    match protocol_sequence {
        ProtocolSequence::TCP => "TCP".to_owned(),
        ProtocolSequence::UDP => "UDP".to_owned(),
        ProtocolSequence::NAMED_PIPE => "NMP".to_owned(),
        ProtocolSequence::LOCAL => "LRPC".to_owned(),
        ProtocolSequence::HTTP => "HTTP".to_owned(),
        other => format!("{:#04x}", other.0),
    }
}

/// A value's name as a label, `Dispatched`; its number if it has none.
#[must_use]
pub fn label(name: Option<&str>, number: u32) -> String {
    let Some(name) = name else { return format!("{number:#x}") };
    let mut letters = name.chars();
    let first = letters.next().into_iter();
    first
        .chain(letters.map(|letter| letter.to_ascii_lowercase()))
        .map(|c| if c == '_' { ' ' } else { c })
        .collect()
}

/// The flags of a call: `cached, LRPC`.
pub(crate) fn call_flags(flags: CallFlags) -> String {
    let known = [
        (CallFlags::CACHED, "cached"),
        (CallFlags::ASYNC, "async"),
        (CallFlags::PIPE, "pipe"),
        (CallFlags::LRPC, "LRPC"),
    ];
    let mut words: Vec<String> =
        known.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, word)| (*word).to_owned()).collect();
    let rest = known.iter().fold(flags.0, |rest, (flag, _)| rest & !flag.0);
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The name of a method, as its process knows it. Prints as `IRemoteSCMActivator.RemoteCreateInstance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationName<'a> {
    /// The name of the interface.
    pub interface: &'a str,
    /// The name of the method.
    pub method: &'a str,
}

impl fmt::Display for OperationName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", OneLine(self.interface), OneLine(self.method))
    }
}

/// The name of the method that a call refers to by its field `operation`.
#[must_use]
pub fn operation_name(snapshot: &Snapshot, operation: CellId) -> Option<OperationName<'_>> {
    let Some(Cell::Operation(operation)) = snapshot.get(operation) else { return None };
    let Some(Cell::Interface(interface)) = snapshot.get(operation.interface) else { return None };
    Some(OperationName { interface: interface.name.as_str(), method: operation.name.as_str() })
}

/// What a call refers to by its field `object`.
pub(crate) fn object_of(snapshot: &Snapshot, object: CellId) -> Option<&ObjectCall> {
    match snapshot.get(object)? {
        Cell::ObjectCall(object) => Some(object),
        _ => None,
    }
}

/// What the rows of calls have of these two.
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct CallNames {
    /// The name of the interface, if it is known.
    pub interface: Option<String>,
    /// The name of the method, if it is known.
    pub method: Option<String>,
    /// The interface of the object that is called, if it is one of DCOM.
    pub ipid: Option<String>,
    /// The causality id of the call, if it is one of DCOM.
    pub causality_id: Option<String>,
}

impl CallNames {
    pub(crate) fn new(snapshot: &Snapshot, operation: CellId, object: CellId) -> Self {
        let name = operation_name(snapshot, operation);
        let object = object_of(snapshot, object);
        Self {
            interface: name.map(|name| name.interface.to_owned()),
            method: name.map(|name| name.method.to_owned()),
            ipid: object.map(|object| object.ipid.to_string()),
            causality_id: object.map(|object| object.causality_id.to_string()),
        }
    }
}

/// What follows the columns of a row: nothing without a name.
impl fmt::Display for CallNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.interface, &self.method) {
            (Some(interface), Some(method)) => write!(f, " {}", OperationName { interface, method }),
            _ => Ok(()),
        }
    }
}

/// Which calls are wanted: all, but for what is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CallFilter {
    /// `-C`: those with this id.
    pub call_id: Option<u32>,
    /// `-I`: those of interfaces whose UUID begins with these 32 bits.
    pub interface_start: Option<u32>,
    /// `-N`: those of the method with this number.
    pub opnum: Option<u16>,
    /// `-P`: those of this process.
    pub pid: Option<u32>,
}

impl CallFilter {
    fn takes(&self, pid: u32, call_id: u32, interface_start: u32, opnum: u16) -> bool {
        self.pid.is_none_or(|wanted| wanted == pid)
            && self.call_id.is_none_or(|wanted| wanted == call_id)
            && self.interface_start.is_none_or(|wanted| wanted == interface_start)
            && self.opnum.is_none_or(|wanted| wanted == opnum)
    }
}

/// `-e`: the endpoints of all processes, or those with this name.
#[must_use]
pub fn endpoints(snapshots: &[Snapshot], name: Option<&str>) -> Table<EndpointRow> {
    rows(snapshots, |found, _, cell| match cell {
        Cell::Endpoint(endpoint) if name.is_none_or(|name| endpoint.name.is_front_of(name)) => {
            Some(EndpointRow::new(found, endpoint))
        }
        _ => None,
    })
}

/// `-t`: the threads of all processes, or of one; or those with this id.
#[must_use]
pub fn threads(snapshots: &[Snapshot], pid: Option<u32>, tid: Option<u32>) -> Table<ThreadRow> {
    rows(snapshots, |found, _, cell| match cell {
        Cell::Thread(thread)
            if pid.is_none_or(|pid| pid == found.pid) && tid.is_none_or(|tid| tid == thread.tid) =>
        {
            Some(ThreadRow::new(found, thread))
        }
        _ => None,
    })
}

/// The connections of all processes, or of one.
#[must_use]
pub fn connections(snapshots: &[Snapshot], pid: Option<u32>) -> Table<ConnectionRow> {
    rows(snapshots, |found, snapshot, cell| match cell {
        Cell::Connection(connection) if pid.is_none_or(|pid| pid == found.pid) => {
            Some(ConnectionRow::new(found, snapshot, connection))
        }
        _ => None,
    })
}

#[must_use]
pub fn server_calls(snapshots: &[Snapshot], filter: &CallFilter) -> Table<ServerCallRow> {
    rows(snapshots, |found, snapshot, cell| match cell {
        Cell::ServerCall(call) if filter.takes(found.pid, call.call_id, call.interface_start, call.opnum) => {
            Some(ServerCallRow::new(found, snapshot, call))
        }
        _ => None,
    })
}

/// `-a`: client calls, each with its target.
#[must_use]
pub fn client_calls(snapshots: &[Snapshot], filter: &CallFilter) -> Table<ClientCallRow> {
    rows(snapshots, |found, snapshot, cell| match cell {
        Cell::ClientCall(call) if filter.takes(found.pid, call.call_id, call.interface_start, call.opnum) => {
            Some(ClientCallRow::new(found, snapshot, call))
        }
        _ => None,
    })
}

fn rows<R>(snapshots: &[Snapshot], row: impl Fn(Found, &Snapshot, &Cell) -> Option<R>) -> Table<R> {
    let files = snapshots.iter().enumerate();
    let cells =
        files.flat_map(|(file, snapshot)| snapshot.cells.iter().map(move |cell| (file, snapshot, cell)));
    let rows =
        cells.filter_map(|(file, snapshot, (id, cell))| row(Found::new(file, snapshot, *id), snapshot, cell));
    Table { rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_a_name_are_numbers() {
        assert_eq!(label(Some("PKT_PRIVACY"), 6), "Pkt privacy");
        assert_eq!(label(None, 9), "0x9");
        assert_eq!(call_flags(CallFlags(0x19)), "cached, LRPC, 0x10");
        assert_eq!(call_flags(CallFlags(0)), "none");
        assert_eq!(short(ProtocolSequence(0x13)), "0x13");
    }
}
