use std::net::IpAddr;

use dcerpc::server::IncomingCall;
use dcerpc::{FaultStatus, SyntaxId};
use rpc::CallInfo;

/// An RPC interface that is served, usually by the `dispatch` of a declared one.
pub trait Interface: Send + Sync {
    /// What peers bind.
    fn syntax_id(&self) -> SyntaxId;

    /// Executes a call and returns the stub of the response. It returns at once: its peer's other calls wait meanwhile.
    ///
    /// # Errors
    /// The fault to answer.
    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus>;
}

/// A call for an [`Interface`].
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The method.
    pub opnum: u16,
    /// The parameters.
    pub stub: &'a [u8],
    /// How the call is protected, and which object it is for.
    pub info: CallInfo,
    /// The authenticated account of the caller, if there is one.
    pub account: Option<&'a ssp::Account>,
    /// Where the call comes from; IPv4 addresses are never mapped ones.
    pub peer: IpAddr,
}

impl<'a> Call<'a> {
    pub(crate) fn new(incoming: &'a IncomingCall, peer: IpAddr) -> Self {
        Self {
            opnum: incoming.opnum,
            stub: &incoming.stub,
            info: CallInfo { auth_level: incoming.auth_level, object: incoming.object },
            account: incoming.peer.as_deref(),
            peer,
        }
    }
}
