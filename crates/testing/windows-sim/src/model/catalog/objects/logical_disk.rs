use counters::perflib_v1::write::Data;

use super::disk_io::{Io, volumes};
use super::figures::Figures;

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
