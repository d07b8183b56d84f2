//! The Performance Logs and Alerts Protocol [MS-PLA], client and server, without I/O: data collector sets of a host, their
//! collectors, schedules and data managers, and providers of events.
//!
//! A client activates [`ids::DATA_COLLECTOR_SET`] and queries a set by its name, or activates the collection of a
//! [`Category`] and lists its sets. Properties are read and set one by one, or all at once as XML. Nothing is stored before
//! it is committed, and a [`ValueMap`] says then which properties are ignored or wrong:
//!
//! ```
//! use com::oaut::Bstr;
//! use ms_pla::data_collector_set::{GetXmlRequest, IDataCollectorSet, QueryRequest};
//! use rpc::orpc::Proxy;
//!
//! # async fn read<C: rpc::Channel>(mut set: Proxy<C, IDataCollectorSet>) -> Option<()> {
//! let request = QueryRequest { name: Bstr::new("Nightly").ok()?, server: Bstr(None) };
//! set.call(&request).await.ok()?;
//! let xml = set.call(&GetXmlRequest {}).await.ok()?.value;
//! println!("{}", xml.text().ok()??);
//! # Some(()) }
//! ```
//!
//! Calls need the level of authentication that encrypts (RPC_C_AUTHN_LEVEL_PKT_PRIVACY), and let the host act as the client
//! (RPC_C_IMP_LEVEL_IMPERSONATE).
//!
//! Where to look: a module for each interface, [`collection`] for what all collections have, [`ids`] for classes, `HResult`
//! of `wire` for results (`PLA_E_…`), [`xml`] for sets as XML. Documents leave two things open: the size of enumerations ([`rpc::ndr::EnumForm`]) and
//! the number of pointers before an array ([`com::oaut::ArrayParameter`]). Both forms of both are read; of an enumeration is
//! written what readers of either form can read, of an array what the marshalers of Windows write. Requirements that are not
//! met are in `gaps.toml`.
//!
//! A new method goes also into `tests/data/methods.txt` and `go_msrpc_all.txt`, into the counts of `tests/it/methods.rs` and
//! `go_msrpc.rs`, and into `service/performance_logs` of `windows-sim`.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod alert_data_collector;
pub mod api_tracing_data_collector;
pub mod collection;
pub mod configuration_data_collector;
pub mod data_collector;
pub mod data_collector_collection;
pub mod data_collector_set;
pub mod data_collector_set_collection;
pub mod data_manager;
pub mod folder_action;
pub mod folder_action_collection;
pub mod ids;
pub mod performance_counter_data_collector;
pub mod schedule;
pub mod schedule_collection;
pub mod trace_data_collector;
pub mod trace_data_provider;
pub mod trace_data_provider_collection;
mod types;
pub mod value_map;
pub mod value_map_item;
pub mod xml;

pub use self::alert_data_collector::{IAlertDataCollector, IAlertDataCollectorServer};
pub use self::api_tracing_data_collector::{IApiTracingDataCollector, IApiTracingDataCollectorServer};
pub use self::configuration_data_collector::{
    IConfigurationDataCollector, IConfigurationDataCollectorServer,
};
pub use self::data_collector::{IDataCollector, IDataCollectorServer};
pub use self::data_collector_collection::{IDataCollectorCollection, IDataCollectorCollectionServer};
pub use self::data_collector_set::{IDataCollectorSet, IDataCollectorSetServer};
pub use self::data_collector_set_collection::{
    IDataCollectorSetCollection, IDataCollectorSetCollectionServer,
};
pub use self::data_manager::{IDataManager, IDataManagerServer};
pub use self::folder_action::{IFolderAction, IFolderActionServer};
pub use self::folder_action_collection::{IFolderActionCollection, IFolderActionCollectionServer};
pub use self::ids::Category;
pub use self::performance_counter_data_collector::{
    IPerformanceCounterDataCollector, IPerformanceCounterDataCollectorServer,
};
pub use self::schedule::{ISchedule, IScheduleServer};
pub use self::schedule_collection::{IScheduleCollection, IScheduleCollectionServer};
pub use self::trace_data_collector::{ITraceDataCollector, ITraceDataCollectorServer};
pub use self::trace_data_provider::{ITraceDataProvider, ITraceDataProviderServer};
pub use self::trace_data_provider_collection::{
    ITraceDataProviderCollection, ITraceDataProviderCollectionServer,
};
pub use self::types::{ChosenValue, ValueMap, ValueMapItem, number_of, *};
pub use self::value_map::{IValueMap, IValueMapServer};
pub use self::value_map_item::{IValueMapItem, IValueMapItemServer};
