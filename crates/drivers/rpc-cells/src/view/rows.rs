use std::fmt;
use std::net::IpAddr;

use crate::{
    CallFlags, CallTarget, Cell, CellId, ClientCall, Connection, Endpoint, ServerCall, Snapshot, Thread,
};
use serde::{Serialize, Serializer};

use crate::view::CallNames;
use crate::view::Row;
use crate::view::short;
use safe_text::OneLine;

fn as_text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The process and the file that an object was found in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The index of its snapshot, as in a [`Place`](crate::view::Place).
    #[serde(skip)]
    pub file: usize,
    pub pid: u32,
    /// The process or plugin instance whose file it is.
    pub owner: String,
    #[serde(serialize_with = "as_text")]
    pub cell: CellId,
}

impl Found {
    pub(crate) fn new(file: usize, snapshot: &Snapshot, cell: CellId) -> Self {
        Self { file, pid: snapshot.header.process.pid, owner: snapshot.header.name.as_str().to_owned(), cell }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x} {}", self.pid, self.cell)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointRow {
    /// Where it was found.
    #[serde(flatten)]
    pub found: Found,
    #[serde(serialize_with = "as_text")]
    pub status: crate::EndpointStatus,
    /// How it is reached.
    #[serde(serialize_with = "as_text")]
    pub protocol_sequence: crate::ProtocolSequence,
    /// The front of its name.
    pub endpoint: String,
}

impl EndpointRow {
    pub(crate) fn new(found: Found, endpoint: &Endpoint) -> Self {
        Self {
            found,
            status: endpoint.status,
            protocol_sequence: endpoint.protocol_sequence,
            endpoint: endpoint.name.as_str().to_owned(),
        }
    }
}

impl Row for EndpointRow {
    const SOUGHT: &str = "endpoint";
    const HEADING: &str = "PID  CELL ID   ST PROTSEQ        ENDPOINT";
    const RULE: usize = 55;

    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, protocol) = (self.status.0, short(self.protocol_sequence));
        write!(f, "{} {status:02x} {protocol:>14} {}", self.found, OneLine(&self.endpoint))
    }
}

/// A connection. `dbgrpc` has no table of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectionRow {
    /// Where it was found.
    #[serde(flatten)]
    pub found: Found,
    /// How its calls are protected.
    #[serde(serialize_with = "as_text")]
    pub authentication_level: crate::AuthenticationLevel,
    /// By which security provider.
    #[serde(serialize_with = "as_text")]
    pub authentication_service: crate::AuthenticationService,
    /// The size of the last fragment that was sent.
    pub last_transmit_fragment_bytes: u32,
    /// The cell of the endpoint that it was accepted on; none for a client's connection.
    #[serde(serialize_with = "as_text")]
    pub endpoint: CellId,
    /// When something was last sent, in milliseconds after boot.
    pub last_send_ms: u64,
    /// When something was last received, in milliseconds after boot.
    pub last_receive_ms: u64,
    /// The address of the other side, if it is known.
    pub peer: Option<IpAddr>,
    /// The front of the name of the server that a client's connection leads to; empty if it is not known.
    pub server: String,
    /// The front of the endpoint there.
    pub server_endpoint: String,
    /// Bytes that were sent, if they are counted.
    pub bytes_sent: Option<u64>,
    /// Bytes that were received, if they are counted.
    pub bytes_received: Option<u64>,
}

impl ConnectionRow {
    pub(crate) fn new(found: Found, snapshot: &Snapshot, connection: &Connection) -> Self {
        let target = target_of(snapshot, connection.target).unwrap_or_default();
        let totals = match snapshot.get(connection.totals) {
            Some(Cell::ConnectionTotals(totals)) => Some(totals),
            _ => None,
        };
        Self {
            found,
            authentication_level: connection.authentication_level,
            authentication_service: connection.authentication_service,
            last_transmit_fragment_bytes: connection.last_transmit_fragment_bytes,
            endpoint: connection.endpoint,
            last_send_ms: connection.last_send_ms,
            last_receive_ms: connection.last_receive_ms,
            peer: connection.peer,
            server: target.server.as_str().to_owned(),
            server_endpoint: target.endpoint.as_str().to_owned(),
            bytes_sent: totals.map(|totals| totals.bytes_sent),
            bytes_received: totals.map(|totals| totals.bytes_received),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadRow {
    /// Where it was found.
    #[serde(flatten)]
    pub found: Found,
    #[serde(serialize_with = "as_text")]
    pub status: crate::ThreadStatus,
    pub tid: u32,
    /// When it was last updated, in milliseconds after boot.
    pub last_update_ms: u64,
}

impl ThreadRow {
    pub(crate) fn new(found: Found, thread: &Thread) -> Self {
        Self { found, status: thread.status, tid: thread.tid, last_update_ms: thread.last_update_ms }
    }
}

impl Row for ThreadRow {
    const SOUGHT: &str = "thread";
    const HEADING: &str = "PID  CELL ID   ST TID      LASTTIME";
    const RULE: usize = 35;

    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, status, tid, last_update_ms } = self;
        write!(f, "{found} {:02x} {tid:08x} {last_update_ms:08x}", status.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerCallRow {
    /// Where it was found.
    #[serde(flatten)]
    pub found: Found,
    #[serde(serialize_with = "as_text")]
    pub status: crate::CallStatus,
    /// The number of its method.
    pub opnum: u16,
    /// The first 32 bits of the UUID of its interface.
    pub interface_start: u32,
    /// The cell of the thread that executes it.
    #[serde(serialize_with = "as_text")]
    pub servicing_thread: CellId,
    pub flags: u32,
    /// The id of the call.
    pub call_id: u32,
    /// When it was last updated, in milliseconds after boot.
    pub last_update_ms: u64,
    /// The cell of its connection, for a call that came over one.
    #[serde(serialize_with = "as_text")]
    pub connection: CellId,
    /// The process of the caller, for a call within one host.
    pub caller_pid: u32,
    /// The thread of the caller, for a call within one host.
    pub caller_tid: u32,
    /// What it calls, by name.
    #[serde(flatten)]
    pub names: CallNames,
}

impl ServerCallRow {
    pub(crate) fn new(found: Found, snapshot: &Snapshot, call: &ServerCall) -> Self {
        Self {
            found,
            status: call.status,
            opnum: call.opnum,
            interface_start: call.interface_start,
            servicing_thread: call.servicing_thread,
            flags: call.flags.0,
            call_id: call.call_id,
            last_update_ms: call.last_update_ms,
            connection: call.connection,
            caller_pid: call.caller_pid,
            caller_tid: call.caller_tid,
            names: CallNames::new(snapshot, call.operation, call.object),
        }
    }
}

impl Row for ServerCallRow {
    const SOUGHT: &str = "call";
    const HEADING: &str = "PID  CELL ID   ST PNO IFSTART  TIDNUMBER CALLFLAG CALLID   LASTTIME CONN/CLN";
    const RULE: usize = 76;

    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, opnum, interface_start, servicing_thread, flags, call_id, last_update_ms, .. } =
            self;
        write!(f, "{found} {:02x} {opnum:03x} {interface_start:08x} {servicing_thread} ", self.status.0)?;
        write!(f, "{flags:08x} {call_id:08x} {last_update_ms:08x} ")?;
        // The last column is the connection, or the process and the thread of the caller.
        if CallFlags(*flags).contains(CallFlags::LRPC) {
            write!(f, "{:04x}.{:04x}", self.caller_pid, self.caller_tid)?;
        } else {
            write!(f, "{}", self.connection)?;
        }
        write!(f, "{}", self.names)
    }
}

/// A client call, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientCallRow {
    /// Where it was found.
    #[serde(flatten)]
    pub found: Found,
    /// The number of its method.
    pub opnum: u16,
    /// The first 32 bits of the UUID of its interface.
    pub interface_start: u32,
    /// The cell of the thread on which it is made, within a server call.
    #[serde(serialize_with = "as_text")]
    pub servicing_thread: CellId,
    /// The id of the call.
    pub call_id: u32,
    /// The front of the name of the endpoint.
    pub endpoint: String,
    /// The cell of its target.
    #[serde(serialize_with = "as_text")]
    pub target: CellId,
    /// When it was last updated, in milliseconds after boot; 0 without a target.
    pub last_update_ms: u64,
    /// How the server is reached; 0 without a target.
    #[serde(serialize_with = "as_text")]
    pub protocol_sequence: crate::ProtocolSequence,
    /// The front of the name of the server; empty is this machine, or no target.
    pub server: String,
    /// What it calls, by name.
    #[serde(flatten)]
    pub names: CallNames,
}

impl ClientCallRow {
    pub(crate) fn new(found: Found, snapshot: &Snapshot, call: &ClientCall) -> Self {
        let target = target_of(snapshot, call.target).unwrap_or_default();
        Self {
            found,
            opnum: call.opnum,
            interface_start: call.interface_start,
            servicing_thread: call.servicing_thread,
            call_id: call.call_id,
            endpoint: call.endpoint.as_str().to_owned(),
            target: call.target,
            last_update_ms: target.last_update_ms,
            protocol_sequence: target.protocol_sequence,
            server: target.server.as_str().to_owned(),
            names: CallNames::new(snapshot, call.operation, call.object),
        }
    }
}

impl Row for ClientCallRow {
    const SOUGHT: &str = "call";
    const HEADING: &str = "PID  CELL ID   PNO  IFSTART  TIDNUMBER CALLID   LASTTIME PS CLTNUMBER ENDPOINT";
    const RULE: usize = 78;

    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, opnum, interface_start, servicing_thread, call_id, last_update_ms, target, .. } =
            self;
        write!(f, "{found} {opnum:04x} {interface_start:08x} {servicing_thread} {call_id:08x} ")?;
        write!(f, "{last_update_ms:08x} {:02x} {target} ", self.protocol_sequence.0)?;
        write!(f, "{}{}", OneLine(&self.endpoint), self.names)
    }
}

/// The target that a client call refers to, or a client's connection.
pub(crate) fn target_of(snapshot: &Snapshot, target: CellId) -> Option<CallTarget> {
    match snapshot.get(target)? {
        Cell::CallTarget(target) => Some(*target),
        _ => None,
    }
}
