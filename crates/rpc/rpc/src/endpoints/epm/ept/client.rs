//! How a client lists an endpoint map, and how many entries it takes.

use crate::ndr::ContextHandle;
use crate::{Channel, Client, ErrorStatus, Message, RpcIfId, Status, SyntaxId};

use super::{Ept, EptLookupHandleFreeRequest, EptLookupReply, EptLookupRequest, EptMapReply, EptMapRequest};
use crate::endpoints::epm::Error;
use crate::endpoints::epm::types::{ENTRIES_MAX, Entry, InquiryType, Twr, VersionOption};
use crate::endpoints::epm::wire::{Binding, Tower};

/// What an [`EndpointMapper`] accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of one lookup.
    pub entries_max: u32,
    /// Calls of one lookup: a server may answer each with few entries, or none.
    pub pages_max: u32,
    /// Entries that each call asks for, at most 500.
    pub page_entries: u32,
    /// Towers of one mapping.
    pub towers_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries_max: 10_000, pages_max: 200, page_entries: 100, towers_max: 32 }
    }
}

/// Which entries of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inquiry {
    All,
    /// Those of an interface, in these versions.
    Interface(SyntaxId, VersionOption),
}

/// What a host says of its endpoints.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct EndpointMap {
    /// The entries, in the server's order.
    pub entries: Vec<Entry>,
    /// Entries whose tower cannot be read.
    pub unreadable: u32,
    /// Whether these are all: not if a [limit](Limits) was reached.
    pub is_whole: bool,
}

/// How far entries were listed. The server knows that by a handle, which is good for the connection that it came over.
#[derive(Debug, Default)]
pub struct Lookup {
    entry_handle: ContextHandle,
    pages: u32,
    map: EndpointMap,
}

impl Lookup {
    /// What was listed so far.
    #[must_use]
    pub const fn map(&self) -> &EndpointMap {
        &self.map
    }
}

/// A client of a host's endpoint mapper.
#[derive(Debug)]
pub struct EndpointMapper<C> {
    rpc: Client<C, Ept>,
    limits: Limits,
}

impl<C: Channel> EndpointMapper<C> {
    /// A client of the mapper at the other end of `channel`.
    pub fn new(channel: C) -> Self {
        Self { rpc: Client::new(channel), limits: Limits::default() }
    }

    /// The same client with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lists entries of the map, a page at a time. A lookup that ends before the server's last page is ended there, too.
    ///
    /// # Errors
    /// When a call failed. That nothing is registered is none.
    pub async fn lookup(&mut self, inquiry: Inquiry) -> Result<EndpointMap, Error<C::Error>> {
        let mut lookup = Lookup::default();
        while self.lookup_page(inquiry, &mut lookup).await? {}
        Ok(lookup.map)
    }

    /// Lists the next page of entries. Returns whether there may be more; the lookup is over otherwise, and at the server, too.
    ///
    /// # Errors
    /// When a call failed, which ends the lookup. What was listed before stays in it.
    pub async fn lookup_page(
        &mut self,
        inquiry: Inquiry,
        lookup: &mut Lookup,
    ) -> Result<bool, Error<C::Error>> {
        let listed = self.list_page(inquiry, lookup).await;
        match listed {
            Ok(true) => Ok(true),
            ended => self.finish(lookup.entry_handle, ended).await,
        }
    }

    /// Where servers are that serve a client of this tower; none if no such server is registered.
    ///
    /// # Errors
    /// When the tower cannot be written, or the call failed.
    pub async fn map(&mut self, wanted: &Tower) -> Result<Vec<Tower>, Error<C::Error>> {
        let method = EptMapRequest::METHOD;
        let tower = Twr::new(wanted).map_err(|source| Error::Tower { method, source })?;
        let towers_max = self.limits.towers_max.min(ENTRIES_MAX);
        let (map_tower, entry_handle) = (Some(Box::new(tower)), ContextHandle::NULL);
        let request = EptMapRequest { object: None, map_tower, entry_handle, towers_max };
        let EptMapReply { entry_handle, towers, status, .. } = self.rpc.reply(&request).await?;
        let mapped = match is_end(status) {
            None => Err(crate::Error::Status { method, status }.into()),
            Some(_) => {
                let towers = towers.elements.iter().flatten().filter_map(|tower| tower.tower().ok());
                Ok(towers.filter(|tower| tower.serves(wanted)).collect())
            }
        };
        self.finish(entry_handle, mapped).await
    }

    /// The TCP port of an interface; `None` if no server of it is registered.
    ///
    /// # Errors
    /// When the call failed.
    pub async fn tcp_port(&mut self, interface: SyntaxId) -> Result<Option<u16>, Error<C::Error>> {
        let towers = self.map(&Tower::ndr(interface, Binding::ANY_TCP)).await?;
        Ok(towers.iter().find_map(|tower| match tower.binding {
            Binding::Tcp { port: port @ 1.., .. } => Some(port),
            _ => None,
        }))
    }

    async fn list_page(&mut self, inquiry: Inquiry, lookup: &mut Lookup) -> Result<bool, Error<C::Error>> {
        let Lookup { entry_handle, pages, map } = lookup;
        let Limits { entries_max, pages_max, page_entries, .. } = self.limits;
        if *pages >= pages_max {
            return Ok(false);
        }
        let listed = u32::try_from(map.entries.len()).unwrap_or(u32::MAX).saturating_add(map.unreadable);
        let room = entries_max.saturating_sub(listed);
        let request = inquiry.request(*entry_handle, room.min(page_entries).min(ENTRIES_MAX));
        let EptLookupReply { entry_handle: next, entries, status, .. } = self.rpc.reply(&request).await?;
        *entry_handle = next;
        *pages += 1;
        let is_end =
            is_end(status).ok_or(crate::Error::Status { method: EptLookupRequest::METHOD, status })?;
        let came = u32::try_from(entries.elements.len()).unwrap_or(u32::MAX);
        for entry in entries.elements {
            match Entry::try_from(entry) {
                Ok(entry) => map.entries.push(entry),
                Err(_) => map.unreadable += 1,
            }
        }
        map.is_whole = is_end || next.is_null();
        Ok(!map.is_whole && came < room && *pages < pages_max)
    }

    /// Gives a handle back that the server still has. That this fails changes nothing for the caller, unless the connection
    /// is gone, which the next call finds.
    async fn finish<T>(
        &mut self,
        entry_handle: ContextHandle,
        result: Result<T, Error<C::Error>>,
    ) -> Result<T, Error<C::Error>> {
        if !entry_handle.is_null() && !matches!(result, Err(Error::Rpc(crate::Error::Call { .. }))) {
            let _ended = self.rpc.reply(&EptLookupHandleFreeRequest { entry_handle }).await;
        }
        result
    }
}

/// Whether a reply of this status is the last; `None` for a failure.
fn is_end(status: ErrorStatus) -> Option<bool> {
    match status {
        ErrorStatus::EPT_S_NOT_REGISTERED => Some(true),
        status if status.is_success() => Some(false),
        _ => None,
    }
}

impl Inquiry {
    fn request(self, entry_handle: ContextHandle, entries_max: u32) -> EptLookupRequest {
        let (inquiry_type, interface, versions) = match self {
            Self::All => (InquiryType::RPC_C_EP_ALL_ELTS, None, VersionOption::RPC_C_VERS_ALL),
            Self::Interface(id, versions) => {
                (InquiryType::RPC_C_EP_MATCH_BY_IF, Some(Box::new(RpcIfId::from(id))), versions)
            }
        };
        EptLookupRequest { inquiry_type, object: None, interface, versions, entry_handle, entries_max }
    }
}
