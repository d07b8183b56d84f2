//! Cells in memory.

use std::sync::atomic::AtomicU64;

use rpc_cells::{
    Capacity, FileHeader, Level, Name, ProcessIdentity, ReadLimits, Snapshot, Writer, format, read,
};

pub(crate) struct Cells {
    memory: &'static [AtomicU64],
    pub(crate) writer: Writer,
}

impl Cells {
    pub(crate) fn new(level: Level) -> Self {
        let capacity = Capacity { cells_per_section: 64, sections_max: 1 };
        let words: Vec<AtomicU64> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
        let memory: &'static [AtomicU64] = words.leak();
        let process = ProcessIdentity { pid: 7, start_ticks: 1, boot_id: 1 };
        let header = FileHeader { capacity, level, process, created_ms: 0, name: Name::new("test") };
        format(memory, &header).expect("the memory is as large as the capacity");
        Self { memory, writer: Writer::over(memory).expect("the header is good") }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        read(self.memory, &ReadLimits::default()).expect("the header is good")
    }
}
