//! The parameters of all methods, as NDR. Padding of the stub and what follows it (such as a verification
//! trailer) is not looked at.

mod reply;
mod request;

use core::ops::RangeInclusive;

use codec::EncodeResult;
use ndr::{Reader, Writer};

use crate::Method;

pub use self::reply::{BufferReply, EnumerateCounterSetReply, HandleReply, ValidateCountersReply};
pub use self::request::{
    CloseQueryHandleRequest, EnumerateCounterSetInstancesRequest, EnumerateCounterSetRequest,
    OpenQueryHandleRequest, QueryCounterDataRequest, QueryCounterInfoRequest,
    QueryCounterSetRegistrationInfoRequest, ValidateCountersRequest,
};

/// The `[in]` parameters of a method.
pub trait Request: Sized {
    /// The method.
    const METHOD: Method;

    /// Writes the parameters.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode(&self, dst: &mut Writer) -> EncodeResult<()>;

    /// Reads the parameters.
    ///
    /// # Errors
    /// When the stub is not of this method, or a parameter is out of its range.
    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self>;

    /// Writes the whole stub.
    ///
    /// # Errors
    /// Those of [`Request::encode`].
    fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(64);
        self.encode(&mut dst)?;
        Ok(dst.into_stub())
    }

    /// Reads the whole stub.
    ///
    /// # Errors
    /// Those of [`Request::decode`].
    fn from_stub(stub: &[u8]) -> ndr::Result<Self> {
        Self::decode(&mut Reader::new(stub, Self::METHOD.name()))
    }
}

/// The `[in]` parameters of a method that fills a buffer of the client's size.
pub trait SizedRequest: Request {
    /// The IDL's range of `dwInSize`.
    const IN_SIZE: RangeInclusive<u32>;

    /// Sets `dwInSize`.
    fn set_in_size(&mut self, in_size: u32);
}
