use core::ops::Range;

use rpc::Method;
use wire::DecodeResult;

use crate::pcq::Error;

/// A method's buffer, still in its stub.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) method: &'static Method,
    pub(super) stub: Vec<u8>,
    // INVARIANT: within the stub.
    pub(super) data: Range<usize>,
}

impl Buffer {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.stub[self.data.clone()]
    }

    pub(super) fn decode<T, E: core::error::Error + 'static>(
        &self,
        decode: impl FnOnce(&[u8]) -> DecodeResult<T>,
    ) -> Result<T, Error<E>> {
        decode(self.bytes()).map_err(|source| Error::Buffer { method: self.method, source })
    }
}
