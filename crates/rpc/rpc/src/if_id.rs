use crate::ndr::{NdrDecode, NdrEncode};
use dcerpc::SyntaxId;
use wire::Guid;

/// C706 appendix N `rpc_if_id_t`: an interface, as a parameter of a method.
#[doc(alias = "rpc_if_id_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NdrDecode, NdrEncode)]
pub struct RpcIfId {
    /// Which.
    pub uuid: Guid,
    /// Major version.
    pub vers_major: u16,
    /// Minor version.
    pub vers_minor: u16,
}

impl From<SyntaxId> for RpcIfId {
    fn from(id: SyntaxId) -> Self {
        Self { uuid: id.uuid, vers_major: id.version_major, vers_minor: id.version_minor }
    }
}

impl From<RpcIfId> for SyntaxId {
    fn from(id: RpcIfId) -> Self {
        Self::new(id.uuid, id.vers_major, id.vers_minor)
    }
}
