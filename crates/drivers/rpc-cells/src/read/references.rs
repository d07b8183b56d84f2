use super::{Problem, Problems};
use crate::cell::{CallFlags, Cell, Kind};
use crate::layout::CellId;

/// Lists the references that point nowhere. `cells` are in the order of their ids.
pub(super) fn check(cells: &[(CellId, Cell)], problems: &mut Problems) {
    let kind_of = |id: CellId| {
        let index = cells.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(cells[index].1.kind())
    };
    for (cell, object) in cells {
        for (field, target, expected) in of(object).into_iter().flatten() {
            let found = kind_of(target).unwrap_or(Kind::FREE);
            if target.is_some() && found != expected {
                problems.add(Problem::Reference { cell: *cell, field, target, expected, found });
            }
        }
    }
}

type Reference = (&'static str, CellId, Kind);

/// What an object refers to.
fn of(object: &Cell) -> [Option<Reference>; 4] {
    match object {
        Cell::Connection(connection) => {
            let endpoint = ("Endpoint", connection.endpoint, Kind::ENDPOINT);
            let totals = ("Totals", connection.totals, Kind::CONNECTION_TOTALS);
            let target = ("Target", connection.target, Kind::CALL_TARGET);
            [Some(endpoint), Some(totals), Some(target), None]
        }
        Cell::ServerCall(call) => {
            // "If the call is not active or dispatched, this contains stale information."
            let thread = ("ServicingTID", call.servicing_thread, Kind::THREAD);
            let connection = ("Connection", call.connection, Kind::CONNECTION);
            [
                call.is_in_progress().then_some(thread),
                (!call.flags.contains(CallFlags::LRPC)).then_some(connection),
                Some(("Object", call.object, Kind::OBJECT_CALL)),
                Some(("Operation", call.operation, Kind::OPERATION)),
            ]
        }
        Cell::ClientCall(call) => [
            Some(("ServicingThread", call.servicing_thread, Kind::THREAD)),
            Some(("Target", call.target, Kind::CALL_TARGET)),
            Some(("Object", call.object, Kind::OBJECT_CALL)),
            Some(("Operation", call.operation, Kind::OPERATION)),
        ],
        Cell::Operation(operation) => {
            [Some(("Interface", operation.interface, Kind::INTERFACE)), None, None, None]
        }
        Cell::Endpoint(_)
        | Cell::Thread(_)
        | Cell::CallTarget(_)
        | Cell::Interface(_)
        | Cell::ObjectCall(_)
        | Cell::ConnectionTotals(_) => [None; 4],
    }
}
