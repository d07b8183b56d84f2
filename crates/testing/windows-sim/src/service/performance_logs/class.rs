//! The classes of performance logs and alerts. Those that no document names are of objects that only methods return; their
//! identifiers are made up.

use std::sync::Arc;

use com::oaut::{IDispatch, IEnumVARIANT};
use dcerpc::SyntaxId;
use ms_pla::*;
use rpc::Interface;
use wire::{Guid, HResult};

use crate::host_state::HostState;
use crate::service::objects::{ComClass, ComInterface, ComObject, RefusingDispatch};

const fn made_up(number: u128) -> Guid {
    Guid::from_u128(0x0050_4c41 << 32 | number)
}

pub(super) const ENUMERATOR: Guid = made_up(1);
pub(super) const MANAGER: Guid = made_up(2);
pub(super) const FOLDER_ACTION: Guid = made_up(3);
pub(super) const FOLDER_ACTION_COLLECTION: Guid = made_up(4);
pub(super) const SCHEDULE: Guid = made_up(5);
pub(super) const SCHEDULE_COLLECTION: Guid = made_up(6);
pub(super) const COLLECTOR_COLLECTION: Guid = made_up(7);
pub(super) const VALUE_MAP: Guid = made_up(8);
pub(super) const VALUE_MAP_ITEM: Guid = made_up(9);
const COUNTERS: Guid = made_up(0x10);
const TRACE: Guid = made_up(0x11);
const CONFIGURATION: Guid = made_up(0x12);
const ALERT: Guid = made_up(0x13);
const API_TRACE: Guid = made_up(0x14);

/// The class of collectors of a kind.
pub(super) const fn of_collectors(kind: DataCollectorType) -> Guid {
    match kind {
        DataCollectorType::TRACE => TRACE,
        DataCollectorType::CONFIGURATION => CONFIGURATION,
        DataCollectorType::ALERT => ALERT,
        DataCollectorType::API_TRACE => API_TRACE,
        _ => COUNTERS,
    }
}

/// Makes an object that a client activates.
type Create = fn(class: Guid) -> Box<dyn ComObject>;

pub(super) struct PlaClass {
    clsid: Guid,
    interfaces: &'static [ComInterface],
    create: Option<Create>,
}

impl PlaClass {
    /// A class of which clients activate objects.
    pub(super) const fn activated(clsid: Guid, interfaces: &'static [ComInterface], create: Create) -> Self {
        Self { clsid, interfaces, create: Some(create) }
    }

    /// A class of which methods return objects.
    const fn returned(clsid: Guid, interfaces: &'static [ComInterface]) -> Self {
        Self { clsid, interfaces, create: None }
    }
}

impl ComClass for PlaClass {
    fn clsid(&self) -> Guid {
        self.clsid
    }

    fn interfaces(&self) -> &[ComInterface] {
        self.interfaces
    }

    fn create(&self, _: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        self.create.map(|create| create(self.clsid)).ok_or(HResult::REGDB_E_CLASSNOTREG)
    }
}

const fn interface(name: &'static str, syntax_id: SyntaxId, refuse: RefusingDispatch) -> ComInterface {
    ComInterface { name, syntax_id, refuse }
}

macro_rules! interfaces {
    ($($name:literal $interface:ident),*) => {
        &[$(interface($name, $interface::SYNTAX_ID, $interface::dispatch)),*]
    };
}

pub(super) const SET_INTERFACES: &[ComInterface] =
    interfaces!["pla-set" IDataCollectorSet, "dispatch" IDispatch];
pub(super) const SET_COLLECTION_INTERFACES: &[ComInterface] =
    interfaces!["pla-set-collection" IDataCollectorSetCollection, "dispatch" IDispatch];
pub(super) const PROVIDER_INTERFACES: &[ComInterface] =
    interfaces!["pla-provider" ITraceDataProvider, "dispatch" IDispatch];
pub(super) const PROVIDER_COLLECTION_INTERFACES: &[ComInterface] =
    interfaces!["pla-provider-collection" ITraceDataProviderCollection, "dispatch" IDispatch];

/// The classes of objects that only methods return.
pub(super) const RETURNED: [PlaClass; 14] = [
    PlaClass::returned(ENUMERATOR, interfaces!["enum-variant" IEnumVARIANT]),
    PlaClass::returned(MANAGER, interfaces!["pla-manager" IDataManager, "dispatch" IDispatch]),
    PlaClass::returned(FOLDER_ACTION, interfaces!["pla-action" IFolderAction, "dispatch" IDispatch]),
    PlaClass::returned(
        FOLDER_ACTION_COLLECTION,
        interfaces!["pla-action-collection" IFolderActionCollection, "dispatch" IDispatch],
    ),
    PlaClass::returned(SCHEDULE, interfaces!["pla-schedule" ISchedule, "dispatch" IDispatch]),
    PlaClass::returned(
        SCHEDULE_COLLECTION,
        interfaces!["pla-schedule-collection" IScheduleCollection, "dispatch" IDispatch],
    ),
    PlaClass::returned(
        COLLECTOR_COLLECTION,
        interfaces!["pla-collector-collection" IDataCollectorCollection, "dispatch" IDispatch],
    ),
    PlaClass::returned(VALUE_MAP, interfaces!["pla-value-map" IValueMap, "dispatch" IDispatch]),
    PlaClass::returned(VALUE_MAP_ITEM, interfaces!["pla-value-map-item" IValueMapItem, "dispatch" IDispatch]),
    PlaClass::returned(
        COUNTERS,
        interfaces!["pla-collector" IDataCollector, "pla-counters" IPerformanceCounterDataCollector, "dispatch" IDispatch],
    ),
    PlaClass::returned(
        TRACE,
        interfaces!["pla-collector" IDataCollector, "pla-trace" ITraceDataCollector, "dispatch" IDispatch],
    ),
    PlaClass::returned(
        CONFIGURATION,
        interfaces!["pla-collector" IDataCollector, "pla-configuration" IConfigurationDataCollector, "dispatch" IDispatch],
    ),
    PlaClass::returned(
        ALERT,
        interfaces!["pla-collector" IDataCollector, "pla-alert" IAlertDataCollector, "dispatch" IDispatch],
    ),
    PlaClass::returned(
        API_TRACE,
        interfaces!["pla-collector" IDataCollector, "pla-api-trace" IApiTracingDataCollector, "dispatch" IDispatch],
    ),
];
