use counters::perflib_v1::write::{Data, Instance};

use super::figures::Figures;
use super::memory::Memory;

const MIB: u64 = 1 << 20;

/// There is one node, which has all memory.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let memory = Memory::of(figures);
    let values = [memory.physical, memory.free].map(|bytes| bytes / MIB);
    let instance =
        |name: &str| Instance { name: name.to_owned(), values: values.to_vec(), ..Instance::default() };
    Data::Instances(["0", "_Total"].map(instance).into())
}
