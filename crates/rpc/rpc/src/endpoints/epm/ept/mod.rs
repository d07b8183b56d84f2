//! C706 appendix O, the interface `ept`, as far as [MS-RPCE] 2.2.1.2 has it: the methods, and both sides of them.

mod client;

use wire::{EncodeResult, Guid};

pub use self::client::{EndpointMap, EndpointMapper, Inquiry, Limits, Lookup};

use super::types::Entry;
use super::wire::Tower;
use crate::endpoints::epm::types::{EptEntry, InquiryType, Twr, VersionOption};
use crate::ndr::{ConformantVarying, ContextHandle};
use crate::{ErrorStatus, RpcIfId, SyntaxId};

crate::interface! {
    /// C706 appendix O: the endpoint mapper, version 3.0.
    #[doc(alias = "ept")]
    pub interface Ept("e1af8308-5d1f-11c9-91a4-08002b14a0fa", 3.0) -> ErrorStatus {
        /// [MS-RPCE] 2.2.1.2.4: lists a page of the map. The handle is NULL for the first page, and of the reply to the last
        /// one; such a reply may have the status `EPT_S_NOT_REGISTERED` with its entries.
        2 => ept_lookup(
            inquiry_type: InquiryType, object: Option<Box<Guid>>,
            #[ndr(name = "interface_id")] interface: Option<Box<RpcIfId>>,
            #[ndr(name = "vers_option")] versions: VersionOption, entry_handle: ContextHandle,
            #[ndr(name = "max_ents", range = 0..=500)] entries_max: u32,
        ) -> (
            entry_handle: ContextHandle, #[ndr(name = "num_ents")] count: u32,
            #[ndr(size_is = entries_max, length_is = count)] entries: ConformantVarying<EptEntry>,
        );

        /// [MS-RPCE] 2.2.1.2.5: where the interface of a tower is. Pages, as of `ept_lookup`.
        3 => ept_map(
            object: Option<Box<Guid>>, map_tower: Option<Box<Twr>>, entry_handle: ContextHandle,
            #[ndr(name = "max_towers", range = 0..=500)] towers_max: u32,
        ) -> (
            entry_handle: ContextHandle, #[ndr(name = "num_towers")] count: u32,
            #[ndr(name = "ITowers", size_is = towers_max, length_is = count)]
            towers: ConformantVarying<Option<Box<Twr>>>,
        );

        /// [MS-RPCE] 2.2.1.2.6: ends a lookup before its last page.
        4 => ept_lookup_handle_free(#[ndr(handle)] entry_handle: ContextHandle) -> (entry_handle: ContextHandle);
    }
}

// What a server does with a request, beside keeping its map and its handles.

impl EptLookupRequest {
    /// Whether the inquiry is about this entry.
    ///
    /// # Errors
    /// `EPT_S_CANT_PERFORM_OP` for an inquiry that is none, or that lacks the interface or the object that it is about.
    pub fn selects(&self, entry: &Entry) -> Result<bool, ErrorStatus> {
        match self.inquiry_type {
            InquiryType::RPC_C_EP_ALL_ELTS => Ok(true),
            InquiryType::RPC_C_EP_MATCH_BY_IF => self.selects_interface(entry),
            InquiryType::RPC_C_EP_MATCH_BY_OBJ => self.selects_object(entry),
            InquiryType::RPC_C_EP_MATCH_BY_BOTH => {
                Ok(self.selects_interface(entry)? && self.selects_object(entry)?)
            }
            _ => Err(ErrorStatus::EPT_S_CANT_PERFORM_OP),
        }
    }

    fn selects_interface(&self, entry: &Entry) -> Result<bool, ErrorStatus> {
        let wanted = self.interface.as_deref().ok_or(ErrorStatus::EPT_S_CANT_PERFORM_OP)?;
        let (wanted, found) = (SyntaxId::from(*wanted), &entry.tower.interface);
        let is_version = self.versions.selects(&wanted, found).ok_or(ErrorStatus::EPT_S_CANT_PERFORM_OP)?;
        Ok(wanted.uuid == found.uuid && is_version)
    }

    fn selects_object(&self, entry: &Entry) -> Result<bool, ErrorStatus> {
        let wanted = self.object.as_deref().ok_or(ErrorStatus::EPT_S_CANT_PERFORM_OP)?;
        Ok(entry.object.unwrap_or(Guid::NULL) == *wanted)
    }

    /// A page of the answer, as many entries as there is room for at the most, and the handle of the next page.
    ///
    /// # Errors
    /// When an entry cannot be written.
    pub fn page<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a Entry>,
        entry_handle: ContextHandle,
    ) -> EncodeResult<EptLookupReply> {
        let room = usize::try_from(self.entries_max).unwrap_or(usize::MAX);
        let elements: Vec<EptEntry> =
            entries.into_iter().take(room).map(EptEntry::try_from).collect::<EncodeResult<_>>()?;
        let count = counted(&elements);
        let entries = ConformantVarying { max_count: self.entries_max, elements };
        Ok(EptLookupReply { entry_handle, count, entries, status: found(count) })
    }
}

impl EptMapRequest {
    /// The tower that is asked for.
    ///
    /// # Errors
    /// `EPT_S_INVALID_ENTRY` when there is none, or none that can be read.
    pub fn wanted(&self) -> Result<Tower, ErrorStatus> {
        let tower = self.map_tower.as_deref().and_then(|tower| tower.tower().ok());
        tower.ok_or(ErrorStatus::EPT_S_INVALID_ENTRY)
    }

    /// Whether an entry serves a client that asks for `wanted`, and for the object of this request if there is one.
    #[must_use]
    pub fn is_served_by(&self, entry: &Entry, wanted: &Tower) -> bool {
        let object = self.object.as_deref().filter(|object| **object != Guid::NULL);
        let is_of_object = entry.object.is_none_or(|own| object == Some(&own));
        is_of_object && entry.tower.serves(wanted)
    }

    /// The answer: as many towers as there is room for at the most.
    ///
    /// # Errors
    /// When a tower cannot be written.
    pub fn answer<'a>(&self, towers: impl IntoIterator<Item = &'a Tower>) -> EncodeResult<EptMapReply> {
        let room = usize::try_from(self.towers_max).unwrap_or(usize::MAX);
        let towers = towers.into_iter().take(room).map(|tower| Ok(Some(Box::new(Twr::new(tower)?))));
        let elements: Vec<_> = towers.collect::<EncodeResult<_>>()?;
        let count = counted(&elements);
        let towers = ConformantVarying { max_count: self.towers_max, elements };
        Ok(EptMapReply { entry_handle: ContextHandle::NULL, count, towers, status: found(count) })
    }
}

/// At most as many as the 32 bits of a request ask for.
fn counted<T>(elements: &[T]) -> u32 {
    u32::try_from(elements.len()).unwrap_or(u32::MAX)
}

fn found(count: u32) -> ErrorStatus {
    if count == 0 { ErrorStatus::EPT_S_NOT_REGISTERED } else { ErrorStatus::RPC_S_OK }
}
