use std::sync::LazyLock;

use super::super::population::{Load, SECOND, Slot, noise, noise_in};
use super::super::schema::{Counterset, Sample};
use super::super::{Moment, scale};
use super::Machine;
use super::countersets::counterset;

pub(crate) static PROCESS_V2: LazyLock<&'static Counterset> = LazyLock::new(|| counterset("Process V2"));

const COUNTER_COUNT: usize = 30;

/// A process that runs now.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) name: &'static str,
    pub(super) pid: u32,
    /// When it was started, in 100 ns since the start of the host.
    pub(super) since: u64,
    /// What its numbers are made from.
    noise: u64,
}

/// Programs that run once, with the ids that they have on every host.
const SYSTEM: [(&str, u32); 6] =
    [("System", 4), ("smss", 320), ("csrss", 452), ("wininit", 528), ("services", 668), ("lsass", 684)];
/// The desktop's compositor, which also uses the GPU.
const DWM: (&str, u32) = ("dwm", 1012);
const SERVICES: [&str; 6] = ["svchost", "svchost", "svchost", "sqlservr", "w3wp", "spoolsv"];
const VISITORS: [&str; 4] = ["backup", "powershell", "render", "WmiPrvSE"];

/// Everything that runs at `at`: the system, services that stay, and visitors that come and go by their slot.
pub(super) fn processes(machine: Machine, at: &Moment) -> Vec<Process> {
    let long_lived = SYSTEM.into_iter().chain([DWM]).map(|(name, pid)| (name, pid, 0));
    let services = (0..machine.services).zip(SERVICES.iter().cycle()).map(|(index, &name)| {
        let pid =
            1_100 + index * 44 + 4 * u32::from(noise(machine.seed, u64::from(index)).to_le_bytes()[0] % 11);
        (name, pid, u64::from(index + 1) * SECOND)
    });
    long_lived
        .chain(services)
        .map(|(name, pid, since)| Process { name, pid, since, noise: noise(machine.seed, u64::from(pid)) })
        .chain(visitors(machine, at))
        .filter(|process| process.since <= at.uptime_100ns())
        .collect()
}

/// Stay c in slot k of s is process 40 000 + 4 · ((c · s + k) mod 15 000).
fn visitors(machine: Machine, at: &Moment) -> impl Iterator<Item = Process> {
    let uptime = at.uptime_100ns();
    (0..machine.slots).zip(VISITORS.iter().cycle()).filter_map(move |(index, &name)| {
        let stay = Slot::seeded(machine.seed, u64::from(index)).stay(uptime)?;
        let serial = stay.number * u64::from(machine.slots) + u64::from(index);
        let pid = 40_000 + 4 * u32::try_from(serial % 15_000).unwrap_or(0);
        Some(Process { name, pid, since: stay.since, noise: noise(machine.seed, serial) })
    })
}

impl Process {
    /// The instance's name: program and id.
    fn instance(&self) -> String {
        format!("{}:{}", self.name, self.pid)
    }

    /// With a the age in 100 ns: processor time = load(a), a third of it privileged; reads = r · a and writes =
    /// w · a a second, 4096 bytes each; memory by the process, its peak an eighth higher.
    fn numbers(&self, at: &Moment) -> [u64; COUNTER_COUNT] {
        let age = at.uptime_100ns() - self.since;
        let busy = Load::seeded(self.noise, 0).busy_time(age) / 8;
        let reads = scale(age, noise_in(self.noise, 1, 1, 200), SECOND);
        let writes = scale(age, noise_in(self.noise, 2, 1, 80), SECOND);
        let other = reads / 4;
        let working_set = noise_in(self.noise, 3, 1_000, 60_000) * 4096;
        let private = working_set / 4096 * 3 / 4 * 4096;
        let virtual_bytes = working_set * 16;
        let threads = noise_in(self.noise, 4, 2, 60);
        row(&Usage {
            kernel: busy / 3,
            user: busy - busy / 3,
            virtual_bytes,
            virtual_peak: virtual_bytes + virtual_bytes / 8,
            page_faults: reads * 3,
            working_set,
            working_set_peak: working_set + working_set / 8,
            private,
            threads,
            priority: 8,
            started: at.boot.0 + self.since,
            now: at.time.0,
            pid: u64::from(self.pid),
            parent: if self.pid == 4 { 0 } else { 668 },
            handles: threads * 17,
            operations: [reads, writes, other],
            bytes: [reads * 4096, writes * 4096, other * 64],
        })
    }
}

/// What a process is known by; the other counters follow from it.
pub(crate) struct Usage {
    pub(crate) kernel: u64,
    pub(crate) user: u64,
    pub(crate) virtual_bytes: u64,
    pub(crate) virtual_peak: u64,
    pub(crate) page_faults: u64,
    pub(crate) working_set: u64,
    pub(crate) working_set_peak: u64,
    pub(crate) private: u64,
    pub(crate) threads: u64,
    pub(crate) priority: u64,
    /// When it was started, as a FILETIME.
    pub(crate) started: u64,
    /// The time of day, as a FILETIME.
    pub(crate) now: u64,
    pub(crate) pid: u64,
    pub(crate) parent: u64,
    pub(crate) handles: u64,
    pub(crate) operations: [u64; 3],
    pub(crate) bytes: [u64; 3],
}

/// The numbers of one process, in the order of the counters.
pub(crate) fn row(usage: &Usage) -> [u64; COUNTER_COUNT] {
    let [read_operations, write_operations, other_operations] = usage.operations;
    let [read_bytes, write_bytes, other_bytes] = usage.bytes;
    [
        usage.kernel + usage.user,
        usage.user,
        usage.kernel,
        usage.virtual_peak,
        usage.virtual_bytes,
        usage.page_faults,
        usage.working_set_peak,
        usage.working_set,
        usage.private + usage.private / 8,
        usage.private,
        usage.private,
        usage.threads,
        usage.priority,
        usage.started,
        usage.pid,
        usage.parent,
        usage.handles * 512,
        usage.handles * 128,
        usage.handles,
        read_operations,
        write_operations,
        read_operations + write_operations,
        other_operations,
        read_bytes,
        write_bytes,
        read_bytes + write_bytes,
        other_bytes,
        usage.private,
        usage.now,
        SECOND,
    ]
}

pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    processes(machine, at)
        .iter()
        .map(|process| Sample::of_numbers(&PROCESS_V2, process.instance(), process.pid, &process.numbers(at)))
        .collect()
}
