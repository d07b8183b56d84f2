use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::Moment;
use super::super::population::{Load, noise_in};
use super::super::schema::{Counter, Counterset, Sample};
use super::process::{Process, processes};
use super::{Machine, SIM_PROVIDER};

/// GUIDs and ids of this file are public.
pub(super) static GPU_ENGINE: Counterset = Counterset {
    guid: Guid::from_u128(0x978c167d_4764_4d9c_9824_14747351dc81),
    name: "GPU Engine",
    explain: "Each engine of each graphics adapter, by the process that uses it.",
    german: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &ENGINE_COUNTERS,
};

static ENGINE_COUNTERS: [Counter; 2] = [
    Counter::new(
        1,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Running Time",
        "Time that the engine worked for the process, in 100 ns.",
    ),
    Counter::new(
        2,
        T::PERF_100NSEC_TIMER,
        "Utilization Percentage",
        "Share of time that the engine worked for the process.",
    ),
];

pub(super) static GPU_ADAPTER_MEMORY: Counterset = Counterset {
    guid: Guid::from_u128(0xbe2139c7_ab81_424d_b107_d87f7c9322ac),
    name: "GPU Adapter Memory",
    explain: "Memory in use by each graphics adapter.",
    german: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &ADAPTER_COUNTERS,
};

static ADAPTER_COUNTERS: [Counter; 3] = [
    Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Total Committed", "Bytes committed."),
    Counter::new(
        2,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Dedicated Usage",
        "Bytes of the adapter's own memory in use.",
    ),
    Counter::new(
        3,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Shared Usage",
        "Bytes of the host's memory in use by the adapter.",
    ),
];

pub(super) static GPU_PROCESS_MEMORY: Counterset = Counterset {
    guid: Guid::from_u128(0xf802502b_77b4_4713_81b3_3be05759da5d),
    name: "GPU Process Memory",
    explain: "Memory of graphics adapters in use by each process.",
    german: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &PROCESS_COUNTERS,
};

static PROCESS_COUNTERS: [Counter; 5] = [
    Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Total Committed", "Bytes committed for the process."),
    Counter::new(2, T::PERF_COUNTER_LARGE_RAWCOUNT, "Local Usage", "Bytes of local memory in use."),
    Counter::new(3, T::PERF_COUNTER_LARGE_RAWCOUNT, "Non Local Usage", "Bytes of non-local memory in use."),
    Counter::new(
        4,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Dedicated Usage",
        "Bytes of the adapter's own memory in use.",
    ),
    Counter::new(5, T::PERF_COUNTER_LARGE_RAWCOUNT, "Shared Usage", "Bytes of the host's memory in use."),
];

pub(super) static GPU_LOCAL_ADAPTER_MEMORY: Counterset = Counterset {
    guid: Guid::from_u128(0x227419d5_f6d8_4fb7_85d6_2cac1725e4a9),
    name: "GPU Local Adapter Memory",
    explain: "Local memory in use by each graphics adapter.",
    german: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &LOCAL_COUNTERS,
};

static LOCAL_COUNTERS: [Counter; 1] =
    [Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Local Usage", "Bytes of local memory in use.")];

pub(super) static GPU_NON_LOCAL_ADAPTER_MEMORY: Counterset = Counterset {
    guid: Guid::from_u128(0xf9ed01f5_8f3e_4956_973f_9f05bc96f489),
    name: "GPU Non Local Adapter Memory",
    explain: "Non-local memory in use by each graphics adapter.",
    german: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &NON_LOCAL_COUNTERS,
};

static NON_LOCAL_COUNTERS: [Counter; 1] =
    [Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Non Local Usage", "Bytes of non-local memory in use.")];

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
