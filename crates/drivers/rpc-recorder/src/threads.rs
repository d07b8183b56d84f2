//! The threads that work for servers. Each knows its own cells.

use std::cell::RefCell;

use rpc_cells::{CellHandle, CellId, Thread, ThreadStatus, Writer};

thread_local! {
    /// The cell of this thread for each recorder that it worked for.
    static OWN: RefCell<Vec<(u64, CellHandle<Thread>)>> = const { RefCell::new(Vec::new()) };
    /// The methods of servers that this thread executes, each within the one before: the recorder, and the thread's cell.
    static EXECUTING: RefCell<Vec<(u64, CellId)>> = const { RefCell::new(Vec::new()) };
}

/// Notes what this thread does for the recorder, and returns its cell. While it executes a method it does nothing else.
pub(crate) fn note(recorder: u64, writer: &Writer, status: ThreadStatus, now_ms: u64) -> CellId {
    let status = if executing(recorder).is_some() { ThreadStatus::DISPATCHED } else { status };
    set(recorder, writer, status, now_ms)
}

/// From now on this thread executes a method. Returns its cell.
pub(crate) fn enter(recorder: u64, writer: &Writer, now_ms: u64) -> CellId {
    let thread = set(recorder, writer, ThreadStatus::DISPATCHED, now_ms);
    let _ = EXECUTING.try_with(|executing| executing.borrow_mut().push((recorder, thread)));
    thread
}

/// The method that this thread entered last is left; another may be around it.
pub(crate) fn leave(recorder: u64, writer: &Writer, now_ms: u64) {
    let _ = EXECUTING.try_with(|executing| {
        let mut executing = executing.borrow_mut();
        if let Some(index) = executing.iter().rposition(|(id, _)| *id == recorder) {
            executing.remove(index);
        }
    });
    note(recorder, writer, ThreadStatus::PROCESSING, now_ms);
}

/// The cell of this thread, if it executes a method of a server that the recorder knows, or is called by one.
pub(crate) fn executing(recorder: u64) -> Option<CellId> {
    let newest = |executing: &RefCell<Vec<(u64, CellId)>>| {
        let executing = executing.borrow();
        executing.iter().rfind(|(id, _)| *id == recorder).map(|(_, thread)| *thread)
    };
    EXECUTING.try_with(newest).ok().flatten()
}

fn set(recorder: u64, writer: &Writer, status: ThreadStatus, now_ms: u64) -> CellId {
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
