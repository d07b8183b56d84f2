use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use com::dcom::types::{Oid, Oxid, ReferenceFlags, RemInterfaceRef, StdObjref};
use dcerpc::FaultStatus;
use parking_lot::{Mutex, MutexGuard};
use rpc::orpc::{IUnknown, ObjectInterface};
use wire::{FileTime, Guid, HResult};

use super::{ComClass, ComObject, Program, SharedObject};
use crate::choices::InterfaceReferences;
use crate::host_state::HostState;

/// Objects that one host has at a time.
pub const OBJECTS_MAX: usize = 4096;

/// [MS-DCOM] 3.1.1.1: after this time without a ping an object is gone: three periods of 120 seconds.
pub const PING_TIMEOUT: Duration = Duration::from_secs(3 * 120);

/// References that come with an interface that was asked for at the activation.
const REFERENCES: u32 = 5;

/// The interfaces that a client asked for, each with references to it, or why there is none.
pub(crate) type Interfaces = Vec<Result<StdObjref, HResult>>;

/// [MS-DCOM] 3.1.1.1: the tables of an object exporter: which objects there are, and which interfaces clients hold
/// references to. Time comes from the host's clock.
pub struct ObjectTable {
    oxid: Oxid,
    ipid_rem_unknown: Guid,
    classes: Vec<Arc<dyn ComClass>>,
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    objects: BTreeMap<Oid, ObjectEntry>,
    /// By IPID. INVARIANT: each belongs to one of `objects`, and has references.
    interfaces: BTreeMap<Guid, InterfaceEntry>,
}

struct ObjectEntry {
    class: Arc<dyn ComClass>,
    object: SharedObject,
    /// When it was made, or pinged last.
    pinged: FileTime,
}

struct InterfaceEntry {
    oid: Oid,
    iid: Guid,
    references: u64,
}

impl Tables {
    fn insert(&mut self, class: &Arc<dyn ComClass>, object: Box<dyn ComObject>, now: FileTime) -> Oid {
        let oid = Oid(u64::from_le_bytes(crate::random_bytes()));
        let object = Arc::new(Mutex::new(object));
        self.objects.insert(oid, ObjectEntry { class: Arc::clone(class), object, pinged: now });
        oid
    }
}

impl Program for ObjectTable {
    fn adopt(
        &self,
        clsid: Guid,
        object: Box<dyn ComObject>,
        iid: Guid,
        now: FileTime,
    ) -> Result<StdObjref, HResult> {
        let class = self.classes.iter().find(|class| class.clsid() == clsid);
        let class = class.filter(|class| has_interface(&***class, iid)).ok_or(HResult::E_NOINTERFACE)?;
        let mut tables = self.swept(now);
        if tables.objects.len() >= OBJECTS_MAX {
            return Err(HResult::E_OUTOFMEMORY);
        }
        let oid = tables.insert(class, object, now);
        self.reference(&mut tables, oid, iid, REFERENCES)
    }

    fn release(&self, reference: &StdObjref, now: FileTime) {
        Self::release(self, &RemInterfaceRef::public(reference.ipid, reference.public_refs), now);
    }

    fn object(&self, ipid: Guid, now: FileTime) -> Option<SharedObject> {
        let tables = self.swept(now);
        let oid = tables.interfaces.get(&ipid)?.oid;
        tables.objects.get(&oid).map(|entry| Arc::clone(&entry.object))
    }
}

impl ObjectTable {
    /// A program that has these classes, and no objects.
    pub(in crate::service) fn new(classes: Vec<Arc<dyn ComClass>>) -> Self {
        let oxid = Oxid(u64::from_le_bytes(crate::random_bytes()));
        Self { oxid, ipid_rem_unknown: crate::random_guid(), classes, tables: Mutex::default() }
    }

    pub(super) fn classes(&self) -> &[Arc<dyn ComClass>] {
        &self.classes
    }

    /// What the resolver calls this program.
    pub(crate) const fn oxid(&self) -> Oxid {
        self.oxid
    }

    pub(crate) const fn ipid_rem_unknown(&self) -> Guid {
        self.ipid_rem_unknown
    }

    /// Makes an object of a class, and returns each of the interfaces that are wanted.
    pub(crate) fn activate(
        &self,
        host: &Arc<HostState>,
        clsid: Guid,
        iids: &[Guid],
        now: FileTime,
    ) -> Result<Interfaces, HResult> {
        let class = self.classes.iter().find(|class| class.clsid() == clsid);
        let class = class.ok_or(HResult::REGDB_E_CLASSNOTREG)?;
        if iids.iter().all(|iid| !has_interface(&**class, *iid)) {
            return Err(HResult::E_NOINTERFACE);
        }
        let mut tables = self.swept(now);
        if tables.objects.len() >= OBJECTS_MAX {
            return Err(HResult::E_OUTOFMEMORY);
        }
        let oid = tables.insert(class, class.create(host)?, now);
        let references = match host.behaviour().choices.com_plus.interface_references {
            InterfaceReferences::Five => REFERENCES,
            InterfaceReferences::One => 1,
        };
        Ok(iids.iter().map(|&iid| self.reference(&mut tables, oid, iid, references)).collect())
    }

    /// Further interfaces of the object that has the interface `ipid`, each with so many references. `None` if there is no
    /// such object.
    pub(super) fn query(
        &self,
        ipid: Guid,
        iids: &[Guid],
        references: u32,
        now: FileTime,
    ) -> Option<Interfaces> {
        let mut tables = self.swept(now);
        let oid = tables.interfaces.get(&ipid)?.oid;
        Some(iids.iter().map(|&iid| self.reference(&mut tables, oid, iid, references)).collect())
    }

    /// Adds references to an interface.
    pub(super) fn add_references(&self, added: &RemInterfaceRef, now: FileTime) -> HResult {
        let mut tables = self.swept(now);
        let Some(interface) = tables.interfaces.get_mut(&added.ipid) else { return HResult::CO_E_OBJNOTREG };
        interface.references = interface.references.saturating_add(references(added));
        HResult::S_OK
    }

    /// Takes references back. An interface without any is gone, and an object without interfaces.
    pub(super) fn release(&self, released: &RemInterfaceRef, now: FileTime) {
        let mut tables = self.swept(now);
        let Some(interface) = tables.interfaces.get_mut(&released.ipid) else { return };
        interface.references = interface.references.saturating_sub(references(released));
        let (oid, is_held) = (interface.oid, interface.references > 0);
        if !is_held {
            tables.interfaces.remove(&released.ipid);
            if tables.interfaces.values().all(|other| other.oid != oid) {
                tables.objects.remove(&oid);
            }
        }
    }

    /// The object that a call with this IPID is for.
    pub(super) fn find(&self, ipid: Guid, iid: Guid, now: FileTime) -> Result<SharedObject, FaultStatus> {
        let tables = self.swept(now);
        let interface = tables.interfaces.get(&ipid).ok_or(FaultStatus::RPC_E_DISCONNECTED)?;
        if interface.iid != iid {
            return Err(FaultStatus(HResult::E_NOINTERFACE.0));
        }
        let object = tables.objects.get(&interface.oid).ok_or(FaultStatus::RPC_E_DISCONNECTED)?;
        Ok(Arc::clone(&object.object))
    }

    /// Removes an object, whoever holds references to it.
    pub(crate) fn remove(&self, oid: Oid) {
        let mut tables = self.tables.lock();
        tables.objects.remove(&oid);
        tables.interfaces.retain(|_, interface| interface.oid != oid);
    }

    /// A ping for an object: false if it is not there.
    pub(crate) fn ping(&self, oid: Oid, now: FileTime) -> bool {
        let mut tables = self.swept(now);
        let object = tables.objects.get_mut(&oid);
        object.map(|object| object.pinged = now).is_some()
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self, now: FileTime) -> usize {
        self.swept(now).objects.len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self, now: FileTime) -> bool {
        self.len(now) == 0
    }

    /// The tables without objects that nobody has pinged.
    fn swept(&self, now: FileTime) -> MutexGuard<'_, Tables> {
        let mut tables = self.tables.lock();
        let Tables { objects, interfaces } = &mut *tables;
        let before = objects.len();
        objects.retain(|_, object| !is_overdue(object.pinged, now));
        if objects.len() < before {
            interfaces.retain(|_, interface| objects.contains_key(&interface.oid));
        }
        tables
    }

    fn reference(
        &self,
        tables: &mut Tables,
        oid: Oid,
        iid: Guid,
        references: u32,
    ) -> Result<StdObjref, HResult> {
        let object = tables.objects.get(&oid).ok_or(HResult::RPC_E_INVALID_OBJECT)?;
        if !has_interface(&*object.class, iid) {
            return Err(HResult::E_NOINTERFACE);
        }
        let known = tables.interfaces.iter_mut().find(|(_, known)| known.oid == oid && known.iid == iid);
        let ipid = match known {
            Some((&ipid, known)) => {
                known.references = known.references.saturating_add(u64::from(references));
                ipid
            }
            None => {
                let ipid = crate::random_guid();
                let references = u64::from(references);
                tables.interfaces.insert(ipid, InterfaceEntry { oid, iid, references });
                ipid
            }
        };
        let flags = ReferenceFlags::NONE;
        Ok(StdObjref { flags, public_refs: references, oxid: self.oxid, oid, ipid })
    }
}

/// Whether what was pinged at that time is gone.
pub(crate) fn is_overdue(pinged: FileTime, now: FileTime) -> bool {
    now.0.saturating_sub(pinged.0) >= PING_TIMEOUT.as_secs() * FileTime::INTERVALS_PER_SECOND
}

/// Each object has `IUnknown`, whose methods nobody calls.
fn has_interface(class: &dyn ComClass, iid: Guid) -> bool {
    iid == IUnknown::IID || class.interfaces().iter().any(|interface| interface.syntax_id.uuid == iid)
}

fn references(interface: &RemInterfaceRef) -> u64 {
    u64::from(interface.public_refs) + u64::from(interface.private_refs)
}
