use core::future::Future;

use wire::Guid;

/// One presentation context on an association to somewhere: what the typed stubs of an interface call through.
///
/// Nothing here does input or output; drivers implement it over a transport, tests over a server in memory.
pub trait Channel: Send {
    /// Why a call had no response: a fault, or a transport that failed.
    type Error: core::error::Error + Send + Sync + 'static;

    /// Makes one call and answers the stub data of its response.
    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Self::Error>> + Send;
}

impl<C: Channel> Channel for &mut C {
    type Error = C::Error;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Self::Error>> + Send {
        (**self).call(opnum, object, stub)
    }
}
