use counters::pcq::types::CounterType as T;
use counters::perflib_v1::Parent;
use counters::perflib_v1::write::{Data, Instance};

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;
use super::process::{self, PROCESS};

/// The index is public, as are those of its counters and their types.
pub(crate) static THREAD: PerfObject =
    PerfObject::new(232, "Thread", "Each thread of each process, numbered within its process.", &COUNTERS)
        .german("Thread")
        .advanced()
        .time_of_day()
        .part_of(&PROCESS);

static COUNTERS: [C; 12] = [
    C::new(6, T::PERF_100NSEC_TIMER, "% Processor Time", "Share of time that the thread ran.").help(1913),
    C::new(142, T::PERF_100NSEC_TIMER, "% User Time", "Share of time that it ran in user mode.").help(1915),
    C::new(144, T::PERF_100NSEC_TIMER, "% Privileged Time", "Share of time that it ran in privileged mode.")
        .help(1917),
    C::new(146, T::PERF_COUNTER_COUNTER, "Context Switches/sec", "Times that it got a processor.")
        .help(1919)
        .scale(-2),
    C::new(684, T::PERF_ELAPSED_TIME, "Elapsed Time", "Seconds since it was started.").help(1923).scale(-4),
    C::new(694, T::PERF_COUNTER_RAWCOUNT, "Priority Current", "Its priority now.").advanced(),
    C::new(682, T::PERF_COUNTER_RAWCOUNT, "Priority Base", "Its base priority.").help(1921).advanced(),
    C::new(706, T::PERF_COUNTER_RAWCOUNT_HEX, "Start Address", "The address where it began.").advanced(),
    C::new(
        46,
        T::PERF_COUNTER_RAWCOUNT,
        "Thread State",
        "Its state, such as 2 for running and 5 for waiting.",
    )
    .advanced(),
    C::new(336, T::PERF_COUNTER_RAWCOUNT, "Thread Wait Reason", "Why it waits.").advanced(),
    C::new(784, T::PERF_COUNTER_RAWCOUNT, "ID Process", "Identifier of its process.").help(1925).scale(-1),
    C::new(804, T::PERF_COUNTER_RAWCOUNT, "ID Thread", "Identifier of the thread.").scale(-1),
];

const RUNNING: u64 = 2;
const WAITING: u64 = 5;
/// Waiting for a message.
const WAIT_REASON: u64 = 6;
/// Threads have higher identifiers than processes.
const FIRST_ID: u64 = 100_000;
/// Threads of one process.
const THREADS_MAX: usize = 64;

/// The threads of a process share its time; the first one has the rest.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let Data::Instances(processes) = process::modelled(figures) else { return Data::Instances(Vec::new()) };
    let mut threads = Vec::new();
    for (position, process) in (0..).zip(&processes) {
        let count = process.values[process::THREAD_COUNT];
        // The total of all processes has a total of all threads.
        let own = if process.name == "_Total" { 1 } else { count };
        for number in 0..own {
            threads.push(thread(process, position, number, own));
        }
    }
    Data::Instances(threads)
}

fn thread(process: &Instance, position: u32, number: u64, count: u64) -> Instance {
    let is_total = process.name == "_Total";
    let share = |whole: u64| if number == 0 { whole / count + whole % count } else { whole / count };
    let (user, privileged) =
        (share(process.values[process::USER_TIME]), share(process.values[process::PRIVILEGED_TIME]));
    let pid = process.values[process::ID_PROCESS];
    let is_idle = process.name == "Idle";
    let priority = process.values[process::PRIORITY_BASE];
    let id = if is_total { 0 } else { FIRST_ID + 4 * (u64::from(position) * THREADS_MAX as u64 + number) };
    let values = vec![
        user + privileged,
        user,
        privileged,
        (user + privileged) / 20_000,
        process.values[process::ELAPSED_TIME],
        priority + u64::from(number.is_multiple_of(3)),
        priority,
        0x7ff6_0000_0000 + (pid << 16),
        if is_idle { RUNNING } else { WAITING },
        WAIT_REASON,
        pid,
        id,
    ];
    let name = if is_total { "_Total".to_owned() } else { number.to_string() };
    let parent = Some(Parent { object: PROCESS.index, position });
    Instance { name, parent, values, ..Instance::default() }
}
