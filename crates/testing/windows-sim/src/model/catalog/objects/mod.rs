//! The objects of version 1, one file each: their names, their counters, and the formulas.
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

use counters::perflib_v1::write::Data;

use super::super::object::PerfObject;
use crate::model::catalog::objects::disk_io::{DISKS, IO_COUNTERS, Io, volumes};

pub(crate) use self::figures::Figures;

/// An object and how its values are computed.
pub(crate) type ObjectEntry = (&'static PerfObject, fn(&Figures<'_>) -> Data);

/// All objects of the model.
pub(crate) static OBJECTS: [ObjectEntry; 21] = [
    (&system::SYSTEM, system::data),
    (&memory::MEMORY, memory::data),
    (&cache::CACHE, cache::data),
    (&process::PROCESS, process::modelled),
    (&thread::THREAD, thread::data),
    (&PHYSICAL_DISK, data),
    (&logical_disk::LOGICAL_DISK, logical_disk::data),
    (&processor::PROCESSOR, processor::modelled),
    (&kernel_objects::OBJECTS, kernel_objects::data),
    (&redirector::REDIRECTOR, redirector::data),
    (&server::SERVER, server::data),
    (&network_interface::NETWORK_INTERFACE, network_interface::data),
    (&ipv4::IPV4, ipv4::data),
    (&icmp::ICMP, icmp::data),
    (&tcp::TCPV4, tcp::data_v4),
    (&udp::UDPV4, udp::data_v4),
    (&paging_file::PAGING_FILE, paging_file::data),
    (&tcp::TCPV6, tcp::data_v6),
    (&udp::UDPV6, udp::data_v6),
    (&numa::NUMA_NODE_MEMORY, numa::data),
    (&time_service::TIME_SERVICE, time_service::data),
];

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
fn data(figures: &Figures<'_>) -> Data {
    let volumes = volumes(figures);
    let of = |disk: u32| Io::sum(volumes.iter().filter(|volume| volume.disk == disk).map(|volume| volume.io));
    let disks: Vec<Io> = (0..).zip(DISKS).map(|(number, _)| of(number)).collect();
    let total = Io::total(&disks);
    let named = DISKS.into_iter().zip(&disks).chain([("_Total", &total)]);
    Data::Instances(named.map(|(name, io)| io.instance(name, figures, [])).collect())
}
