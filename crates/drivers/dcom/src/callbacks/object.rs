use std::net::IpAddr;

use crate::rpc_server::{Call, Refusal};
use dcerpc::FaultStatus;
use wire::Guid;

/// An object that hosts call.
pub trait ExportedObject: Send + Sync {
    /// Its interface beside `IUnknown`.
    fn iid(&self) -> Guid;

    /// Executes a call of that interface from one of the target's addresses, and returns the stub of the response. It returns
    /// at once.
    ///
    /// # Errors
    /// The fault to answer.
    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus>;

    /// A call from another address was refused.
    fn refused(&self, peer: IpAddr) {
        let _ = peer;
    }

    /// A connection from one of the target's addresses was refused or ended.
    fn connection_refused(&self, reason: Refusal, error: Option<&dcerpc::Error>) {
        let _ = (reason, error);
    }
}
