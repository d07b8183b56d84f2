use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject, joined};
use super::disk_io::{IO_COUNTERS, Io, volumes};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static LOGICAL_DISK: PerfObject =
    PerfObject::new(236, "LogicalDisk", "Each volume, named by its letter or its device.", &COUNTERS)
        .german("Logischer Datentr\u{e4}ger")
        .default_counter(5);

static COUNTERS: [C; 34] = joined(SPACE_COUNTERS, IO_COUNTERS);

const SPACE_COUNTERS: [C; 3] = [
    C::new(408, T::PERF_RAW_FRACTION, "% Free Space", "Share of the volume that is free.")
        .german("Freier Speicherplatz (%)"),
    C::base(408, T::PERF_RAW_BASE),
    C::new(
        410,
        T::PERF_COUNTER_RAWCOUNT,
        "Free Megabytes",
        "Space of the volume that is free, in mebibytes.",
    )
    .german("MB frei"),
];

/// Free space in mebibytes, of all space; volumes lose space slowly.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let volumes = volumes(figures);
    let io: Vec<Io> = volumes.iter().map(|volume| volume.io).collect();
    let mut instances: Vec<_> = volumes
        .iter()
        .map(|volume| {
            let free = [volume.free_mib, volume.size_mib, volume.free_mib];
            volume.io.instance(volume.name, figures, free)
        })
        .collect();
    let sum = |of: fn(&super::disk_io::Volume) -> u64| volumes.iter().map(of).sum::<u64>();
    let (free, size) = (sum(|volume| volume.free_mib), sum(|volume| volume.size_mib));
    instances.push(Io::total(&io).instance("_Total", figures, [free, size, free]));
    Data::Instances(instances)
}
