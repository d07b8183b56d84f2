use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::population::{Load, SECOND, Slot, noise, noise_in};
use super::super::schema::{Counter, Counterset, Sample};
use super::super::{Moment, scale};
use super::{Machine, SIM_PROVIDER};

/// The GUID and the ids are ours: none are public. The names are those of Windows 11.
pub(crate) static PROCESS_V2: Counterset = Counterset {
    guid: Guid::from_u128(0x32fed256_e60b_493d_bce9_50d8e294eef1),
    name: "Process V2",
    explain: "Each running process. Instances are named by program and process id.",
    german: Some("Prozess V2"),
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

const COUNTER_COUNT: usize = 30;

static COUNTERS: [Counter; COUNTER_COUNT] = [
    Counter::new(
        1,
        T::PERF_100NSEC_TIMER,
        "% Processor Time",
        "Share of time that the process's threads ran.",
    )
    .german("Prozessorzeit (%)"),
    Counter::new(2, T::PERF_100NSEC_TIMER, "% User Time", "Share of time that they ran in user mode.")
        .german("Benutzerzeit (%)"),
    Counter::new(
        3,
        T::PERF_100NSEC_TIMER,
        "% Privileged Time",
        "Share of time that they ran in privileged mode.",
    ),
    Counter::new(
        4,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Virtual Bytes Peak",
        "Most address space in use so far.",
    ),
    Counter::new(5, T::PERF_COUNTER_LARGE_RAWCOUNT, "Virtual Bytes", "Address space in use."),
    Counter::new(6, T::PERF_COUNTER_COUNTER, "Page Faults/sec", "Page faults of the process's threads."),
    Counter::new(
        7,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Working Set Peak",
        "Largest working set so far, in bytes.",
    ),
    Counter::new(
        8,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Working Set",
        "Memory pages touched recently, in bytes.",
    )
    .german("Arbeitsseiten"),
    Counter::new(
        9,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Page File Bytes Peak",
        "Most memory reserved in page files so far.",
    ),
    Counter::new(10, T::PERF_COUNTER_LARGE_RAWCOUNT, "Page File Bytes", "Memory reserved in page files."),
    Counter::new(
        11,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Private Bytes",
        "Memory that cannot be shared with others.",
    ),
    Counter::new(12, T::PERF_COUNTER_RAWCOUNT, "Thread Count", "Threads of the process.")
        .german("Threadanzahl"),
    Counter::new(13, T::PERF_COUNTER_RAWCOUNT, "Priority Base", "Base priority of the process."),
    Counter::new(14, T::PERF_ELAPSED_TIME, "Elapsed Time", "Seconds since the process was started.")
        .clock(29, 30),
    Counter::new(
        15,
        T::PERF_COUNTER_RAWCOUNT,
        "Process ID",
        "Identifier of the process, unique while it runs.",
    ),
    Counter::new(
        16,
        T::PERF_COUNTER_RAWCOUNT,
        "Creating Process ID",
        "Identifier of the process that started this one.",
    ),
    Counter::new(17, T::PERF_COUNTER_LARGE_RAWCOUNT, "Pool Paged Bytes", "Bytes of the paged pool."),
    Counter::new(18, T::PERF_COUNTER_LARGE_RAWCOUNT, "Pool Nonpaged Bytes", "Bytes of the nonpaged pool."),
    Counter::new(19, T::PERF_COUNTER_RAWCOUNT, "Handle Count", "Handles open in the process.")
        .german("Handleanzahl"),
    Counter::new(20, T::PERF_COUNTER_BULK_COUNT, "IO Read Operations/sec", "Read operations issued."),
    Counter::new(21, T::PERF_COUNTER_BULK_COUNT, "IO Write Operations/sec", "Write operations issued."),
    Counter::new(
        22,
        T::PERF_COUNTER_BULK_COUNT,
        "IO Data Operations/sec",
        "Read and write operations issued.",
    ),
    Counter::new(
        23,
        T::PERF_COUNTER_BULK_COUNT,
        "IO Other Operations/sec",
        "Operations issued that move no data.",
    ),
    Counter::new(24, T::PERF_COUNTER_BULK_COUNT, "IO Read Bytes/sec", "Bytes read."),
    Counter::new(25, T::PERF_COUNTER_BULK_COUNT, "IO Write Bytes/sec", "Bytes written."),
    Counter::new(26, T::PERF_COUNTER_BULK_COUNT, "IO Data Bytes/sec", "Bytes read and written."),
    Counter::new(
        27,
        T::PERF_COUNTER_BULK_COUNT,
        "IO Other Bytes/sec",
        "Bytes of operations that move no data.",
    ),
    Counter::new(
        28,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Working Set - Private",
        "The part of the working set that others do not share.",
    )
    .advanced(),
    Counter::new(
        29,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Object Time",
        "Time of day of Elapsed Time, in 100 ns.",
    )
    .hidden(),
    Counter::new(30, T::PERF_COUNTER_LARGE_RAWCOUNT, "Object Frequency", "Ticks a second of Object Time.")
        .hidden(),
];

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
