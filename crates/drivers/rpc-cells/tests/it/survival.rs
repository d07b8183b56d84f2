use std::fs::{File, OpenOptions};
use std::os::unix::process::ExitStatusExt;

use rpc_cells::{
    CallStatus, Cell, CellId, FileSnapshot, ProcessIdentity, ReadLimits, RunDirectory, Snapshot,
    ThreadStatus, read, read_directory,
};

use crate::child::Process;

const SIGKILL: i32 = 9;
const SIGBUS: i32 = 7;

fn only(mut files: Vec<FileSnapshot>) -> Snapshot {
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0).snapshot.expect("the file is whole")
}

fn server_call(snapshot: &Snapshot) -> &rpc_cells::ServerCall {
    let is_call = |(_, cell): &(CellId, Cell)| matches!(cell, Cell::ServerCall(_));
    match snapshot.cells.iter().find(|cell| is_call(cell)) {
        Some((_, Cell::ServerCall(call))) => call,
        _ => unreachable!("there is a server call"),
    }
}

#[test]
fn the_cells_of_a_process_that_was_killed_in_a_call_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let (process, _) = Process::start("call", directory.path());
    let pid = process.pid();
    let hanging = only(read_directory(directory.path(), &ReadLimits::default()).expect("it is readable"));
    assert!(hanging.header.process.is_running());
    assert_eq!(process.kill().signal(), Some(SIGKILL));

    let snapshot = only(read_directory(directory.path(), &ReadLimits::default()).expect("it is readable"));
    assert_eq!(snapshot, hanging, "nothing changed after it hung");
    assert_eq!(snapshot.header.process.pid, pid);
    assert!(!snapshot.header.process.is_running());
    assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
    let call = server_call(&snapshot);
    assert_eq!((call.status, call.last_update_ms), (CallStatus::DISPATCHED, 1_002));
    let Some(Cell::Thread(thread)) = snapshot.get(call.servicing_thread) else { panic!("it has a thread") };
    assert_eq!((thread.status, thread.tid), (ThreadStatus::DISPATCHED, 420));
    let within = snapshot.cells.iter().find_map(|(_, cell)| match cell {
        Cell::ClientCall(client) if client.servicing_thread == call.servicing_thread => Some(client),
        _ => None,
    });
    let within = within.expect("client calls within server calls are kept at level `server`");
    let Some(Cell::CallTarget(target)) = snapshot.get(within.target) else { panic!("it has a target") };
    assert_eq!(target.server.as_str(), "host-b");
}

#[test]
fn a_process_that_is_killed_while_it_writes_leaves_whole_cells() {
    for _ in 0..10 {
        let directory = tempfile::tempdir().expect("a directory");
        let (process, _) = Process::start("spin", directory.path());
        process.kill();
        let snapshot =
            only(read_directory(directory.path(), &ReadLimits::default()).expect("it is readable"));
        assert_eq!(snapshot.cells.len(), 2, "{:?}", snapshot.problems);
        for (id, cell) in &snapshot.cells {
            let Cell::ServerCall(call) = cell else { panic!("only calls are written") };
            let number = call.last_update_ms & u64::from(u32::MAX);
            let others = [call.call_id, call.caller_pid, call.caller_tid].map(u64::from);
            assert_eq!(others, [number; 3], "{id}");
        }
    }
}

#[test]
fn a_process_goes_on_when_its_file_is_truncated() {
    for (bytes_left, pages_lost) in [(0, 8), (4096, 7)] {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut process, path) = Process::start("truncated", directory.path());
        let file = OpenOptions::new().write(true).open(path).expect("the file is this user's");
        file.set_len(bytes_left).expect("it can be cut");
        // 201 cells are in 4 sections of 64, and those are 8 pages. The last 2 sections are allocated again by then.
        let lost = process.go_on();
        let lost: u64 =
            lost.strip_suffix(" pages lost").unwrap_or_else(|| panic!("{lost}")).parse().expect("a number");
        assert!((1..=pages_lost).contains(&lost), "{lost}");
        assert!(process.wait().success());
    }
}

#[test]
fn a_sigbus_that_is_not_about_cells_ends_the_process_as_ever() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut process, _) = Process::start("fault", directory.path());
    assert_eq!(process.go_on(), "once");
    assert_eq!(process.go_on(), "");
    assert_eq!(process.wait().signal(), Some(SIGBUS));
}

#[test]
fn files_of_dead_processes_are_removed_and_no_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let (dead, path_of_dead) = Process::start("call", directory.path());
    let (living, path_of_living) = Process::start("call", directory.path());
    dead.kill();
    let own = ProcessIdentity::current().expect("/proc is there");
    // A process with the same id, which was started at another time.
    let reused = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
    let before_the_boot = ProcessIdentity { boot_id: !own.boot_id, ..own };
    let names = [format!("{reused}-0.cells"), format!("{before_the_boot}-0.cells")];
    let kept = [format!("{own}-0.cells"), "notes.cells".to_owned(), format!("{reused}-0.txt")];
    for name in names.iter().chain(&kept) {
        File::create(directory.path().join(name)).expect("the directory is writable");
    }
    // Somebody else's process, which this one cannot see, holds the lock of its file.
    let locked = directory.path().join(format!("{reused}-1.cells"));
    let lock = File::create(&locked).expect("the directory is writable");
    lock.try_lock().expect("nobody else has it");

    let mut removed =
        RunDirectory::open(directory.path()).expect("it is ours").remove_stale().expect("it is readable");
    removed.sort_unstable();
    let dead_name = path_of_dead.rsplit('/').next().expect("a name").to_owned();
    let mut expected = vec![dead_name, names[0].clone(), names[1].clone()];
    expected.sort_unstable();
    assert_eq!(removed, expected);
    assert!(locked.exists());
    assert!(kept.iter().all(|name| directory.path().join(name).exists()));
    let file = File::open(path_of_living).expect("the living one has its file");
    assert!(read(&file, &ReadLimits::default()).is_ok());
    drop(living);
}
