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
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod applications;
mod events;
pub mod ids;
mod process_dump;
mod tracker;
pub mod tracking;
mod types;

pub use self::applications::{Application, Applications, applications};
pub use self::events::{
    IComTrackingInfoEvents, IComTrackingInfoEventsServer, OnNewTrackingInfoReply, OnNewTrackingInfoRequest,
};
pub use self::process_dump::{
    DumpProcessReply, DumpProcessRequest, IProcessDump, IProcessDumpServer, IsSupportedReply,
    IsSupportedRequest,
};
pub use self::tracker::{
    GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IGetTrackingData, IGetTrackingDataServer,
};
pub use self::types::{ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics, Tracked};
