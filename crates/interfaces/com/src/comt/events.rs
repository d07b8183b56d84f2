//! [MS-COMT] 3.2: IComTrackingInfoEvents, which hosts call.

use rpc::Message;
use rpc::ndr::{EncodeResult, InterfacePointer};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::{DecodeError, HResult};

rpc::interface! {
    /// [MS-COMT] 3.2.5.1: what a subscriber implements, and the host calls.
    pub orpc interface IComTrackingInfoEvents: IUnknown("4e6cdcc9-fb25-4fd5-9cc5-c9f4b6559cec") -> HResult {
        /// [MS-COMT] 3.2.5.1.1: the state of the host. Subscribers return at once and look at it later.
        3 => OnNewTrackingInfo(
            #[ndr(name = "pToplevelCollection")] collection: Option<Box<InterfacePointer<'stub>>>,
        );
    }
}

impl<'stub> OnNewTrackingInfoRequest<'stub> {
    /// A request with the event that [`tracking::write`](crate::comt::tracking::write) wrote.
    ///
    /// # Errors
    /// When it is longer than 32 bits can count.
    pub fn new(event: impl Into<std::borrow::Cow<'stub, [u8]>>) -> EncodeResult<Self> {
        let data = event.into();
        let size = u32::try_from(data.len()).map_err(|_| {
            wire::EncodeError::new(Self::METHOD.name, "pToplevelCollection", "is above 32 bits")
        })?;
        Ok(Self { collection: Some(Box::new(InterfacePointer { size, data })) })
    }

    /// The event, which [`tracking::read`](crate::comt::tracking::read) reads.
    ///
    /// # Errors
    /// When there is none.
    pub fn event(&self) -> Result<&[u8], DecodeError> {
        let collection = self.collection.as_ref();
        collection.map(|collection| collection.data.as_ref()).ok_or(DecodeError::invalid_field(
            Self::METHOD.name,
            "pToplevelCollection",
            0,
            "is NULL",
        ))
    }
}
