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
pub mod tracking;

use rpc::Message;
use rpc::ndr::{Conformant, EncodeError, NdrDecode, NdrEncode};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::{DecodeError, EncodeResult, Guid, HResult, ParseGuidError, WideStr};

pub use self::applications::{Application, Applications, applications};
pub use self::events::{
    IComTrackingInfoEvents, IComTrackingInfoEventsServer, OnNewTrackingInfoReply, OnNewTrackingInfoRequest,
};

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

rpc::interface! {
    /// [MS-COMT] 3.1.4.1: what runs on the host. Windows answers opnums 3 and 7 with E_NOTIMPL; nobody sends them.
    pub orpc interface IGetTrackingData: IUnknown("b60040e0-bcf3-11d1-861d-0080c729264d") -> HResult {
        /// [MS-COMT] 3.1.4.1.1: all containers.
        4 => GetContainerData() -> (
            #[ndr(name = "nContainers")] count: u32,
            #[ndr(name = "aContainerData", size_is = count)] data: Option<Box<Conformant<ContainerData>>>,
        );

        /// [MS-COMT] 3.1.4.1.2: the components of a container.
        5 => GetComponentDataByContainer(#[ndr(name = "idContainer")] container: u32) -> (
            #[ndr(name = "nComponents")] count: u32,
            #[ndr(name = "aComponentData", size_is = count)] data: Option<Box<Conformant<ComponentData>>>,
        );

        /// [MS-COMT] 3.1.4.1.3: one component of a container.
        6 => GetComponentDataByContainerAndCLSID as get_component_data_by_container_and_clsid(
            #[ndr(name = "idContainer")] container: u32, clsid: Guid,
        ) -> (#[ndr(name = "ppComponentData")] data: Option<Box<ComponentData>>);
    }
}

impl GetContainerDataReply {
    /// A reply with these containers.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn new(containers: Vec<ContainerData>) -> EncodeResult<Self> {
        let (count, data) = counted(Self::METHOD.name, containers)?;
        Ok(Self { count, data, status: HResult::S_OK })
    }

    /// The containers.
    ///
    /// # Errors
    /// When there are none where their number is not 0.
    pub fn containers(&self) -> Result<&[ContainerData], DecodeError> {
        elements(Self::METHOD.name, "aContainerData", self.count, self.data.as_deref())
    }
}

impl GetComponentDataByContainerReply {
    /// A reply with these components.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn new(components: Vec<ComponentData>) -> EncodeResult<Self> {
        let (count, data) = counted(Self::METHOD.name, components)?;
        Ok(Self { count, data, status: HResult::S_OK })
    }

    /// The components.
    ///
    /// # Errors
    /// When there are none where their number is not 0.
    pub fn components(&self) -> Result<&[ComponentData], DecodeError> {
        elements(Self::METHOD.name, "aComponentData", self.count, self.data.as_deref())
    }
}

/// An array and its number of elements; without elements it is a NULL pointer.
#[allow(clippy::type_complexity, reason = "two parameters of a reply")]
fn counted<T>(method: &'static str, elements: Vec<T>) -> EncodeResult<(u32, Option<Box<Conformant<T>>>)> {
    let count =
        u32::try_from(elements.len()).map_err(|_| EncodeError::new(method, "count", "is above 32 bits"))?;
    let data = (!elements.is_empty()).then(|| Box::new(Conformant(elements)));
    Ok((count, data))
}

fn elements<'a, T>(
    method: &'static str,
    field: &'static str,
    count: u32,
    data: Option<&'a Conformant<T>>,
) -> Result<&'a [T], DecodeError> {
    match data {
        Some(array) => Ok(&array.0),
        None if count == 0 => Ok(&[]),
        None => Err(DecodeError::invalid_field(method, field, 0, "is NULL where its number is not 0")),
    }
}

/// A number that the host may not track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NdrEncode, NdrDecode)]
pub struct Tracked(pub u32);

impl Tracked {
    /// [MS-COMT] 2.2.4: the host does not track it.
    pub const UNTRACKED: Self = Self(u32::MAX);

    /// The number, if the host tracks it.
    #[must_use]
    pub const fn get(self) -> Option<u32> {
        match self {
            Self::UNTRACKED => None,
            Self(number) => Some(number),
        }
    }
}

impl From<Option<u32>> for Tracked {
    fn from(number: Option<u32>) -> Self {
        number.map_or(Self::UNTRACKED, Self)
    }
}

/// `ContainerStatistics` of [MS-COMT] 2.2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct ContainerStatistics {
    /// Calls that component instances perform.
    #[ndr(name = "cCalls")]
    pub calls: u32,
    #[ndr(name = "cComponentInstances")]
    pub instances: u32,
    /// Distinct components that are instantiated.
    #[ndr(name = "cComponents")]
    pub components: u32,
    /// Calls per second, a running average; 0 where the host does not compute it.
    #[ndr(name = "cCallsPerSecond")]
    pub calls_per_second: u32,
}

/// [MS-COMT] 2.2.3 `ContainerData`: an instance container, or an application with all of its containers, whose
/// statistics are then averages; the document says both.
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct ContainerData {
    /// The container legacy identifier, which the other methods take. One of the containers if there are several.
    #[ndr(name = "dwLegacyId")]
    pub legacy_id: u32,
    /// The conglomeration identifier: the application.
    #[ndr(name = "wszApplicationIdentifier")]
    pub application: ApplicationIdentifier,
    /// The process that has the container; that of one of them if there are several.
    #[ndr(name = "dwProcessId")]
    pub process_id: u32,
    /// What the container does.
    pub statistics: ContainerStatistics,
}

/// [MS-COMT] 2.2.3: a CurlyBraceGuidString in 40 UTF-16 code units: 38, a NUL, and one that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct ApplicationIdentifier(pub [u16; 40]);

impl ApplicationIdentifier {
    /// The identifier of an application.
    #[must_use]
    pub fn new(application: Guid) -> Self {
        let mut units = [0; 40];
        for (unit, character) in
            units.iter_mut().zip(format!("{{{application}}}").to_uppercase().encode_utf16())
        {
            *unit = character;
        }
        Self(units)
    }

    /// The application.
    ///
    /// # Errors
    /// When the text before the first NUL is no GUID.
    pub fn guid(&self) -> Result<Guid, ParseGuidError> {
        let bytes = self.0.map(u16::to_le_bytes);
        let text = WideStr::until_nul_or_end(bytes.as_flattened());
        text.to_string().parse()
    }
}

/// [MS-COMT] 2.2.4 `ComponentData`: a component in a container. Numbers that the host does not track are
/// [`Tracked::UNTRACKED`].
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct ComponentData {
    /// The class of the component.
    pub clsid: Guid,
    /// References to all component instances.
    #[ndr(name = "cTotalReferences")]
    pub total_references: Tracked,
    /// References to active component instances.
    #[ndr(name = "cBoundReferences")]
    pub bound_references: Tracked,
    /// Component instances in the pool.
    #[ndr(name = "cPooledInstances")]
    pub pooled_instances: Tracked,
    /// Component instances that perform a call.
    #[ndr(name = "cInstancesInCall")]
    pub instances_in_call: Tracked,
    /// Average time of a call, in milliseconds. Windows reports the slowest instance's average of its last four seconds.
    #[ndr(name = "dwResponseTime")]
    pub response_time_ms: Tracked,
    /// Calls that succeeded recently; on Windows in the last four seconds.
    #[ndr(name = "cCallsCompleted")]
    pub calls_completed: Tracked,
    /// Calls that failed recently; on Windows in the last four seconds.
    #[ndr(name = "cCallsFailed")]
    pub calls_failed: Tracked,
}
