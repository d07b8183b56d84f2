//! The threads that work for servers. Each knows its own cells.

use std::cell::{Cell, RefCell};

use rpc_cells::{CellHandle, CellId, Thread, ThreadStatus, Writer};

thread_local! {
    /// The cell of this thread for each recorder that it worked for.
    static OWN: RefCell<Vec<(u64, CellHandle<Thread>)>> = const { RefCell::new(Vec::new()) };
    /// The recorder and the thread's cell, while this thread executes a method of a server.
    static EXECUTING: Cell<Option<(u64, CellId)>> = const { Cell::new(None) };
}

/// Notes what this thread does for the recorder, and returns its cell.
pub(crate) fn set(recorder: u64, writer: &Writer, status: ThreadStatus, now_ms: u64) -> CellId {
    let noted = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        let index = own.iter().position(|(id, _)| *id == recorder).unwrap_or_else(|| {
            let tid = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            own.push((recorder, writer.thread(Thread { status, tid, last_update_ms: now_ms })));
            own.len() - 1
        });
        let cell = &mut own[index].1;
        if cell.get().status != status {
            cell.update(|thread| {
                thread.status = status;
                thread.last_update_ms = now_ms;
            });
        }
        cell.id()
    });
    // A thread that ends has no cell any longer.
    noted.unwrap_or(CellId::NONE)
}

/// From now on this thread executes a method, or none.
pub(crate) fn execute(method: Option<(u64, CellId)>) {
    let _ = EXECUTING.try_with(|executing| executing.set(method));
}

/// The cell of this thread, if it executes a method of a server that the recorder knows.
pub(crate) fn executing(recorder: u64) -> Option<CellId> {
    let (id, thread) = EXECUTING.try_with(Cell::get).ok().flatten()?;
    (id == recorder).then_some(thread)
}
