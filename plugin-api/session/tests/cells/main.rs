//! The writer of a plugin's cells, which a process has once: so this test has a process of its own.

use std::sync::atomic::AtomicU64;

use plugin_sdk::testing::set_cell_memory;
use rpc_cells::{Capacity, Cell, FileHeader, Level, Name, ProcessIdentity, ReadLimits, Thread, format, read};

#[test]
fn objects_of_a_plugin_are_in_the_memory_of_the_exporter_as_far_as_that_grows() {
    let capacity = Capacity { cells_per_section: 4, sections_max: 3 };
    let words: Vec<AtomicU64> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
    let words: &'static [AtomicU64] = words.leak();
    let header = FileHeader {
        capacity,
        level: Level::FULL,
        process: ProcessIdentity { pid: 7, start_ticks: 1, boot_id: 1 },
        created_ms: 0,
        name: Name::new("testing"),
    };
    format(words, &header).expect("it has room");
    // The disk has no room for the third section.
    set_cell_memory(words, 2);

    let writer = plugin_session::cells();
    assert_eq!(writer.level(), Level::FULL);
    let threads: Vec<_> =
        (1..=8).map(|tid| plugin_session::cells().thread(Thread { tid, ..Thread::default() })).collect();
    let snapshot = read(words, &ReadLimits::default()).expect("it is whole");
    let shown: Vec<u32> = snapshot
        .cells
        .iter()
        .filter_map(|(_, cell)| match cell {
            Cell::Thread(thread) => Some(thread.tid),
            _ => None,
        })
        .collect();
    // Three cells of each section; the first is no object's.
    assert_eq!(shown, [1, 2, 3, 4, 5, 6]);
    assert_eq!((snapshot.sections, snapshot.hidden), (2, 2));
    drop(threads);
    assert_eq!(read(words, &ReadLimits::default()).expect("it is whole").cells, []);
}
