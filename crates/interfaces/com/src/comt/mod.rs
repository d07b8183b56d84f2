//! The COM+ Tracker Service Protocol [MS-COMT], client and server, without I/O: which COM+ applications a host runs,
//! with which components, and how their calls fare.
//!
//! - A client polls an object of the class [`ids::TRACKER_SERVICE_CLASS`] with [`IGetTrackingData`]: first all
//!   containers, then the components of each. [`applications`] makes applications of containers.
//! - Or it subscribes, and the host calls its [`IComTrackingInfoEvents`]. An event is the state of the whole host,
//!   marshalled into one buffer; [`tracking`] reads and writes it. The call may carry no authentication: all of its
//!   bytes are untrusted.
//! - [`IProcessDump`] writes the memory of a process into a file of the host.
//!
//! ```
//! use com::comt::{GetContainerDataRequest, IGetTrackingData};
//! use rpc::orpc::Proxy;
//!
//! # async fn poll<C: rpc::Channel>(mut tracker: Proxy<C, IGetTrackingData>) -> Option<()> {
//! let reply = tracker.call(&GetContainerDataRequest {}).await.ok()?;
//! for application in com::comt::applications(reply.containers().ok()?).found {
//!     println!("{}: {} calls", application.id, application.calls);
//! }
//! # Some(()) }
//! ```
//!
//! Requirements that are not met are in `gaps.toml`.

mod applications;
mod events;
pub mod ids;
mod tracker;
pub mod tracking;
mod types;

pub use self::applications::{Application, Applications, applications};
pub use self::events::{
    IComTrackingInfoEvents, IComTrackingInfoEventsServer, OnNewTrackingInfoReply, OnNewTrackingInfoRequest,
};
pub use self::tracker::{
    GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IGetTrackingData, IGetTrackingDataServer,
};
pub use self::types::{ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics, Tracked};
use wire::{EncodeResult, Guid, HResult};

use crate::oaut::{Bstr, IDispatch, IDispatchServer};

rpc::interface! {
    /// [MS-COMT] 3.1.4.2: dumps of processes. The host acts as the client while it writes the file, which the client has to
    /// permit (RPC_C_IMPL_LEVEL_IMPERSONATE).
    pub orpc interface IProcessDump: IDispatch("23c9dd26-2355-4fe2-84de-f779a238adbd") -> HResult {
        /// [MS-COMT] 3.1.4.2.1: whether the host writes dumps: S_OK or S_FALSE.
        7 => IsSupported();

        /// [MS-COMT] 3.1.4.2.2: writes the memory of the process that has this distinguished container into a file of
        /// `directory`, which Windows limits to 260 characters; NULL is the application's own. Of more than `files_max`
        /// files of the application there the oldest is deleted; 0 is the application's own limit.
        8 => DumpProcess(
            #[ndr(name = "bstrContainerID")] container: Bstr,
            #[ndr(name = "bstrDirectory")] directory: Bstr,
            #[ndr(name = "dwMaxFiles")] files_max: u32,
        ) -> (#[ndr(name = "pbstrDumpFile")] file: Bstr);
    }
}

impl IsSupportedReply {
    /// Whether the host writes dumps.
    #[must_use]
    pub fn is_supported(&self) -> bool {
        self.status == HResult::S_OK
    }
}

impl DumpProcessRequest {
    /// A dump of the process with this container.
    ///
    /// # Errors
    /// When the directory is longer than 32 bits can count.
    pub fn new(container: Guid, directory: Option<&str>, files_max: u32) -> EncodeResult<Self> {
        let container = Bstr::new(&format!("{{{container}}}").to_uppercase())?;
        let directory = directory.map_or(Ok(Bstr::null()), Bstr::new)?;
        Ok(Self { container, directory, files_max })
    }
}
