//! What a host counts: countersets, instances that come and go, and values that are functions of seed and clock.

pub(crate) mod catalog;
mod change;
mod clock;
mod com_plus;
pub mod data_collector_sets;
mod host;
mod object;
mod population;
mod schema;

pub use self::catalog::aggregates::AggregateForm;
pub use self::catalog::synthetic::SYNTHETIC_MAX;
pub use self::catalog::{aggregates, counter_types};
pub use self::change::{Change, ParseChangeError, What};
pub use self::clock::{Clock, Moment, scale};
pub use self::com_plus::{CALL_SECONDS, ComComponent, ComContainer, ComProcess, RecentCalls};
pub use self::host::{Host, HostOptions};
pub use self::object::{BASE_INDEX_LAST, NameIndexes, PerfCounter, PerfObject};
pub use self::schema::{Counter, Counterset, Provider, Sample, Value};
use counters::pcq::types::Lcid;
pub use counters::perflib_v1::write::{Data, Instance};
use wire::{Guid, Win32Error};

/// Where the values of a host come from: the model, or this machine.
pub trait ValueSource: Send + Sync {
    /// The countersets that are registered, in the order in which they are enumerated.
    fn countersets(&self) -> Vec<&'static Counterset>;

    /// The instant to compute a reply for.
    fn moment(&self) -> Moment;

    /// All instances of a counterset at that instant, or nothing where the counterset is not registered.
    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>>;

    /// The counterset with this GUID, as it is registered at that instant and while its provider runs.
    fn counterset(&self, guid: Guid, _at: &Moment) -> Option<&'static Counterset> {
        self.countersets().into_iter().find(|set| set.guid == guid)
    }

    /// What the provider of a counterset answers instead of values, where it fails.
    fn failure(&self, _counterset: Guid, _at: &Moment) -> Option<Win32Error> {
        None
    }

    /// The language of the host, for who asks for none.
    fn language(&self) -> Lcid {
        Lcid::ENGLISH_US
    }

    /// The objects of version 1 whose names are installed. None by default.
    fn objects(&self) -> Vec<&'static PerfObject> {
        Vec::new()
    }

    /// The values of an object at that instant, or nothing where its provider is disabled or fails.
    fn object_data(&self, _object: &PerfObject, _at: &Moment) -> Option<Data> {
        None
    }

    /// Which indexes the names of objects and counters have now.
    fn name_indexes(&self) -> NameIndexes {
        NameIndexes::default()
    }

    /// The processes of COM+ applications at that instant. None by default.
    fn com_processes(&self, _at: &Moment) -> Vec<ComProcess> {
        Vec::new()
    }

    /// What the host is built of.
    fn hardware(&self) -> Hardware {
        Hardware::default()
    }
}

/// What a host is built of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    pub processors: u32,
    pub memory_bytes: u64,
    /// The page file on `C:`.
    pub page_file_bytes: u64,
}

impl Default for Hardware {
    fn default() -> Self {
        Self { processors: 4, memory_bytes: 16 << 30, page_file_bytes: PAGE_FILE_BYTES }
    }
}

/// The page file of each host.
pub(crate) const PAGE_FILE_BYTES: u64 = 2 << 30;
