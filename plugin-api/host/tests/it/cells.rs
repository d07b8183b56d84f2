//! Memory for the state of a library's RPC run time, and the files that it is in.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plugin_abi::raw::{FAILED, FULL, INVALID, NOT_FOUND, OK, STOPPED};
use plugin_host::testing::RecordedOutcome;
use plugin_host::{CellCounts, CellFiles, HostOptions, Violation};
use rpc_cells::{
    Capacity, Cell, CellId, EndpointStatus, Level, ProcessIdentity, ProtocolSequence, ReadLimits, Snapshot,
    read_directory,
};
use serde_json::json;

use crate::opened::example;
use crate::rust::{collected, made};
use crate::support::{World, collect, instance};

fn files(directory: &Path, level: Level) -> Arc<CellFiles> {
    Arc::new(CellFiles::open(directory, level).expect("it is ours"))
}

/// A host that keeps cells in the directory.
fn world(directory: &Path, level: Level) -> World {
    World::with(|options| options.cells = Some(files(directory, level)))
}

/// All files of the directory, as another process reads them.
fn snapshots(directory: &Path) -> Vec<Snapshot> {
    let files = read_directory(directory, &ReadLimits::default()).expect("it is readable");
    files.into_iter().map(|file| file.snapshot.expect("it is whole")).collect()
}

/// The name of the only endpoint, which is in the first cell.
fn endpoint(snapshot: &Snapshot) -> String {
    assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
    let [(id, Cell::Endpoint(endpoint))] = &*snapshot.cells else { panic!("{:?}", snapshot.cells) };
    assert_eq!(*id, CellId { section: 0, cell: 1 });
    assert_eq!(
        (endpoint.status, endpoint.protocol_sequence),
        (EndpointStatus::ACTIVE, ProtocolSequence::TCP)
    );
    endpoint.name.as_str().to_owned()
}

#[test]
fn what_a_plugin_in_c_writes_into_its_memory_is_read_from_the_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let world = world(directory.path(), Level::FULL);
    let library = world.load("zoo/cells.c");
    assert_eq!(snapshots(directory.path()), [], "nothing is made before a plugin asks");
    let (instance, sink) = instance(&library, "a");
    let [snapshot] = &*snapshots(directory.path()) else { panic!("one file") };
    assert_eq!(snapshot.header.name.as_str(), "zoo");
    assert_eq!(snapshot.header.level, Level::FULL);
    assert_eq!(snapshot.header.process, ProcessIdentity::current().expect("/proc is there"));
    assert_eq!(endpoint(snapshot), "a");
    for name in ["b", "c"] {
        collect(&world, &instance, &sink);
        assert_eq!(endpoint(&snapshots(directory.path())[0]), name);
    }
}

#[test]
fn each_call_describes_the_same_memory_and_adds_sections_as_long_as_there_are_any() {
    let directory = tempfile::tempdir().expect("a directory");
    let world = world(directory.path(), Level::SERVER);
    let library = world.load("zoo/cells.c");
    instance(&library, "a");
    let said = |what: &str| world.log.wait_said(what);
    for what in ["memory", "again", "three", "fewer"] {
        assert_eq!(said(what), i64::from(OK), "{what}");
    }
    assert_eq!((said("level"), said("same")), (i64::from(plugin_abi::raw::CELLS_SERVER), 1));
    let Capacity { sections_max, .. } = Capacity::default();
    let words = Capacity::default().bytes_max() / 8;
    assert_eq!(said("words"), i64::try_from(words).expect("a small number"));
    assert_eq!((said("sections"), said("sections left")), (3, 3));
    assert_eq!((said("too many"), said("all sections")), (i64::from(FULL), i64::from(sections_max)));
    assert_eq!(library.cells(), CellCounts { sections: sections_max, pages_lost: 0 });
    for what in ["no room", "small room"] {
        assert_eq!(said(what), i64::from(INVALID), "{what}");
    }
    let violations = library.violations();
    assert_eq!((violations.of(Violation::NullPointer), violations.of(Violation::BadSize)), (1, 1));
}

#[test]
fn sections_have_room_in_the_file_once_they_are_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let host = world(directory.path(), Level::FULL);
    instance(&host.load("zoo/cells.c"), "a");
    host.log.wait_said("small room");
    let file = only_file(directory.path());
    let bytes = std::fs::metadata(file).expect("it is there").len();
    assert_eq!(bytes, Capacity::default().bytes_max() as u64, "it asked for all sections");
}

#[test]
fn two_libraries_have_a_file_each() {
    let directory = tempfile::tempdir().expect("a directory");
    let world = world(directory.path(), Level::FULL);
    let (first, second) = (world.load("zoo/cells.c"), world.load("zoo/cells.c"));
    let (first, sink) = instance(&first, "a");
    let _second = instance(&second, "b");
    collect(&world, &first, &sink);
    let mut names: Vec<_> = snapshots(directory.path()).iter().map(endpoint).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn without_cells_a_library_gets_no_memory() {
    // As in a trial, and in commands.
    assert!(HostOptions::default().cells.is_none());
    let directory = tempfile::tempdir().expect("a directory");
    for world in [World::new(), world(directory.path(), Level::NONE)] {
        let library = world.load("zoo/cells.c");
        let (instance, sink) = instance(&library, "a");
        assert_eq!(world.log.wait_said("memory"), i64::from(NOT_FOUND));
        assert_eq!(world.log.wait_said("words"), 0, "nothing is written");
        collect(&world, &instance, &sink);
        assert_eq!(library.cells(), CellCounts::default());
    }
    assert_eq!(snapshots(directory.path()), []);
}

#[test]
fn a_library_works_on_where_its_file_cannot_be_made() {
    let directory = tempfile::tempdir().expect("a directory");
    let cells = files(directory.path(), Level::FULL);
    directory.close().expect("it is empty");
    let world = World::with(|options| options.cells = Some(cells));
    let (instance, sink) = instance(&world.load("zoo/cells.c"), "a");
    assert_eq!(world.log.wait_said("memory"), i64::from(FAILED));
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full);
}

#[test]
fn a_library_works_on_while_its_file_is_truncated() {
    let directory = tempfile::tempdir().expect("a directory");
    let world = world(directory.path(), Level::FULL);
    let library = world.load("zoo/cells.c");
    let (instance, sink) = instance(&library, "a");
    world.log.wait_said("small room");
    let file = OpenOptions::new().write(true).open(only_file(directory.path())).expect("it is ours");
    file.set_len(0).expect("it can be cut");
    for _ in 0..2 {
        let recorded = collect(&world, &instance, &sink);
        assert!(recorded.completions.iter().all(|done| done.outcome == RecordedOutcome::Full));
    }
    assert_eq!(library.cells().pages_lost, 1, "the page of the cell");
}

#[test]
fn files_are_removed_at_the_end_and_their_memory_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let world = world(directory.path(), Level::FULL);
    let (asked, late) = (world.load("zoo/cells.c"), world.load("zoo/cells.c"));
    let (instance, sink) = instance(&asked, "a");
    world.host.remove_cell_files();
    assert_eq!(std::fs::read_dir(directory.path()).expect("it is there").count(), 0);
    let recorded = collect(&world, &instance, &sink);
    assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full);
    assert_eq!(asked.cells().pages_lost, 0);

    let memories = world.log.count("memory");
    crate::support::instance(&late, "b");
    crate::support::wait_until("the late library asked", || world.log.count("memory") > memories);
    assert_eq!(world.log.last_said("memory"), i64::from(STOPPED));
    assert_eq!(std::fs::read_dir(directory.path()).expect("it is there").count(), 0, "nothing is left over");
}

#[test]
fn a_plugin_in_rust_keeps_its_objects_with_the_writer_of_cells() {
    let directory = tempfile::tempdir().expect("a directory");
    let world = world(directory.path(), Level::FULL);
    let library = world.host.load(&example("cells")).expect("the plugin loads");
    // More than one section has room for.
    let endpoints = usize::from(Capacity::default().cells_per_section) + 1;
    let (instance, sink) = made(&library, "cells", json!({"endpoints": endpoints}));
    collected(&instance, &sink);
    let [snapshot] = &*snapshots(directory.path()) else { panic!("one file") };
    assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
    assert_eq!((snapshot.header.name.as_str(), snapshot.sections), ("cells", 2));
    assert_eq!((snapshot.cells.len(), snapshot.hidden), (endpoints, 0));
    assert!(snapshot.cells.iter().all(|(_, cell)| matches!(cell, Cell::Endpoint(_))));
    drop(instance);
    assert_eq!(world.host.wait_destroyed(Duration::from_secs(10)), 0);
    assert_eq!(snapshots(directory.path())[0].cells, [], "they are free again");
}

#[test]
fn a_plugin_in_rust_does_the_same_without_memory() {
    let world = World::new();
    let library = world.host.load(&example("cells")).expect("the plugin loads");
    let (instance, sink) = made(&library, "cells", json!({"endpoints": 3}));
    let recorded = collected(&instance, &sink);
    assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full);
}

fn only_file(directory: &Path) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(directory).expect("it is there");
    entries.next().expect("a file").expect("it is readable").path()
}
