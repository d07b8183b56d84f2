//! Calls within calls, beside each other, and of associations that fail.

use dcerpc::{AssociationState, CallId, Change, Observer, Role};
use rpc_cells::{CallFlags, CallStatus, Cell, Level, Snapshot, ThreadStatus};

use crate::calls::{client_calls, server_calls};
use crate::changes::{World, end, start};

fn enter(server: &dyn Observer, call_id: u32) {
    server.observe(Role::Server, Change::MethodEntered { call_id: CallId(call_id) });
}

fn leave(server: &dyn Observer, call_id: u32) {
    server.observe(Role::Server, Change::MethodLeft { call_id: CallId(call_id) });
}

/// The status of the only thread.
fn thread_status(snapshot: &Snapshot) -> Option<ThreadStatus> {
    let mut statuses = snapshot.cells.iter().filter_map(|(_, cell)| match cell {
        Cell::Thread(thread) => Some(thread.status),
        _ => None,
    });
    statuses.next().filter(|_| statuses.next().is_none())
}

/// The id and the status of each call, and whether the connection keeps its cell.
fn calls(world: &World) -> Vec<(u32, CallStatus, bool)> {
    let calls = server_calls(&world.snapshot());
    calls.iter().map(|call| (call.call_id, call.status, call.flags.contains(CallFlags::CACHED))).collect()
}

#[test]
fn a_method_within_a_method_leaves_the_thread_to_the_outer_one() {
    let world = World::new(Level::SERVER);
    let (client, outer, inner) =
        (world.client(), world.association(Role::Server), world.association(Role::Server));
    start(&*outer, Role::Server, 3, None, b"");
    enter(&*outer, 3);
    // The method is its own client, and its thread serves that call.
    inner.observe(Role::Server, Change::FragmentReceived { bytes: 24 });
    assert_eq!(thread_status(&world.snapshot()), Some(ThreadStatus::DISPATCHED));
    start(&*inner, Role::Server, 4, None, b"");
    enter(&*inner, 4);
    leave(&*inner, 4);
    end(&*inner, Role::Server, 4);
    inner.observe(Role::Server, Change::Settled);
    assert_eq!(thread_status(&world.snapshot()), Some(ThreadStatus::DISPATCHED));
    start(&*client, Role::Client, 5, None, b"");
    let snapshot = world.snapshot();
    let made = client_calls(&snapshot);
    let thread = server_calls(&snapshot)[0].servicing_thread;
    assert_eq!(
        made.iter().map(|call| (call.call_id, call.servicing_thread)).collect::<Vec<_>>(),
        [(5, thread)]
    );
    end(&*client, Role::Client, 5);

    leave(&*outer, 3);
    assert_eq!(thread_status(&world.snapshot()), Some(ThreadStatus::PROCESSING));
    start(&*client, Role::Client, 6, None, b"");
    assert_eq!(client_calls(&world.snapshot()), []);
}

#[test]
fn a_method_of_another_recorder_does_not_hide_the_one_that_it_was_called_by() {
    let (world, other) = (World::new(Level::SERVER), World::new(Level::SERVER));
    let (server, others) = (world.association(Role::Server), other.association(Role::Server));
    start(&*server, Role::Server, 3, None, b"");
    enter(&*server, 3);
    start(&*others, Role::Server, 3, None, b"");
    enter(&*others, 3);
    let client = world.client();
    start(&*client, Role::Client, 4, None, b"");
    assert_eq!(client_calls(&world.snapshot()).len(), 1);
    end(&*client, Role::Client, 4);
    leave(&*others, 3);
    start(&*client, Role::Client, 5, None, b"");
    assert_eq!(client_calls(&world.snapshot()).len(), 1);
    leave(&*server, 3);
}

#[test]
fn the_call_that_the_connection_keeps_is_the_cached_one_whatever_ends_first() {
    use CallStatus as Is;
    let world = World::new(Level::SERVER);
    let server = world.association(Role::Server);
    start(&*server, Role::Server, 3, None, b"");
    start(&*server, Role::Server, 4, None, b"");
    assert_eq!(calls(&world), [(3, Is::ACTIVE, true), (4, Is::ACTIVE, false)]);
    end(&*server, Role::Server, 4);
    assert_eq!(calls(&world), [(3, Is::ACTIVE, true)]);
    start(&*server, Role::Server, 5, None, b"");
    end(&*server, Role::Server, 3);
    assert_eq!(calls(&world), [(3, Is::ALLOCATED, true), (5, Is::ACTIVE, false)]);
    end(&*server, Role::Server, 5);
    start(&*server, Role::Server, 6, None, b"");
    assert_eq!(calls(&world), [(6, Is::ACTIVE, true)]);
}

#[test]
fn a_call_of_a_failed_association_is_shown_for_as_long_as_its_method_works() {
    use CallStatus as Is;
    let world = World::new(Level::SERVER);
    let server = world.association(Role::Server);
    for call_id in [3, 4, 5, 6] {
        start(&*server, Role::Server, call_id, None, b"");
    }
    // One has ended, one is executed, and one was taken to be answered later.
    end(&*server, Role::Server, 3);
    enter(&*server, 4);
    server.observe(Role::Server, Change::CallDispatched { call_id: CallId(5) });
    server.observe(Role::Server, Change::State(AssociationState::Failed));
    assert_eq!(calls(&world), [(4, Is::DISPATCHED, false), (5, Is::DISPATCHED, false)]);
    leave(&*server, 4);
    assert_eq!(calls(&world), [(5, Is::DISPATCHED, false)]);
    end(&*server, Role::Server, 5);
    assert_eq!(calls(&world), []);
}
