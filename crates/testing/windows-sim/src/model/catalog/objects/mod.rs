//! The objects of version 1: their names and counters are in [`FILES`] of `catalogue/`, their formulas here, one module each.
//!
//! Indexes up to [`crate::model::BASE_INDEX_LAST`] are those that every Windows has; names that are not among them have an index above,
//! as if an installer had added them. Explanations are ours.

mod cache;
mod disk_io;
mod figures;
mod icmp;
mod ipv4;
mod kernel_objects;
mod logical_disk;
mod memory;
mod network_interface;
mod numa;
mod paging_file;
pub(crate) mod process;
pub(crate) mod processor;
mod redirector;
mod server;
mod system;
mod tcp;
mod thread;
mod time_service;
mod udp;

use std::sync::LazyLock;

use counters::perflib_v1::write::Data;

use super::super::object::PerfObject;
use crate::model::catalog::objects::disk_io::{DISKS, Io, volumes};

pub(crate) use self::figures::Figures;

/// An object and how its values are computed.
pub(crate) type ObjectEntry = (&'static PerfObject, fn(&Figures<'_>) -> Data);

/// All objects of the model.
pub(crate) static OBJECTS: LazyLock<Vec<ObjectEntry>> =
    LazyLock::new(|| VALUES.iter().map(|&(name, values)| (object(name), values)).collect());

static CATALOGUE: LazyLock<Vec<&'static PerfObject>> = LazyLock::new(|| {
    let read = |(file, text)| super::load::objects(file, text).expect("a test reads these files");
    FILES.into_iter().flat_map(read).collect()
});

macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../catalogue/", $name)))),*]
    };
}

/// The files of the catalogue with objects of version 1, one for each family of objects.
pub(super) const FILES: [(&str, &str); 6] =
    files!["disks.csv" "files.csv" "memory.csv" "network.csv" "processes.csv" "system.csv"];

/// The object of this name, one of those in [`VALUES`].
pub(crate) fn object(name: &str) -> &'static PerfObject {
    let found = CATALOGUE.iter().find(|object| object.name == name).copied();
    found.expect("a test compares the names in `VALUES` with the files")
}

type ValuesOf = fn(&Figures<'_>) -> Data;

/// How the values of each object are computed, in the order in which a host lists its objects.
pub(super) const VALUES: [(&str, ValuesOf); 21] = [
    ("System", system::data),
    ("Memory", memory::data),
    ("Cache", cache::data),
    ("Process", process::modelled),
    ("Thread", thread::data),
    ("PhysicalDisk", data),
    ("LogicalDisk", logical_disk::data),
    ("Processor", processor::modelled),
    ("Objects", kernel_objects::data),
    ("Redirector", redirector::data),
    ("Server", server::data),
    ("Network Interface", network_interface::data),
    ("IPv4", ipv4::data),
    ("ICMP", icmp::data),
    ("TCPv4", tcp::data_v4),
    ("UDPv4", udp::data_v4),
    ("Paging File", paging_file::data),
    ("TCPv6", tcp::data_v6),
    ("UDPv6", udp::data_v6),
    ("NUMA Node Memory", numa::data),
    ("Windows Time Service", time_service::data),
];

/// A disk does what its volumes do.
fn data(figures: &Figures<'_>) -> Data {
    let volumes = volumes(figures);
    let of = |disk: u32| Io::sum(volumes.iter().filter(|volume| volume.disk == disk).map(|volume| volume.io));
    let disks: Vec<Io> = (0..).zip(DISKS).map(|(number, _)| of(number)).collect();
    let total = Io::total(&disks);
    let named = DISKS.into_iter().zip(&disks).chain([("_Total", &total)]);
    Data::Instances(named.map(|(name, io)| io.instance(name, figures, [])).collect())
}
