use counters::perflib_v1::write::Data;

use super::super::super::object::PerfObject;
use super::disk_io::{DISKS, IO_COUNTERS, Io, volumes};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static PHYSICAL_DISK: PerfObject = PerfObject::new(
    234,
    "PhysicalDisk",
    "Each disk, named by number and the letters of its volumes.",
    &IO_COUNTERS,
)
.german("Physikalischer Datentr\u{e4}ger")
.default_counter(2);

/// A disk does what its volumes do.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let volumes = volumes(figures);
    let of = |disk: u32| Io::sum(volumes.iter().filter(|volume| volume.disk == disk).map(|volume| volume.io));
    let disks: Vec<Io> = (0..).zip(DISKS).map(|(number, _)| of(number)).collect();
    let total = Io::total(&disks);
    let named = DISKS.into_iter().zip(&disks).chain([("_Total", &total)]);
    Data::Instances(named.map(|(name, io)| io.instance(name, figures, [])).collect())
}
