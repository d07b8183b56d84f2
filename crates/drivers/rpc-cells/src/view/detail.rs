use std::fmt;

use crate::{
    CallFlags, Cell, CellId, Connection, ConnectionFlags, ConnectionTotals, ObjectCall, ServerCall, Snapshot,
};

use crate::view::rows::target_of;
use crate::view::{call_flags, label, short};
use crate::view::{object_of, operation_name};
use safe_text::OneLine;

/// `-l`: the objects that a process has in cells with this id: one for each of its files at most.
#[must_use]
pub fn cell(snapshots: &[Snapshot], pid: u32, id: CellId) -> Vec<CellText<'_>> {
    let of_process = snapshots.iter().filter(|snapshot| snapshot.header.process.pid == pid);
    of_process.filter_map(|snapshot| Some(CellText { snapshot, cell: snapshot.get(id)? })).collect()
}

/// An object in full. Prints as `dbgrpc` prints it.
#[derive(Clone, Copy, Debug)]
pub struct CellText<'a> {
    snapshot: &'a Snapshot,
    cell: &'a Cell,
}

impl CellText<'_> {
    /// The process or plugin instance whose file the object was found in.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.snapshot.header.name.as_str()
    }
}

impl fmt::Display for CellText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Getting cell info ...")?;
        match self.cell {
            Cell::Endpoint(endpoint) => {
                writeln!(f, "Endpoint")?;
                writeln!(f, "Status: {}", label(endpoint.status.name(), endpoint.status.0.into()))?;
                writeln!(f, "Protocol Sequence: {}", short(endpoint.protocol_sequence))?;
                writeln!(f, "Endpoint name: {}", OneLine(endpoint.name.as_str()))
            }
            Cell::Thread(thread) => {
                writeln!(f, "Thread")?;
                writeln!(f, "Status: {}", label(thread.status.name(), thread.status.0.into()))?;
                writeln!(f, "Thread ID: 0x{:X} ({})", thread.tid, thread.tid)?;
                writeln!(f, "Last update {}", Seconds(thread.last_update_ms))
            }
            Cell::Connection(connection) => {
                write_connection(f, connection)?;
                write_use(f, self.snapshot, connection)
            }
            Cell::ServerCall(call) => {
                write_server_call(f, call)?;
                write_names(f, self.snapshot, call.operation, call.object)
            }
            Cell::ClientCall(call) => {
                writeln!(f, "Client call information")?;
                writeln!(f, "Procedure Number: {}", call.opnum)?;
                writeln!(f, "Interface UUID start (first DWORD only): {:X}", call.interface_start)?;
                writeln!(f, "Call ID: 0x{:X} ({})", call.call_id, call.call_id)?;
                writeln!(f, "Calling thread identifier: {}", Short(call.servicing_thread))?;
                writeln!(f, "Call target identifier: {}", Short(call.target))?;
                writeln!(f, "Call target endpoint: {}", OneLine(call.endpoint.as_str()))?;
                // "Most tools will show the information together."
                if let Some(target) = target_of(self.snapshot, call.target) {
                    write_target(f, &target)?;
                }
                write_names(f, self.snapshot, call.operation, call.object)
            }
            Cell::CallTarget(target) => {
                writeln!(f, "Call target information")?;
                write_target(f, target)
            }
            Cell::Interface(interface) => {
                writeln!(f, "Interface")?;
                writeln!(f, "Interface UUID: {}", interface.uuid)?;
                writeln!(f, "Major version: {}", interface.version)?;
                writeln!(f, "Interface name: {}", OneLine(interface.name.as_str()))
            }
            Cell::Operation(operation) => {
                writeln!(f, "Operation")?;
                writeln!(f, "Procedure Number: {}", operation.opnum)?;
                writeln!(f, "Interface identifier: {}", Short(operation.interface))?;
                writeln!(f, "Operation name: {}", OneLine(operation.name.as_str()))
            }
            Cell::ObjectCall(object) => {
                writeln!(f, "Call of an object")?;
                write_object(f, object)
            }
            Cell::ConnectionTotals(totals) => {
                writeln!(f, "Totals of a connection")?;
                write_totals(f, totals)
            }
        }
    }
}

fn write_connection(f: &mut fmt::Formatter<'_>, connection: &Connection) -> fmt::Result {
    let kind = match connection.flags {
        ConnectionFlags::EXCLUSIVE => "Exclusive".to_owned(),
        ConnectionFlags::NON_EXCLUSIVE => "Non-exclusive".to_owned(),
        other => format!("{:#x}", other.0),
    };
    let (level, service) = (connection.authentication_level, connection.authentication_service);
    let bytes = connection.last_transmit_fragment_bytes;
    writeln!(f, "Connection")?;
    writeln!(f, "Connection flags: {kind}")?;
    writeln!(f, "Authentication Level: {}", label(level.name(), level.0.into()))?;
    writeln!(f, "Authentication Service: {}", label(service.name(), service.0.into()))?;
    writeln!(f, "Last Transmit Fragment Size: {bytes} (0x{bytes:X})")?;
    writeln!(f, "Endpoint for the connection: {}", Short(connection.endpoint))?;
    writeln!(f, "Last send {}", Seconds(connection.last_send_ms))?;
    writeln!(f, "Last receive {}", Seconds(connection.last_receive_ms))?;
    match connection.peer {
        Some(peer) => writeln!(f, "Address of the peer: {peer}"),
        None => Ok(()),
    }
}

/// What `dbgrpc` does not print, so nothing where nothing is known.
fn write_use(f: &mut fmt::Formatter<'_>, snapshot: &Snapshot, connection: &Connection) -> fmt::Result {
    if let Some(target) = target_of(snapshot, connection.target) {
        writeln!(f, "Target server: {}", OneLine(target.server.as_str()))?;
        writeln!(f, "Target endpoint: {}", OneLine(target.endpoint.as_str()))?;
    }
    match snapshot.get(connection.totals) {
        Some(Cell::ConnectionTotals(totals)) => write_totals(f, totals),
        _ => Ok(()),
    }
}

fn write_totals(f: &mut fmt::Formatter<'_>, totals: &ConnectionTotals) -> fmt::Result {
    writeln!(f, "Sent: {} fragments, {} bytes", totals.fragments_sent, totals.bytes_sent)?;
    writeln!(f, "Received: {} fragments, {} bytes", totals.fragments_received, totals.bytes_received)
}

fn write_server_call(f: &mut fmt::Formatter<'_>, call: &ServerCall) -> fmt::Result {
    writeln!(f, "Call")?;
    writeln!(f, "Status: {}", label(call.status.name(), call.status.0.into()))?;
    writeln!(f, "Procedure Number: {}", call.opnum)?;
    writeln!(f, "Interface UUID start (first DWORD only): {:X}", call.interface_start)?;
    writeln!(f, "Call ID: 0x{:X} ({})", call.call_id, call.call_id)?;
    writeln!(f, "Servicing thread identifier: {}", Short(call.servicing_thread))?;
    writeln!(f, "Call Flags: {}", call_flags(call.flags))?;
    writeln!(f, "Last update {}", Seconds(call.last_update_ms))?;
    if call.flags.contains(CallFlags::LRPC) {
        let (pid, tid) = (call.caller_pid, call.caller_tid);
        writeln!(f, "Caller (PID/TID) is: {pid:x}.{tid:x} ({pid}.{tid})")
    } else {
        writeln!(f, "Owning connection identifier: {}", Short(call.connection))
    }
}

fn write_target(f: &mut fmt::Formatter<'_>, target: &crate::CallTarget) -> fmt::Result {
    writeln!(f, "Protocol Sequence: {}", short(target.protocol_sequence))?;
    writeln!(f, "Last update {}", Seconds(target.last_update_ms))?;
    writeln!(f, "Target server: {}", OneLine(target.server.as_str()))
}

/// What `dbgrpc` does not print, so nothing where nothing is known.
fn write_names(
    f: &mut fmt::Formatter<'_>,
    snapshot: &Snapshot,
    operation: CellId,
    object: CellId,
) -> fmt::Result {
    if let Some(name) = operation_name(snapshot, operation) {
        writeln!(f, "Operation: {name}")?;
    }
    match object_of(snapshot, object) {
        Some(object) => write_object(f, object),
        None => Ok(()),
    }
}

fn write_object(f: &mut fmt::Formatter<'_>, object: &ObjectCall) -> fmt::Result {
    writeln!(f, "IPID: {}", object.ipid)?;
    writeln!(f, "Causality identifier: {}", object.causality_id)
}

/// A time after boot. The two numbers are seconds and milliseconds, without leading zeros: 470.25 is 470.025 seconds.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, ms) = (self.0 / 1000, self.0 % 1000);
        write!(f, "time (in seconds since boot):{s}.{ms} (0x{s:X}.{ms:X})")
    }
}

/// A cell id without leading zeros: `0x0.1F`.
struct Short(CellId);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:X}.{:X}", self.0.section, self.0.cell)
    }
}
