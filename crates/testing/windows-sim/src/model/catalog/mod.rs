//! The countersets of a simulated host: formulas, one file for each subject. What is registered of Windows's own is in
//! `catalogue/version2.csv`, which `countersets` reads, and of ours beside the formulas.

pub mod aggregates;
pub mod counter_types;
mod countersets;
mod disk;
mod gpu;
mod http;
mod load;
pub(crate) mod objects;
mod oddities;
mod process;
mod processor;
pub(crate) mod synthetic;
mod thermal;
mod updates;

use std::sync::LazyLock;

use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use self::aggregates::AggregateForm;
use super::schema::{Counterset, Provider, Sample};
use super::{Moment, scale};
use crate::model::population::SECOND;
use crate::model::schema::Counter;

pub(crate) use self::disk::FILE_SYSTEM_DISK_ACTIVITY;
pub(crate) use self::process::{PROCESS_V2, Usage, row as process_row};
pub(crate) use self::processor::{PROCESSOR_INFORMATION, Times, row as processor_row, with_totals};
pub(crate) use self::updates::{UPDATES, UPDATES_LATER, sample_later};

/// What the formulas know of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// Decides everything that differs between hosts.
    pub(crate) seed: u64,
    pub(crate) processors: u32,
    /// Services that run all the time.
    pub(crate) services: u32,
    /// Places in which short-lived processes come and go.
    pub(crate) slots: u32,
    pub(crate) memory_bytes: u64,
    /// How countersets are sent that the client has to add up.
    pub(crate) aggregates: AggregateForm,
}

/// A counterset and how its instances are computed.
pub(crate) type Entry = (&'static Counterset, fn(Machine, &Moment) -> Vec<Sample>);

/// All countersets of the model but for the synthetic ones.
pub(crate) static CATALOG: LazyLock<[Entry; 17]> = LazyLock::new(|| {
    [
        (*PROCESSOR_INFORMATION, processor::sample),
        (*PROCESS_V2, process::sample),
        (*FILE_SYSTEM_DISK_ACTIVITY, disk::sample),
        (*thermal::THERMAL_ZONE_INFORMATION, thermal::sample),
        (*http::HTTP_SERVICE, http::sample),
        (*gpu::GPU_ENGINE, gpu::sample_engines),
        (*gpu::GPU_ADAPTER_MEMORY, gpu::sample_adapter_memory),
        (*gpu::GPU_PROCESS_MEMORY, gpu::sample_process_memory),
        (*gpu::GPU_LOCAL_ADAPTER_MEMORY, gpu::sample_local_memory),
        (*gpu::GPU_NON_LOCAL_ADAPTER_MEMORY, gpu::sample_non_local_memory),
        (&counter_types::COUNTER_TYPES, counter_types::sample),
        (&aggregates::GLOBAL_AGGREGATE, aggregates::sample_global),
        (&aggregates::MULTIPLE_AGGREGATE, aggregates::sample_named),
        (&aggregates::GLOBAL_AGGREGATE_HISTORY, aggregates::sample_history),
        (&DUPLICATES, sample),
        (&oddities::ODDITIES, oddities::sample),
        (&UPDATES, updates::sample),
    ]
});

/// The provider of Processor Information; its GUID is public, the name is ours.
static COUNTERS_PROVIDER: Provider =
    Provider { guid: Guid::from_u128(0x383487a6_3676_4870_a4e7_d45b30c35629), name: "Windows-Sim-Counters" };

/// The provider of all other countersets. The GUID is ours: none is public.
static SIM_PROVIDER: Provider =
    Provider { guid: Guid::from_u128(0xa7cb18a7_c20b_4335_a4a3_1f19502dbcca), name: "Windows-Sim" };

/// The GUID is ours. Instances share names, which Windows does not prevent ([MS-PCQ] <3>).
pub(crate) static DUPLICATES: Counterset = Counterset {
    guid: Guid::from_u128(0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a004),
    name: "Duplicates",
    explain: "Instances that share names: some differ by their number, some by case, two by nothing.",
    german: Some("Doppelte"),
    german_explain: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

static COUNTERS: [Counter; 2] = [
    Counter::new(1, T::PERF_COUNTER_BULK_COUNT, "Events/sec", "Events of the instance."),
    Counter::new(2, T::PERF_COUNTER_RAWCOUNT, "Place", "The instance's place among all, from 1."),
];

const INSTANCES: [(&str, u32); 7] = [
    ("worker", 1),
    ("worker", 2),
    ("Worker", 3),
    ("worker", 4),
    ("idle", 1),
    // Nothing tells these two apart.
    ("twin", 7),
    ("twin", 7),
];

/// With t the uptime in seconds, the instance in place j has made 100 · j · t events.
fn sample(_: Machine, at: &Moment) -> Vec<Sample> {
    (1..)
        .zip(INSTANCES)
        .map(|(place, (name, id))| {
            let numbers = [scale(at.uptime_100ns(), 100 * place, SECOND), place];
            Sample::of_numbers(&DUPLICATES, name, id, &numbers)
        })
        .collect()
}
