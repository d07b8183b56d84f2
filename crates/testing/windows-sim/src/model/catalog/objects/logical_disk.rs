use ms_pcq::types::CounterType as T;
use perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::disk_io::{Io, volumes};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static LOGICAL_DISK: PerfObject =
    PerfObject::new(236, "LogicalDisk", "Each volume, named by its letter or its device.", &COUNTERS)
        .german("Logischer Datentr\u{e4}ger")
        .default_counter(0);

static COUNTERS: [C; 34] = [
    C::new(408, T::PERF_RAW_FRACTION, "% Free Space", "Share of the volume that is free.")
        .german("Freier Speicherplatz (%)"),
    C::base(408, T::PERF_RAW_BASE),
    C::new(
        410,
        T::PERF_COUNTER_RAWCOUNT,
        "Free Megabytes",
        "Space of the volume that is free, in mebibytes.",
    )
    .german("MB frei")
    .scale(0),
    C::new(
        198,
        T::PERF_COUNTER_RAWCOUNT,
        "Current Disk Queue Length",
        "Requests that wait or are served now.",
    )
    .german("Aktuelle Warteschlangenl\u{e4}nge")
    .scale(1),
    C::new(200, T::PERF_PRECISION_100NS_TIMER, "% Disk Time", "Share of time in which requests were served.")
        .german("Zeit (%)"),
    C::base(200, T::PERF_LARGE_RAW_BASE),
    C::new(1400, T::PERF_COUNTER_100NS_QUEUELEN_TYPE, "Avg. Disk Queue Length", "Mean number of requests.")
        .german("Durchschnittl. Warteschlangenl\u{e4}nge des Datentr\u{e4}gers")
        .scale(2),
    C::new(
        202,
        T::PERF_PRECISION_100NS_TIMER,
        "% Disk Read Time",
        "Share of time in which reads were served.",
    )
    .german("Lesezeit (%)"),
    C::base(202, T::PERF_LARGE_RAW_BASE),
    C::new(1402, T::PERF_COUNTER_100NS_QUEUELEN_TYPE, "Avg. Disk Read Queue Length", "Mean number of reads.")
        .scale(2),
    C::new(
        204,
        T::PERF_PRECISION_100NS_TIMER,
        "% Disk Write Time",
        "Share of time in which writes were served.",
    )
    .german("Schreibzeit (%)"),
    C::base(204, T::PERF_LARGE_RAW_BASE),
    C::new(
        1404,
        T::PERF_COUNTER_100NS_QUEUELEN_TYPE,
        "Avg. Disk Write Queue Length",
        "Mean number of writes.",
    )
    .scale(2),
    C::new(206, T::PERF_AVERAGE_TIMER, "Avg. Disk sec/Transfer", "Mean time of a read or write, in seconds.")
        .scale(3),
    C::base(206, T::PERF_AVERAGE_BASE),
    C::new(208, T::PERF_AVERAGE_TIMER, "Avg. Disk sec/Read", "Mean time of a read, in seconds.").scale(3),
    C::base(208, T::PERF_AVERAGE_BASE),
    C::new(210, T::PERF_AVERAGE_TIMER, "Avg. Disk sec/Write", "Mean time of a write, in seconds.").scale(3),
    C::base(210, T::PERF_AVERAGE_BASE),
    C::new(212, T::PERF_COUNTER_COUNTER, "Disk Transfers/sec", "Reads and writes.")
        .german("\u{dc}bertragungen/s"),
    C::new(214, T::PERF_COUNTER_COUNTER, "Disk Reads/sec", "Reads.").german("Lesevorg\u{e4}nge/s"),
    C::new(216, T::PERF_COUNTER_COUNTER, "Disk Writes/sec", "Writes.").german("Schreibvorg\u{e4}nge/s"),
    C::new(218, T::PERF_COUNTER_BULK_COUNT, "Disk Bytes/sec", "Bytes read and written.").scale(-4),
    C::new(220, T::PERF_COUNTER_BULK_COUNT, "Disk Read Bytes/sec", "Bytes read.").scale(-4),
    C::new(222, T::PERF_COUNTER_BULK_COUNT, "Disk Write Bytes/sec", "Bytes written.").scale(-4),
    C::new(224, T::PERF_AVERAGE_BULK, "Avg. Disk Bytes/Transfer", "Mean bytes of a read or write.").scale(-2),
    C::base(224, T::PERF_AVERAGE_BASE),
    C::new(226, T::PERF_AVERAGE_BULK, "Avg. Disk Bytes/Read", "Mean bytes of a read.").scale(-2),
    C::base(226, T::PERF_AVERAGE_BASE),
    C::new(228, T::PERF_AVERAGE_BULK, "Avg. Disk Bytes/Write", "Mean bytes of a write.").scale(-2),
    C::base(228, T::PERF_AVERAGE_BASE),
    C::new(1482, T::PERF_PRECISION_100NS_TIMER, "% Idle Time", "Share of time without requests.")
        .german("Leerlaufzeit (%)"),
    C::base(1482, T::PERF_LARGE_RAW_BASE),
    C::new(1484, T::PERF_COUNTER_COUNTER, "Split IO/Sec", "Requests that were split into several."),
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
    instances.push(Io::mean(&io).instance("_Total", figures, [free, size, free]));
    Data::Instances(instances)
}
