//! The families: `perfmon_rpc_…`.

use plugin_sdk::{Display, DisplayRule, FamilyDef, Kind, ValueKind};

const GAUGE: FamilyDef<'static> = FamilyDef::gauge("rpc", "Process");

const SECONDS: FamilyDef<'static> = FamilyDef { unit: "seconds", value: ValueKind::F64, ..GAUGE };

const COUNTER: FamilyDef<'static> =
    FamilyDef { kind: Kind::Counter, display: Display::by(DisplayRule::Rate), ..GAUGE };

macro_rules! families {
    ($($metric:ident = $family:expr;)*) => {
        /// A family, as the index of it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Metric {
            $($metric,)*
        }

        /// All of them, each at its index.
        pub(super) static FAMILIES: &[FamilyDef<'static>] = &[$($family,)*];
    };
}

families! {
    Endpoints = FamilyDef {
        item: "Endpoints",
        help: "Endpoints of RPC servers in the process, by status: allocated (is being created), active, inactive (no longer \
               used).",
        ..GAUGE
    };
    Threads = FamilyDef {
        item: "Threads",
        help: "Threads of RPC servers in the process, by status: processing (in the RPC run time), dispatched (in a method), \
               allocated (cached), idle (waits for requests). If all are dispatched, new calls wait.",
        ..GAUGE
    };
    Connections = FamilyDef {
        item: "Connections",
        help: "RPC connections of the process, by the role that the process has in them: client or server.",
        ..GAUGE
    };
    ServerCalls = FamilyDef {
        item: "Server Calls",
        help: "Calls that the process serves, by status: active (in the RPC run time), dispatched (in a method), allocated \
               (none: the object is cached for the next call).",
        ..GAUGE
    };
    ClientCalls = FamilyDef {
        item: "Client Calls",
        help: "Calls that the process makes and whose reply it waits for.",
        ..GAUGE
    };
    LongestWait = FamilyDef {
        item: "Longest Wait",
        help: "Seconds since something last happened to the call in progress that waits longest, by the role of the process: \
               client (the call waits for its server) or server (the call is being served). 0 if no call is in progress.",
        ..SECONDS
    };
    Hidden = FamilyDef {
        item: "Hidden Objects",
        help: "Objects that are in none of the other figures, because the file of the process had no room for them.",
        ..COUNTER
    };
    OperationCalls = FamilyDef {
        object: "Operation",
        item: "Calls",
        help: "Calls in progress of an operation. Its name and that of its interface are hexadecimal numbers where the \
               process does not know them. Not there if no call is in progress.",
        ..GAUGE
    };
    OperationWait = FamilyDef {
        object: "Operation",
        item: "Longest Wait",
        help: "Seconds since something last happened to the call in progress of the operation that waits longest. Not there if \
               no call is in progress.",
        ..SECONDS
    };
    SentFragments = FamilyDef {
        object: "Connection",
        item: "Sent Fragments",
        help: "Fragments that the process sent over the connection: a request or reply has one or more. The connection's label is \
               the id of its cell: `perfmon-exporter rpc-state -l -P PID -L CELL` shows all of it.",
        ..COUNTER
    };
    ReceivedFragments = FamilyDef {
        object: "Connection",
        item: "Received Fragments",
        help: "Fragments that the process received over the connection.",
        ..COUNTER
    };
    SentBytes = FamilyDef {
        object: "Connection",
        item: "Sent Bytes",
        unit: "bytes",
        help: "Bytes of the fragments that the process sent over the connection.",
        ..COUNTER
    };
    ReceivedBytes = FamilyDef {
        object: "Connection",
        item: "Received Bytes",
        unit: "bytes",
        help: "Bytes of the fragments that the process received over the connection.",
        ..COUNTER
    };
    SinceSend = FamilyDef {
        object: "Connection",
        item: "Since Last Send",
        help: "Seconds since the process last sent something over the connection. Not there before that.",
        ..SECONDS
    };
    SinceReceive = FamilyDef {
        object: "Connection",
        item: "Since Last Receive",
        help: "Seconds since the process last received something over the connection. Not there before that.",
        ..SECONDS
    };
    Files = FamilyDef {
        object: "State",
        item: "Files",
        help: "Files with the state of RPC calls that could be read, by process: running, or dead (the process has ended, or runs in \
               another PID namespace).",
        ..GAUGE
    };
    FilesFailed = FamilyDef {
        object: "State",
        item: "Files Failed",
        help: "Files with the state of RPC calls that could not be read, by reason: access_denied, not_regular (a link, folder, \
               pipe or device), cut_short, not_cells (of another kind, or just being made), version (of another version), malformed, \
               or read_error.",
        ..GAUGE
    };
    Problems = FamilyDef {
        object: "State",
        item: "Problems",
        help: "Cells and counts in files that could not be believed or read, by kind: sections, cut_short, too_many_cells, \
               changing, malformed, reference, or not_listed (beyond the first of a file). A few of reference come and go \
               while calls end; others mean that somebody damages the files.",
        ..GAUGE
    };
    LeftOut = FamilyDef {
        object: "State",
        item: "Left Out",
        help: "Connections, operations and files (kind) that the last collection does not show, because there are more than the \
               module's limits allow.",
        ..GAUGE
    };
}
