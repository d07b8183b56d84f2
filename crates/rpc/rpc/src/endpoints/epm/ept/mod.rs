//! C706 appendix O, the interface `ept`, as far as [MS-RPCE] 2.2.1.2 has it: the methods, and both sides of them.

mod client;
mod server;

use crate::ndr::{ConformantVarying, ContextHandle};
use crate::{ErrorStatus, RpcIfId};
use wire::Guid;

pub use self::client::{EndpointMap, EndpointMapper, Inquiry, Limits, Lookup};
use crate::endpoints::epm::types::{EptEntry, InquiryType, Twr, VersionOption};

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
