use counters::perflib_v1::write::Data;

use super::super::super::PAGE_FILE_BYTES;
use super::figures::{Figures, total};
use crate::model::scale;

const PAGE: u64 = 4096;
/// What `% Committed Bytes In Use` is divided by on all hosts since Windows 8, whatever their memory.
const COMMIT_BASE: u64 = 0xffff_ffff;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The places of counters in `Process V2`.
const WORKING_SET: usize = 7;
const PRIVATE: usize = 10;
const POOL_PAGED: usize = 16;
const POOL_NONPAGED: usize = 17;

/// Where the host's memory is. The parts of `available` add up to it.
pub(super) struct Memory {
    pub(super) physical: u64,
    pub(super) available: u64,
    pub(super) committed: u64,
    pub(super) commit_limit: u64,
    pool_paged: u64,
    pool_nonpaged: u64,
    cache: u64,
    modified: u64,
    pub(super) free: u64,
    standby_reserve: u64,
    standby_core: u64,
    standby_normal: u64,
}

impl Memory {
    /// Available is what the processes' working sets, the pools, the cache and modified pages leave.
    pub(super) fn of(figures: &Figures<'_>) -> Self {
        let processes = figures.processes();
        let physical = figures.machine.memory_bytes;
        let pool_paged = 96 * MIB + total(processes, POOL_PAGED);
        let pool_nonpaged = 64 * MIB + total(processes, POOL_NONPAGED);
        let cache = figures.level(0x3e01, 80, 180) * MIB;
        let modified = figures.level(0x3e02, 8, 96) * MIB;
        let used = total(processes, WORKING_SET) + pool_paged + pool_nonpaged + cache + modified;
        let available = physical.saturating_sub(used) / PAGE * PAGE;
        let free = available / 8 / PAGE * PAGE;
        let standby_reserve = available / 4 / PAGE * PAGE;
        let standby_core = available / 16 / PAGE * PAGE;
        Self {
            physical,
            available,
            committed: 512 * MIB + total(processes, PRIVATE) + pool_paged + pool_nonpaged,
            commit_limit: physical + PAGE_FILE_BYTES,
            pool_paged,
            pool_nonpaged,
            cache,
            modified,
            free,
            standby_reserve,
            standby_core,
            standby_normal: available - free - standby_reserve - standby_core,
        }
    }
}

/// What is in memory follows from [`Memory`]; events come by the load, and faults of all kinds add up.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let memory = Memory::of(figures);
    let (copies, zeros) = (figures.events(0x3e10, 5, 80), figures.events(0x3e11, 200, 2_000));
    let (transitions, cache_faults) = (figures.events(0x3e12, 50, 900), figures.events(0x3e13, 20, 300));
    let (page_reads, page_writes) = (figures.events(0x3e14, 1, 20), figures.rare(0x3e15, 2, 30));
    let (input, output) = (page_reads * 6, page_writes * 16);
    Data::Single(vec![
        copies + zeros + transitions + cache_faults + page_reads,
        memory.available,
        memory.committed,
        memory.commit_limit,
        copies,
        transitions,
        cache_faults,
        zeros,
        input + output,
        input,
        page_reads,
        output,
        memory.pool_paged,
        memory.pool_nonpaged,
        page_writes,
        figures.events(0x3e18, 50, 900),
        figures.events(0x3e19, 50, 900),
        12_500_000,
        memory.cache,
        180 * MIB,
        memory.pool_paged * 3 / 4 / PAGE * PAGE,
        8 * MIB,
        6 * MIB,
        24 * MIB,
        18 * MIB,
        memory.cache,
        scale(memory.committed, COMMIT_BASE, memory.commit_limit),
        COMMIT_BASE,
        memory.available / KIB,
        memory.available / MIB,
        figures.events(0x3e16, 1, 60),
        memory.free,
        memory.modified,
        memory.standby_reserve,
        memory.standby_normal,
        memory.standby_core,
        figures.level(0x3e17, 3_600, 14_400),
    ])
}
