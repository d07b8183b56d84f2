use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::{Data, Instance};

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::super::super::schema::Sample;
use super::figures::{Figures, number, total};

/// The index is public, as are those of its counters and their types.
pub(crate) static PROCESS: PerfObject = PerfObject::new(
    230,
    "Process",
    "Each running process. Instances are named by program, so that several may have one name.",
    &COUNTERS,
)
.german("Prozess")
.time_of_day();

static COUNTERS: [C; 28] = [
    C::new(
        6,
        T::PERF_100NSEC_TIMER,
        "% Processor Time",
        "Share of time that the threads of the process ran.",
    )
    .help(1901),
    C::new(142, T::PERF_100NSEC_TIMER, "% User Time", "Share of time that they ran in user mode.").help(1903),
    C::new(
        144,
        T::PERF_100NSEC_TIMER,
        "% Privileged Time",
        "Share of time that they ran in privileged mode.",
    )
    .help(1905),
    C::new(172, T::PERF_COUNTER_LARGE_RAWCOUNT, "Virtual Bytes Peak", "Most address space in use so far.")
        .advanced()
        .scale(-6),
    C::new(174, T::PERF_COUNTER_LARGE_RAWCOUNT, "Virtual Bytes", "Address space in use.")
        .advanced()
        .scale(-6),
    C::new(28, T::PERF_COUNTER_COUNTER, "Page Faults/sec", "Page faults of the threads of the process.")
        .help(1907)
        .scale(-1),
    C::new(178, T::PERF_COUNTER_LARGE_RAWCOUNT, "Working Set Peak", "Largest working set so far, in bytes.")
        .advanced()
        .scale(-5),
    C::new(180, T::PERF_COUNTER_LARGE_RAWCOUNT, "Working Set", "Memory pages touched recently, in bytes.")
        .german("Arbeitsseiten")
        .scale(-5),
    C::new(
        182,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Page File Bytes Peak",
        "Most memory reserved in page files so far.",
    )
    .advanced()
    .scale(-6),
    C::new(184, T::PERF_COUNTER_LARGE_RAWCOUNT, "Page File Bytes", "Memory reserved in page files.")
        .scale(-6),
    C::new(186, T::PERF_COUNTER_LARGE_RAWCOUNT, "Private Bytes", "Memory that cannot be shared with others.")
        .scale(-5),
    C::new(680, T::PERF_COUNTER_RAWCOUNT, "Thread Count", "Threads of the process.").german("Threadanzahl"),
    C::new(682, T::PERF_COUNTER_RAWCOUNT, "Priority Base", "Base priority of the process.").advanced(),
    C::new(684, T::PERF_ELAPSED_TIME, "Elapsed Time", "Seconds since the process was started.").scale(-4),
    C::new(784, T::PERF_COUNTER_RAWCOUNT, "ID Process", "Identifier of the process, unique while it runs.")
        .german("Prozesskennung")
        .scale(-1),
    C::new(
        1410,
        T::PERF_COUNTER_RAWCOUNT,
        "Creating Process ID",
        "Identifier of the process that started this one.",
    )
    .scale(-1),
    C::new(56, T::PERF_COUNTER_RAWCOUNT, "Pool Paged Bytes", "Memory of the paged pool.")
        .help(1909)
        .advanced()
        .scale(-5),
    C::new(58, T::PERF_COUNTER_RAWCOUNT, "Pool Nonpaged Bytes", "Memory of the nonpaged pool.")
        .help(1911)
        .advanced()
        .scale(-5),
    C::new(952, T::PERF_COUNTER_RAWCOUNT, "Handle Count", "Handles that are open in the process.")
        .german("Handleanzahl"),
    C::new(1412, T::PERF_COUNTER_BULK_COUNT, "IO Read Operations/sec", "Read operations issued."),
    C::new(1414, T::PERF_COUNTER_BULK_COUNT, "IO Write Operations/sec", "Write operations issued."),
    C::new(1416, T::PERF_COUNTER_BULK_COUNT, "IO Data Operations/sec", "Read and write operations issued."),
    C::new(
        1418,
        T::PERF_COUNTER_BULK_COUNT,
        "IO Other Operations/sec",
        "Operations issued that move no data.",
    ),
    C::new(1420, T::PERF_COUNTER_BULK_COUNT, "IO Read Bytes/sec", "Bytes read.").scale(-4),
    C::new(1422, T::PERF_COUNTER_BULK_COUNT, "IO Write Bytes/sec", "Bytes written.").scale(-4),
    C::new(1424, T::PERF_COUNTER_BULK_COUNT, "IO Data Bytes/sec", "Bytes read and written.").scale(-4),
    C::new(1426, T::PERF_COUNTER_BULK_COUNT, "IO Other Bytes/sec", "Bytes of operations that move no data.")
        .scale(-3),
    C::new(
        1478,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Working Set - Private",
        "The part of the working set that others do not share.",
    )
    .advanced()
    .scale(-5),
];

/// The places of counters that others ask for.
const PROCESSOR_TIME: usize = 0;
pub(super) const USER_TIME: usize = 1;
pub(super) const PRIVILEGED_TIME: usize = 2;
pub(super) const THREAD_COUNT: usize = 11;
pub(super) const PRIORITY_BASE: usize = 12;
pub(super) const ELAPSED_TIME: usize = 13;
pub(super) const ID_PROCESS: usize = 14;
const CREATING_PROCESS_ID: usize = 15;
/// The place of `% Idle Time` in `Processor Information`.
const IDLE_TIME: usize = 8;

pub(super) fn modelled(figures: &Figures<'_>) -> Data {
    data(figures.processes(), figures.processors(), figures.at.boot.0)
}

/// The first counters of `Process V2` are those of this object, in the same order. Its instances have their id in the name;
/// here, they have not, and there are `Idle` and `_Total` besides.
pub(crate) fn data(processes: &[Sample], processors: &[Sample], boot: u64) -> Data {
    let instance = |sample: &Sample| {
        let name = sample.instance.name.rsplit_once(':').map_or("", |(name, _)| name);
        let values = (0..COUNTERS.len()).map(|position| number(sample, position)).collect();
        Instance { name: name.to_owned(), values, ..Instance::default() }
    };
    let mut instances = vec![idle(processors, boot)];
    instances.extend(processes.iter().map(instance));
    let total = total_of(&instances);
    instances.push(total);
    Data::Instances(instances)
}

/// Process 0, with a thread for each processor, runs when nobody else does.
fn idle(processors: &[Sample], boot: u64) -> Instance {
    let own = processors.iter().filter(|sample| !sample.instance.name.ends_with("_Total"));
    let own: Vec<Sample> = own.cloned().collect();
    let idle = total(&own, IDLE_TIME);
    let mut values = vec![0; COUNTERS.len()];
    values[PROCESSOR_TIME] = idle;
    values[PRIVILEGED_TIME] = idle;
    values[THREAD_COUNT] = own.len() as u64;
    values[ELAPSED_TIME] = boot;
    Instance { name: "Idle".to_owned(), values, ..Instance::default() }
}

/// The sum of all instances. Of what cannot be added up it has nothing: elapsed time has begun with `Idle`.
fn total_of(instances: &[Instance]) -> Instance {
    let sum = |position| match position {
        PRIORITY_BASE | ID_PROCESS | CREATING_PROCESS_ID => 0,
        ELAPSED_TIME => instances.first().map_or(0, |idle| idle.values[ELAPSED_TIME]),
        _ => instances.iter().map(|instance| instance.values[position]).sum(),
    };
    let values: Vec<u64> = (0..COUNTERS.len()).map(sum).collect();
    Instance { name: "_Total".to_owned(), values, ..Instance::default() }
}
