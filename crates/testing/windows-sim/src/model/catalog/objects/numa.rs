use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::{Data, Instance};

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;
use super::memory::Memory;

/// Its index and those of its counters are ours: they differ between hosts.
pub(crate) static NUMA_NODE_MEMORY: PerfObject =
    PerfObject::new(1850, "NUMA Node Memory", "The memory of each NUMA node.", &COUNTERS)
        .german("NUMA-Knotenspeicher");

static COUNTERS: [C; 2] = [
    C::new(1852, T::PERF_COUNTER_RAWCOUNT, "Total MBytes", "Physical memory of the node, in mebibytes."),
    C::new(
        1854,
        T::PERF_COUNTER_RAWCOUNT,
        "Free & Zero Page List MBytes",
        "Memory of the node that holds nothing, in mebibytes.",
    ),
];

const MIB: u64 = 1 << 20;

/// There is one node, which has all memory.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let memory = Memory::of(figures);
    let values = [memory.physical, memory.free].map(|bytes| bytes / MIB);
    let instance =
        |name: &str| Instance { name: name.to_owned(), values: values.to_vec(), ..Instance::default() };
    Data::Instances(["0", "_Total"].map(instance).into())
}
