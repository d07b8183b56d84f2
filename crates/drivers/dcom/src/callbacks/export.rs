use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use com::dcom::types::ReferenceFlags;
use com::dcom::wire::Objref;
use wire::Guid;

use crate::callbacks::table::{Entry, Table};

/// An object that can be called. It is gone when this is dropped.
pub struct Export {
    table: Arc<Table>,
    entry: Arc<Entry>,
}

impl Export {
    pub(crate) const fn new(table: Arc<Table>, entry: Arc<Entry>) -> Self {
        Self { table, entry }
    }

    /// A reference to one of its interfaces: `IUnknown`, or its own. `None` for others. It asks not to be pinged.
    #[must_use]
    pub fn objref(&self, iid: Guid) -> Option<Objref<'static>> {
        self.entry.objref(iid, ReferenceFlags::SORF_NOPING)
    }

    /// Changes from which addresses it is called.
    pub fn set_addresses(&self, addresses: impl IntoIterator<Item = IpAddr>) {
        self.entry.set_addresses(addresses.into_iter().map(|address| address.to_canonical()).collect());
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.table.remove(&self.entry);
    }
}

/// Identifiers are not printed: who knows them can call the object.
impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").field("told", &self.entry.told).finish_non_exhaustive()
    }
}
