//! Where a host keeps the state of its RPC run time: in cells of a file that other processes read, also when this one hangs or
//! has died.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use com::comev::{
    IEnumEventObject, IEventObjectCollection, IEventSubscription, IEventSubscription2, IEventSubscription3,
    IEventSystem, IEventSystem2,
};
use com::comt::{IComTrackingInfoEvents, IGetTrackingData, IProcessDump};
use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use com::oaut::{IDispatch, IEnumVARIANT};
use counters::pcq::perflibv2::methods::PerflibV2;
use counters::rrp::winreg::Winreg;
use dcerpc::Observers;
use ms_pla::{
    IAlertDataCollector, IApiTracingDataCollector, IConfigurationDataCollector, IDataCollector,
    IDataCollectorCollection, IDataCollectorSet, IDataCollectorSetCollection, IDataManager, IFolderAction,
    IFolderActionCollection, IPerformanceCounterDataCollector, ISchedule, IScheduleCollection,
    ITraceDataCollector, ITraceDataProvider, ITraceDataProviderCollection, IValueMap, IValueMapItem,
};
use rpc::endpoints::epm::ept::Ept;
use rpc::endpoints::mgmt::management::Mgmt;
use rpc_cells::{
    Capacity, Error, Level, Memory, RunDirectory, SectionFile, SectionFileOptions, SigbusGuard, Writer,
    boot_ms,
};
use rpc_recorder::{InterfaceNames, Recorder};

/// The name of the file's owner.
const OWNER: &str = "windows-sim";

/// How much of the state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum RpcStateLevel {
    /// Nothing.
    None,
    /// Endpoints, threads, connections, server calls, and client calls that are made within a server call.
    #[default]
    Server,
    /// Client calls, too.
    Full,
}

/// The state of the hosts that it [observes](crate::WindowsHost::observed_by). The file is removed when this is dropped.
#[derive(Debug)]
pub struct RpcState {
    observers: Arc<dyn Observers>,
    file: Option<Arc<SectionFile>>,
}

impl RpcState {
    /// Makes a file in the directory at `path`, which is made if it is missing, and removes the files of processes that do
    /// not run any more. At the level `None` it touches nothing.
    ///
    /// # Errors
    /// When the directory is not this user's alone, or the file cannot be made.
    pub fn open(path: &Path, level: RpcStateLevel) -> Result<Self, Error> {
        let level = match level {
            RpcStateLevel::None => return Ok(Self { observers: Arc::new(()), file: None }),
            RpcStateLevel::Server => Level::SERVER,
            RpcStateLevel::Full => Level::FULL,
        };
        let directory = RunDirectory::open(path)?;
        directory.remove_stale()?;
        let capacity = Capacity::default();
        let options = SectionFileOptions { name: OWNER, level, capacity, now_ms: boot_ms() };
        let file = Arc::new(directory.create(SigbusGuard::install()?, &options)?);
        let writer = Writer::over(Shared(Arc::clone(&file)))?;
        Ok(Self { observers: Arc::new(Recorder::new(writer, NAMES)), file: Some(file) })
    }

    /// Observers of everything whose state is kept.
    #[must_use]
    pub fn observers(&self) -> Arc<dyn Observers> {
        Arc::clone(&self.observers)
    }
}

impl Drop for RpcState {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

/// The file of a writer, whose threads may outlive the [`RpcState`].
struct Shared(Arc<SectionFile>);

impl Memory for Shared {
    fn words(&self) -> &[AtomicU64] {
        self.0.words()
    }

    fn grow(&self, sections: u16) -> bool {
        self.0.grow(sections)
    }
}

/// What hosts offer, and what they call of subscribers, with names.
const NAMES: &[InterfaceNames] = &[
    InterfaceNames::of::<PerflibV2>(),
    InterfaceNames::of::<Winreg>(),
    InterfaceNames::of::<Ept>(),
    InterfaceNames::of::<Mgmt>(),
    InterfaceNames::of::<IObjectExporter>(),
    InterfaceNames::of::<IRemoteSCMActivator>(),
    InterfaceNames::of::<IRemUnknown>(),
    InterfaceNames::of::<IRemUnknown2>(),
    InterfaceNames::of::<IGetTrackingData>(),
    InterfaceNames::of::<IProcessDump>(),
    InterfaceNames::of::<IComTrackingInfoEvents>(),
    InterfaceNames::of::<IEventSystem>(),
    InterfaceNames::of::<IEventSystem2>(),
    InterfaceNames::of::<IEventObjectCollection>(),
    InterfaceNames::of::<IEnumEventObject>(),
    InterfaceNames::of::<IEventSubscription>(),
    InterfaceNames::of::<IEventSubscription2>(),
    InterfaceNames::of::<IEventSubscription3>(),
    InterfaceNames::of::<IDispatch>(),
    InterfaceNames::of::<IEnumVARIANT>(),
    InterfaceNames::of::<IDataCollectorSet>(),
    InterfaceNames::of::<IDataCollectorSetCollection>(),
    InterfaceNames::of::<IDataCollectorCollection>(),
    InterfaceNames::of::<IDataCollector>(),
    InterfaceNames::of::<IPerformanceCounterDataCollector>(),
    InterfaceNames::of::<IConfigurationDataCollector>(),
    InterfaceNames::of::<IAlertDataCollector>(),
    InterfaceNames::of::<ITraceDataCollector>(),
    InterfaceNames::of::<IApiTracingDataCollector>(),
    InterfaceNames::of::<IDataManager>(),
    InterfaceNames::of::<IFolderAction>(),
    InterfaceNames::of::<IFolderActionCollection>(),
    InterfaceNames::of::<ISchedule>(),
    InterfaceNames::of::<IScheduleCollection>(),
    InterfaceNames::of::<ITraceDataProvider>(),
    InterfaceNames::of::<ITraceDataProviderCollection>(),
    InterfaceNames::of::<IValueMap>(),
    InterfaceNames::of::<IValueMapItem>(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::{endpoints, standard};

    #[test]
    fn all_interfaces_of_a_standard_host_have_names() {
        for endpoint in endpoints(&standard()) {
            for service in endpoint.services() {
                let is_named = NAMES.iter().any(|names| names.syntax_id().serves(&service.syntax_id()));
                assert!(is_named, "add {} at {} to NAMES", service.name(), endpoint.endpoint());
            }
        }
    }
}
