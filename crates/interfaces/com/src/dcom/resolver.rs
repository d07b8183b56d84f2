//! [MS-DCOM] 3.1.2.5.1, the interface `IObjectExporter` of a host's object resolver: plain RPC.
//!
//! `ServerAlive` and `ServerAlive2` carry no security: they are called before a client knows which there is.

use rpc::Message;
use rpc::ndr::{Conformant, Reserved};
use rpc::orpc::ComVersion;
use wire::{DecodeError, Guid, Win32Error};

use crate::dcom::activation::ObjectExporter;
use crate::dcom::types::{Oid, Oxid, ProtocolSequence, SetId};
use crate::dcom::wire::DualStringArray;

rpc::interface! {
    /// [MS-DCOM] 1.9: the object resolver, version 0.0.
    pub interface IObjectExporter("99fcfec4-5260-101b-bbcb-00aa0021347a", 0.0) -> Win32Error {
        /// [MS-DCOM] 3.1.2.5.1.1: where a program with objects is. Without its version: [`ResolveOxid2Request`].
        0 => ResolveOxid(
            oxid: Oxid, #[ndr(name = "cRequestedProtseqs")] protocol_count: u16,
            #[ndr(name = "arRequestedProtseqs", size_is = protocol_count)] protocols: Conformant<ProtocolSequence>,
        ) -> (
            #[ndr(name = "ppdsaOxidBindings")] bindings: Option<Box<DualStringArray>>,
            #[ndr(name = "pipidRemUnknown")] ipid_rem_unknown: Guid, #[ndr(name = "pAuthnHint")] authn_hint: u32,
        );

        /// [MS-DCOM] 3.1.2.5.1.2: keeps the objects of a set alive.
        1 => SimplePing(set_id: SetId);

        /// [MS-DCOM] 3.1.2.5.1.3: the same, and changes the set, which is made if `set_id` is zero.
        2 => ComplexPing(
            set_id: SetId, #[ndr(name = "SequenceNum")] sequence: u16,
            #[ndr(name = "cAddToSet")] add_count: u16, #[ndr(name = "cDelFromSet")] delete_count: u16,
            #[ndr(name = "AddToSet", size_is = add_count)] add: Option<Box<Conformant<Oid>>>,
            #[ndr(name = "DelFromSet", size_is = delete_count)] delete: Option<Box<Conformant<Oid>>>,
        ) -> (set_id: SetId, #[ndr(name = "pPingBackoffFactor")] backoff: u16);

        /// [MS-DCOM] 3.1.2.5.1.4: does nothing.
        3 => ServerAlive();

        /// [MS-DCOM] 3.1.2.5.1.5: where a program with objects is, and which version it speaks.
        4 => ResolveOxid2 as resolve_oxid2(
            oxid: Oxid, #[ndr(name = "cRequestedProtseqs")] protocol_count: u16,
            #[ndr(name = "arRequestedProtseqs", size_is = protocol_count)] protocols: Conformant<ProtocolSequence>,
        ) -> (
            #[ndr(name = "ppdsaOxidBindings")] bindings: Option<Box<DualStringArray>>,
            #[ndr(name = "pipidRemUnknown")] ipid_rem_unknown: Guid, #[ndr(name = "pAuthnHint")] authn_hint: u32,
            #[ndr(name = "pComVersion")] version: ComVersion,
        );

        /// [MS-DCOM] 3.1.2.5.1.6: which version the resolver speaks, and where it is.
        5 => ServerAlive2 as server_alive2() -> (
            #[ndr(name = "pComVersion")] version: ComVersion,
            #[ndr(name = "ppdsaOrBindings")] bindings: Option<Box<DualStringArray>>,
            #[ndr(name = "pReserved")] reserved: Reserved<u32>,
        );
    }
}

impl ResolveOxid2Request {
    /// Asks for a program that is reached by TCP.
    #[must_use]
    pub fn tcp(oxid: Oxid) -> Self {
        Self { oxid, protocol_count: 1, protocols: Conformant(vec![ProtocolSequence::TCP]) }
    }

    /// What a reply to this request says.
    ///
    /// # Errors
    /// When it has no bindings.
    pub fn exporter(&self, reply: ResolveOxid2Reply) -> Result<ObjectExporter, DecodeError> {
        let ResolveOxid2Reply { bindings, ipid_rem_unknown, authn_hint, version, .. } = reply;
        let Some(bindings) = bindings else {
            let method = Self::METHOD.name;
            return Err(DecodeError::invalid_field(method, "ppdsaOxidBindings", 0, "is NULL"));
        };
        Ok(ObjectExporter { oxid: self.oxid, bindings: *bindings, ipid_rem_unknown, authn_hint, version })
    }
}
