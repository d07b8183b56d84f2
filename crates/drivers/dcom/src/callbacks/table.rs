//! [MS-DCOM] 3.1.1.1: the tables of an object exporter.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use com::dcom::types::{Oid, Oxid, ReferenceFlags, SetId, StdObjref};
use com::dcom::wire::Objref;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use rpc::orpc::{IUnknown, ObjectInterface};
use wire::Guid;

use super::{AdvertisedAddress, ExportedObject, NoRandomness};
use crate::rpc_server::Refusal;

/// References that come with an interface where the caller does not say how many it wants.
const REFERENCES: u32 = 5;

#[derive(Default)]
pub(crate) struct Table {
    tables: RwLock<Tables>,
    unknown_peers: Mutex<UnknownPeers>,
}

/// Connections from addresses that no object is called from. They are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UnknownPeers {
    /// How many there were.
    pub connections: u64,
    /// Where the last one came from.
    pub last: Option<IpAddr>,
}

#[derive(Default)]
struct Tables {
    /// By what the resolver calls their program: each object has a program of its own as far as callers know.
    objects: BTreeMap<Oxid, Arc<Entry>>,
    /// By IPID. INVARIANT: those of `objects`.
    interfaces: BTreeMap<Guid, (Arc<Entry>, Role)>,
}

/// What an IPID names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The `IRemUnknown` of the object's program.
    RemUnknown,
    /// The `IUnknown` of the object, which is never called.
    Unknown,
    /// The object's own interface.
    Object,
}

pub(crate) struct Entry {
    pub(crate) oxid: Oxid,
    pub(crate) oid: Oid,
    /// The only set of objects that its callers can ping.
    pub(crate) set_id: SetId,
    pub(crate) ipid_rem_unknown: Guid,
    ipid_unknown: Guid,
    ipid_object: Guid,
    pub(crate) address: AdvertisedAddress,
    pub(crate) object: Arc<dyn ExportedObject>,
    addresses: RwLock<BTreeSet<IpAddr>>,
}

impl Table {
    /// Adds an object under new identifiers.
    pub(crate) fn insert(
        &self,
        object: Arc<dyn ExportedObject>,
        addresses: BTreeSet<IpAddr>,
        address: AdvertisedAddress,
    ) -> Result<Arc<Entry>, NoRandomness> {
        let entry = Arc::new(Entry {
            oxid: Oxid(super::random_number()?),
            oid: Oid(super::random_number()?),
            set_id: SetId(super::random_number()?),
            ipid_rem_unknown: super::random_guid()?,
            ipid_unknown: super::random_guid()?,
            ipid_object: super::random_guid()?,
            address,
            object,
            addresses: RwLock::new(addresses),
        });
        let mut tables = self.write();
        for (ipid, role) in entry.interfaces() {
            tables.interfaces.insert(ipid, (Arc::clone(&entry), role));
        }
        tables.objects.insert(entry.oxid, Arc::clone(&entry));
        Ok(entry)
    }

    pub(crate) fn remove(&self, entry: &Entry) {
        let mut tables = self.write();
        tables.objects.remove(&entry.oxid);
        for (ipid, _) in entry.interfaces() {
            tables.interfaces.remove(&ipid);
        }
    }

    /// Whether an object is called from this address.
    pub(crate) fn knows(&self, peer: IpAddr) -> bool {
        self.read().objects.values().any(|entry| entry.is_called_from(peer))
    }

    /// The objects that are called from this address.
    pub(crate) fn objects_of(&self, peer: IpAddr) -> Vec<Arc<Entry>> {
        let tables = self.read();
        tables.objects.values().filter(|entry| entry.is_called_from(peer)).cloned().collect()
    }

    /// The program with this identifier, if its object is called from this address.
    pub(crate) fn program(&self, oxid: Oxid, peer: IpAddr) -> Option<Arc<Entry>> {
        let found = self.read().objects.get(&oxid).cloned();
        found.filter(|entry| entry.is_called_from(peer))
    }

    /// What an IPID names, whoever calls it.
    pub(crate) fn interface(&self, ipid: Guid) -> Option<(Arc<Entry>, Role)> {
        self.read().interfaces.get(&ipid).cloned()
    }

    /// Tells the objects of a peer that its connection was refused; one of no object is counted as unknown.
    pub(crate) fn refused(&self, peer: IpAddr, reason: Refusal, error: Option<&dcerpc::Error>) {
        if reason == Refusal::Address {
            let mut unknown_peers = self.unknown_peers.lock();
            unknown_peers.connections += 1;
            unknown_peers.last = Some(peer);
            return;
        }
        for entry in self.objects_of(peer) {
            entry.object.connection_refused(reason, error);
        }
    }

    pub(crate) fn unknown_peers(&self) -> UnknownPeers {
        *self.unknown_peers.lock()
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write()
    }
}

impl Entry {
    fn interfaces(&self) -> [(Guid, Role); 3] {
        [
            (self.ipid_rem_unknown, Role::RemUnknown),
            (self.ipid_unknown, Role::Unknown),
            (self.ipid_object, Role::Object),
        ]
    }

    pub(crate) fn is_called_from(&self, peer: IpAddr) -> bool {
        self.addresses.read().contains(&peer)
    }

    pub(crate) fn set_addresses(&self, addresses: BTreeSet<IpAddr>) {
        *self.addresses.write() = addresses;
    }

    /// An interface of the object, if it has it, as a caller that asks for it gets it ([MS-DCOM] 3.1.1.5.6.1).
    pub(crate) fn reference(&self, iid: Guid, public_refs: u32) -> Option<StdObjref> {
        let ipid = match iid {
            IUnknown::IID => self.ipid_unknown,
            own if own == self.object.iid() => self.ipid_object,
            _ => return None,
        };
        let Self { oxid, oid, .. } = *self;
        Some(StdObjref { flags: ReferenceFlags::NONE, public_refs, oxid, oid, ipid })
    }

    /// The same as an OBJREF that says where it is resolved.
    pub(crate) fn objref(&self, iid: Guid, flags: ReferenceFlags) -> Option<Objref<'static>> {
        let std = StdObjref { flags, ..self.reference(iid, REFERENCES)? };
        Some(Objref::standard(iid, std, self.address.resolver()))
    }
}
