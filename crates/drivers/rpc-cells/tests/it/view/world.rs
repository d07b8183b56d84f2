//! Processes as files in memory.

use std::sync::atomic::AtomicU64;

use rpc_cells::{
    Capacity, FileHeader, Level, Name, ProcessIdentity, ReadLimits, Snapshot, Writer, format, read,
};

pub(crate) struct Process {
    memory: &'static [AtomicU64],
    pub(crate) writer: Writer,
}

impl Process {
    pub(crate) fn new(pid: u32) -> Self {
        let capacity = Capacity { cells_per_section: 64, sections_max: 1 };
        let words: Vec<AtomicU64> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
        let memory: &'static [AtomicU64] = words.leak();
        let process = ProcessIdentity { pid, start_ticks: 1, boot_id: 1 };
        let name = Name::new("exporter");
        format(memory, &FileHeader { capacity, level: Level::FULL, process, created_ms: 0, name })
            .expect("the memory is as large as the capacity");
        Self { memory, writer: Writer::over(memory).expect("the header is good") }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        read(self.memory, &ReadLimits::default()).expect("the header is good")
    }
}
