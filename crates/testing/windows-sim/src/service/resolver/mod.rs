//! The object resolver of a host [MS-DCOM] 3.1.2: `IObjectExporter`, which finds programs with objects and takes pings, and
//! `IRemoteSCMActivator`, which makes objects.

mod activator;
mod exporter;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use com::dcom::resolver::ComplexPingRequest;
use com::dcom::types::{Oid, SetId};
use wire::{FileTime, Win32Error};

use super::Service;
use super::objects::{ObjectTable, is_overdue};
use crate::host;

/// The interfaces of the resolver of this program: one service each.
pub(super) fn services(objects: &Arc<ObjectTable>) -> Vec<Arc<dyn Service>> {
    vec![
        Arc::new(exporter::Resolver::new(Arc::clone(objects))),
        Arc::new(activator::Activator::new(Arc::clone(objects))),
    ]
}

/// Sets of objects that clients of one host ping at a time.
pub const SETS_MAX: usize = 1024;

/// [MS-DCOM] 3.1.2.1: the table of sets of objects that are pinged as one. Its objects are in an [`ObjectTable`], which
/// forgets those that are not pinged.
#[derive(Default)]
struct PingSets(BTreeMap<SetId, PingSet>);

struct PingSet {
    /// At most as many as the program had objects.
    oids: BTreeSet<Oid>,
    sequence: u16,
    pinged: FileTime,
}

impl PingSets {
    //= [MS-DCOM] 3.1.2.5.1.2
    //# If the entry is not found, it returns OR_INVALID_SET
    fn simple_ping(&mut self, id: SetId, objects: &ObjectTable, now: FileTime) -> Result<(), Win32Error> {
        self.sweep(now);
        let set = self.0.get_mut(&id).ok_or(Win32Error::OR_INVALID_SET)?;
        set.ping(objects, now);
        Ok(())
    }

    /// [MS-DCOM] 3.1.2.5.1.3: changes a set, or makes one if the request names none, and pings it. An unknown object that is
    /// added is an error in a set that there is, and is passed over in a new one.
    fn complex_ping(
        &mut self,
        request: &ComplexPingRequest,
        objects: &ObjectTable,
        now: FileTime,
    ) -> Result<SetId, Win32Error> {
        self.sweep(now);
        let sequence = request.sequence;
        let add = request.add.iter().flat_map(|oids| &oids.0).copied();
        if request.set_id == SetId::default() {
            if self.0.len() >= SETS_MAX {
                return Err(Win32Error::ERROR_OUTOFMEMORY);
            }
            let id = SetId(u64::from_le_bytes(host::random_bytes()).max(1));
            let oids = add.filter(|&oid| objects.ping(oid, now)).collect();
            self.0.insert(id, PingSet { oids, sequence, pinged: now });
            return Ok(id);
        }
        let set = self.0.get_mut(&request.set_id).ok_or(Win32Error::OR_INVALID_SET)?;
        if set.sequence > sequence {
            return Ok(request.set_id);
        }
        for oid in add {
            if !objects.ping(oid, now) {
                return Err(Win32Error::OR_INVALID_OID);
            }
            set.oids.insert(oid);
        }
        request.delete.iter().flat_map(|oids| &oids.0).for_each(|oid| {
            set.oids.remove(oid);
        });
        set.sequence = sequence;
        set.ping(objects, now);
        Ok(request.set_id)
    }

    /// Drops sets that nobody has pinged.
    fn sweep(&mut self, now: FileTime) {
        self.0.retain(|_, set| !is_overdue(set.pinged, now));
    }
}

impl PingSet {
    fn ping(&mut self, objects: &ObjectTable, now: FileTime) {
        self.pinged = now;
        self.oids.retain(|&oid| objects.ping(oid, now));
    }
}
