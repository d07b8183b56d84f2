use std::sync::LazyLock;

use super::super::Moment;
use super::super::population::{Load, noise_in};
use super::super::schema::{Counterset, Sample};
use super::Machine;
use super::countersets::counterset;
use super::process::{Process, processes};

pub(super) static GPU_ENGINE: LazyLock<&'static Counterset> = LazyLock::new(|| counterset("GPU Engine"));

pub(super) static GPU_ADAPTER_MEMORY: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("GPU Adapter Memory"));

pub(super) static GPU_PROCESS_MEMORY: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("GPU Process Memory"));

pub(super) static GPU_LOCAL_ADAPTER_MEMORY: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("GPU Local Adapter Memory"));

pub(super) static GPU_NON_LOCAL_ADAPTER_MEMORY: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("GPU Non Local Adapter Memory"));

const MEBIBYTE: u64 = 1 << 20;
const ENGINES: [(u32, &str); 3] = [(0, "3D"), (1, "Copy"), (2, "VideoDecode")];

/// The adapter's locally unique id, as it is in instance names.
fn luid(machine: Machine) -> String {
    format!("luid_0x00000000_0x{:08X}", noise_in(machine.seed, 0x1d, 0x8000, 0xffff))
}

/// The compositor always uses the GPU, visitors that render do while they run.
fn users(machine: Machine, at: &Moment) -> impl Iterator<Item = Process> {
    processes(machine, at).into_iter().filter(|process| matches!(process.name, "dwm" | "render"))
}

/// With a the process's age: running time = utilisation = load(a)/2, a load for each process and engine.
pub(super) fn sample_engines(machine: Machine, at: &Moment) -> Vec<Sample> {
    let luid = luid(machine);
    let mut samples = Vec::new();
    for process in users(machine, at) {
        for (engine, kind) in ENGINES {
            let load = Load::seeded(machine.seed, u64::from(process.pid) * 8 + u64::from(engine));
            let running = load.busy_time(at.uptime_100ns() - process.since) / 2;
            let name = format!("pid_{}_{luid}_phys_0_eng_{engine}_engtype_{kind}", process.pid);
            let id = u32::try_from(samples.len()).unwrap_or(u32::MAX);
            samples.push(Sample::of_numbers(&GPU_ENGINE, name, id, &[running, running]));
        }
    }
    samples
}

fn process_memory(machine: Machine, process: &Process) -> u64 {
    noise_in(machine.seed, u64::from(process.pid) + 0x6d, 16, 512) * MEBIBYTE
}

/// The adapter holds what its users hold: dedicated = their sum, shared = an eighth of it.
fn adapter_memory(machine: Machine, at: &Moment) -> [u64; 2] {
    let dedicated: u64 = users(machine, at).map(|process| process_memory(machine, &process)).sum();
    [dedicated, dedicated / 8]
}

pub(super) fn sample_adapter_memory(machine: Machine, at: &Moment) -> Vec<Sample> {
    let [dedicated, shared] = adapter_memory(machine, at);
    adapter(machine, &GPU_ADAPTER_MEMORY, &[dedicated + shared, dedicated, shared])
}

pub(super) fn sample_local_memory(machine: Machine, at: &Moment) -> Vec<Sample> {
    adapter(machine, &GPU_LOCAL_ADAPTER_MEMORY, &adapter_memory(machine, at)[..1])
}

pub(super) fn sample_non_local_memory(machine: Machine, at: &Moment) -> Vec<Sample> {
    adapter(machine, &GPU_NON_LOCAL_ADAPTER_MEMORY, &adapter_memory(machine, at)[1..])
}

fn adapter(machine: Machine, set: &Counterset, numbers: &[u64]) -> Vec<Sample> {
    vec![Sample::of_numbers(set, format!("{}_phys_0", luid(machine)), 0, numbers)]
}

pub(super) fn sample_process_memory(machine: Machine, at: &Moment) -> Vec<Sample> {
    let luid = luid(machine);
    (0..)
        .zip(users(machine, at))
        .map(|(id, process)| {
            let held = process_memory(machine, &process);
            let numbers = [held + held / 8, held, held / 8, held, held / 8];
            Sample::of_numbers(
                &GPU_PROCESS_MEMORY,
                format!("pid_{}_{luid}_phys_0", process.pid),
                id,
                &numbers,
            )
        })
        .collect()
}
