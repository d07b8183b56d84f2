use counters::perflib_v1::Parent;
use counters::perflib_v1::write::{Data, Instance};

use super::figures::Figures;
use super::process;

/// The index of `Process`, whose instances have threads.
const PROCESS: u32 = 230;
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
    let parent = Some(Parent { object: PROCESS, position });
    Instance { name, parent, values, ..Instance::default() }
}
