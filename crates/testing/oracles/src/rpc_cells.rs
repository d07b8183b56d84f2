//! Laws of `rpc-cells`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rpc_cells::view::{
    CallFilter, Place, client_calls, connections, endpoints, follow, server_calls, threads,
};
use rpc_cells::{
    CELL_BYTES, CallOrigin, CallTarget, Capacity, Cell, CellId, ClientCall, Connection, ConnectionTotals,
    Endpoint, FileHeader, Level, Memory, Name, ProcessIdentity, ProtocolSequence, ReadLimits, ServerCall,
    Snapshot, Thread, Writer, format, read,
};

use crate::INPUT_BYTES_MAX;

const LIMITS: ReadLimits =
    ReadLimits { cells_max: 512, directory_cells_max: 512, problems_max: 8, retries_max: 2 };
const HOPS_MAX: usize = 4;
const WORKS: &str = "memory of our own has room";

/// Memory whose writer goes before its reader.
#[derive(Clone)]
struct Shared(Arc<[AtomicU64]>);

impl Memory for Shared {
    fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}

impl Shared {
    fn new(cells_per_section: u16) -> Self {
        let capacity = Capacity { cells_per_section, sections_max: 1 };
        let words: Arc<[AtomicU64]> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
        let process = ProcessIdentity { pid: 0x278, start_ticks: 1, boot_id: 1 };
        let header =
            FileHeader { capacity, level: Level::FULL, process, created_ms: 1, name: Name::new("host-a") };
        format(&words, &header).expect(WORKS);
        Self(words)
    }
}

/// A file of cells. Its cells are in it, in order and within the limits; each is read again as it was read, after it was
/// written by a writer; tables have a line for each and nothing that a terminal acts upon; trails end.
pub fn file(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(INPUT_BYTES_MAX)];
    let Ok(snapshot) = read(bytes, &LIMITS) else { return };
    let capacity = snapshot.header.capacity;
    assert!(capacity.is_valid() && snapshot.sections <= capacity.sections_max);
    assert!(snapshot.cells.len() <= LIMITS.cells_max && snapshot.cells.is_sorted_by(|a, b| a.0 < b.0));
    assert!(snapshot.problems.listed().len() <= LIMITS.problems_max);
    for (id, cell) in &snapshot.cells {
        let index = usize::from(id.section) * usize::from(capacity.cells_per_section) + usize::from(id.cell);
        assert!(
            id.cell != 0 && id.cell < capacity.cells_per_section && (index + 1) * CELL_BYTES <= bytes.len()
        );
        assert_eq!(written_again(cell), *cell);
        if let Cell::ClientCall(_) = cell {
            let trail =
                follow(std::slice::from_ref(&snapshot), Place { file: 0, cell: *id }, HOPS_MAX, |_| true);
            assert!(trail.hops.len() <= HOPS_MAX);
            assert!(trail.hops.iter().all(|hop| snapshot.get(hop.server_call.cell).is_some()));
        }
    }
    tables(&snapshot);
}

fn written_again(cell: &Cell) -> Cell {
    let memory = Shared::new(3);
    let writer = Writer::over(memory.clone()).expect(WORKS);
    let first = CellId { section: 0, cell: 1 };
    // Each arm keeps its handle until the cell is read.
    let shown = |id: CellId| {
        assert_eq!(id, first);
        *read(memory.words(), &LIMITS).expect(WORKS).get(id).expect("it is shown")
    };
    match *cell {
        Cell::Endpoint(endpoint) => shown(writer.endpoint(endpoint).id()),
        Cell::Thread(thread) => shown(writer.thread(thread).id()),
        Cell::Connection(connection) => shown(writer.connection(connection).id()),
        Cell::ServerCall(call) => shown(writer.server_call(call).id()),
        Cell::ClientCall(call) => {
            let handle = writer.client_call(CallOrigin::Client, call, CallTarget::default());
            match shown(handle.call().id()) {
                Cell::ClientCall(again) => Cell::ClientCall(ClientCall { target: call.target, ..again }),
                other => other,
            }
        }
        Cell::CallTarget(target) => {
            let handle = writer.client_call(CallOrigin::Client, ClientCall::default(), target);
            *read(memory.words(), &LIMITS).expect(WORKS).get(handle.target().id()).expect("it is shown")
        }
        Cell::Interface(interface) => shown(writer.interface(interface).id()),
        Cell::Operation(operation) => shown(writer.operation(operation).id()),
        Cell::ObjectCall(call) => shown(writer.object_call(call).id()),
        Cell::ConnectionTotals(totals) => shown(writer.connection_totals(totals).id()),
    }
}

fn tables(snapshot: &Snapshot) {
    let all = std::slice::from_ref(snapshot);
    let every = CallFilter::default();
    let endpoints = endpoints(all, None);
    let threads = threads(all, Some(snapshot.header.process.pid), None);
    let (servers, clients) = (server_calls(all, &every), client_calls(all, &every));
    let has_no_table = |cell: &Cell| match cell {
        Cell::CallTarget(_) | Cell::Interface(_) | Cell::Operation(_) => true,
        Cell::ObjectCall(_) | Cell::ConnectionTotals(_) => true,
        Cell::Connection(_) | Cell::Endpoint(_) | Cell::Thread(_) => false,
        Cell::ServerCall(_) | Cell::ClientCall(_) => false,
    };
    let others = snapshot.cells.iter().filter(|(_, cell)| has_no_table(cell)).count();
    let rows = [endpoints.rows.len(), threads.rows.len(), servers.rows.len(), clients.rows.len()];
    let connections = connections(all, None).rows.len();
    assert_eq!(rows.iter().sum::<usize>() + connections + others, snapshot.cells.len());
    let texts = [endpoints.to_string(), threads.to_string(), servers.to_string(), clients.to_string()];
    for (text, rows) in texts.iter().zip(rows) {
        assert_eq!(text.matches('\n').count(), rows + 3);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }
    for (id, _) in &snapshot.cells {
        for found in rpc_cells::view::cell(all, snapshot.header.process.pid, *id) {
            assert!(found.to_string().chars().all(|c| c == '\n' || !c.is_control()));
        }
    }
}

/// A file with an object of each kind, which refer to each other.
#[must_use]
pub fn honest_file() -> Vec<u8> {
    let memory = Shared::new(16);
    let writer = Writer::over(memory.clone()).expect(WORKS);
    let endpoint = writer.endpoint(Endpoint { name: Name::new("1120"), ..Endpoint::default() });
    let thread = writer.thread(Thread { tid: 0x1a4, ..Thread::default() });
    let totals = writer.connection_totals(ConnectionTotals { bytes_sent: 24, ..ConnectionTotals::default() });
    let leads = writer.connection_target(CallTarget { endpoint: Name::new("135"), ..CallTarget::default() });
    let connection = Connection {
        endpoint: endpoint.id(),
        totals: totals.id(),
        target: leads.id(),
        ..Connection::default()
    };
    let connection = writer.connection(connection);
    let mut call = writer.server_call(ServerCall { connection: connection.id(), ..ServerCall::default() });
    call.update(|call| call.servicing_thread = thread.id());
    let client_call =
        ClientCall { servicing_thread: thread.id(), endpoint: Name::new("1120"), ..ClientCall::default() };
    let target = CallTarget { protocol_sequence: ProtocolSequence::TCP, ..CallTarget::default() };
    let _client_call = writer.client_call(CallOrigin::ServerCall, client_call, target);
    memory.0.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect()
}
