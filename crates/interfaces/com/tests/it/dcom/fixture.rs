//! Values that several tests use.

use com::dcom::activation::{Activation, ObjectExporter};
use com::dcom::types::{AuthenticationService, Oid, Oxid, ReferenceFlags, StdObjref};
use com::dcom::wire::{DualStringArray, Objref, SecurityBinding};
use rpc::ndr::InterfacePointer;
use rpc::orpc::ComVersion;
use wire::{Guid, HResult};

pub(crate) const IPID: Guid = Guid::from_u128(0x1112_1314_1516_1718_191a_1b1c_1d1e_1f20);
pub(crate) const CID: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
pub(crate) const CLASS: Guid = Guid::from_u128(0xecab_afb9_7f19_11d2_978e_0000_f875_7e2a);
pub(crate) const IID: Guid = Guid::from_u128(0xb600_40e0_bcf3_11d1_861d_0080_c729_264d);
pub(crate) const OXID: Oxid = Oxid(0x0123_4567_89ab_cdef);
pub(crate) const OID: Oid = Oid(0xfedc_ba98_7654_3210);

pub(crate) fn std_objref() -> StdObjref {
    StdObjref { flags: ReferenceFlags::SORF_NOPING, public_refs: 5, oxid: OXID, oid: OID, ipid: IPID }
}

/// One address, and NTLM without a principal.
pub(crate) fn bindings(address: &str) -> DualStringArray {
    let ntlm = SecurityBinding { service: AuthenticationService::WINNT, principal: String::new() };
    DualStringArray::tcp([address.to_owned()], vec![ntlm])
}

pub(crate) fn objref() -> Objref<'static> {
    Objref::standard(IID, std_objref(), bindings("web1"))
}

pub(crate) fn activation() -> Activation {
    let exporter = ObjectExporter {
        oxid: OXID,
        bindings: bindings("web1[49664]"),
        ipid_rem_unknown: IPID,
        authn_hint: 5,
        version: ComVersion::V5_7,
    };
    Activation { exporter, results: vec![(IID, Ok(objref())), (CLASS, Err(HResult::E_NOINTERFACE))] }
}

pub(crate) fn pointer(data: Vec<u8>) -> InterfacePointer<'static> {
    InterfacePointer { size: u32::try_from(data.len()).unwrap(), data: data.into() }
}
