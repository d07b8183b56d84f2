//! A set and its parts. Each part is shared by all objects that clients have of it, so that what is set by one of them is seen
//! by all, and by the set when it is stored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ms_pla::xml::{DataCollectorSet, DataManager, FolderAction, Schedule, TraceDataProvider};
use ms_pla::{Category, ValueMapType, xml};

use super::collector_record::Collector;
use crate::service::lock;

/// A part that several objects may be of.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// The parts of a collection.
pub(super) type List<T> = Shared<Vec<Shared<T>>>;

pub(super) fn shared<T>(part: T) -> Shared<T> {
    Arc::new(Mutex::new(part))
}

pub(super) fn list<T>(parts: impl IntoIterator<Item = T>) -> List<T> {
    shared(parts.into_iter().map(shared).collect())
}

/// What is now in a collection.
pub(super) fn parts<T>(list: &List<T>) -> Vec<Shared<T>> {
    lock(list).clone()
}

fn replace<T>(list: &List<T>, parts: impl IntoIterator<Item = T>) {
    *lock(list) = parts.into_iter().map(shared).collect();
}

/// Copies of what is now in a collection, made of one part after the other.
pub(super) fn records<T, R>(list: &List<T>, record: impl Fn(&T) -> R) -> Vec<R> {
    parts(list).iter().map(|part| record(&lock(part))).collect()
}

/// [MS-PLA] 3.2.4.1: a set that a client has.
pub(super) struct Set {
    /// The category of its class; none of the class for all categories.
    pub(super) category: Option<Category>,
    /// Under which name it was queried or stored last.
    pub(super) stored: Option<(Category, String)>,
    /// The host that was named then.
    pub(super) server: Option<String>,
    /// Its properties, without parts.
    pub(super) record: DataCollectorSet,
    pub(super) collectors: List<Collector>,
    pub(super) schedules: List<Schedule>,
    pub(super) manager: Shared<Manager>,
    /// [MS-PLA] 3.2.4.1.59: values of the client's choice.
    pub(super) values: BTreeMap<String, String>,
}

impl Set {
    pub(super) fn new(category: Option<Category>) -> Self {
        Self {
            category,
            stored: None,
            server: None,
            record: DataCollectorSet::default(),
            collectors: list([]),
            schedules: list([]),
            manager: shared(Manager::new(DataManager::default())),
            values: BTreeMap::new(),
        }
    }

    /// A set that is stored.
    pub(super) fn stored(
        category: Option<Category>,
        stored: (Category, String),
        record: DataCollectorSet,
    ) -> Self {
        let mut set = Self { stored: Some(stored), ..Self::new(category) };
        set.fill(record);
        set
    }

    /// Overwrites all properties.
    pub(super) fn fill(&mut self, mut record: DataCollectorSet) {
        replace(&self.collectors, Collector::take_all(&mut record));
        replace(&self.schedules, std::mem::take(&mut record.schedules));
        lock(&self.manager).fill(record.data_manager.take().unwrap_or_default());
        self.record = record;
    }

    /// All properties, with those of the parts.
    pub(super) fn record(&self) -> DataCollectorSet {
        let mut record = self.record.clone();
        parts(&self.collectors).iter().for_each(|collector| lock(collector).add_to(&mut record));
        record.schedules = records(&self.schedules, Clone::clone);
        let manager = lock(&self.manager).record();
        record.data_manager = (manager != DataManager::default()).then_some(manager);
        record
    }
}

/// [MS-PLA] 3.2.4.2: a data manager.
pub(super) struct Manager {
    /// Its properties, without actions.
    pub(super) record: DataManager,
    pub(super) actions: List<FolderAction>,
}

impl Manager {
    fn new(record: DataManager) -> Self {
        let mut manager = Self { record: DataManager::default(), actions: list([]) };
        manager.fill(record);
        manager
    }

    fn fill(&mut self, mut record: DataManager) {
        replace(&self.actions, std::mem::take(&mut record.folder_actions));
        self.record = record;
    }

    fn record(&self) -> DataManager {
        DataManager { folder_actions: records(&self.actions, Clone::clone), ..self.record.clone() }
    }
}

/// [MS-PLA] 3.2.4.11: a provider of events.
pub(super) struct Provider {
    /// Its properties, without maps.
    pub(super) record: TraceDataProvider,
    pub(super) maps: BTreeMap<MapOf, Shared<Map>>,
    /// Who may use it, if that was set.
    pub(super) security: Option<String>,
}

/// What a map of a provider is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MapOf {
    Level,
    KeywordsAny,
    KeywordsAll,
    Properties,
}

impl Provider {
    pub(super) fn new(record: TraceDataProvider) -> Self {
        let mut provider =
            Self { record: TraceDataProvider::default(), maps: BTreeMap::new(), security: None };
        provider.fill(record);
        provider
    }

    /// Overwrites all properties.
    pub(super) fn fill(&mut self, mut record: TraceDataProvider) {
        let maps = [
            (MapOf::Level, ValueMapType::INDEX, record.level.take()),
            (MapOf::KeywordsAny, ValueMapType::FLAG, record.keywords_any.take()),
            (MapOf::KeywordsAll, ValueMapType::FLAG, record.keywords_all.take()),
            (MapOf::Properties, ValueMapType::FLAG, record.properties.take()),
        ];
        for (of, kind, map) in maps {
            self.maps.insert(of, shared(Map::new(kind, map.unwrap_or_default())));
        }
        self.record = record;
    }

    pub(super) fn record(&self) -> TraceDataProvider {
        let map = |of| self.maps.get(&of).and_then(|map| lock(map).record());
        TraceDataProvider {
            level: map(MapOf::Level),
            keywords_any: map(MapOf::KeywordsAny),
            keywords_all: map(MapOf::KeywordsAll),
            properties: map(MapOf::Properties),
            ..self.record.clone()
        }
    }
}

/// [MS-PLA] 3.2.4.18: a map.
pub(super) struct Map {
    pub(super) description: Option<String>,
    pub(super) kind: ValueMapType,
    /// The value of a map without items, a number.
    pub(super) value: Option<String>,
    pub(super) items: List<MapItem>,
}

/// [MS-PLA] 3.2.4.17: an item of a map.
#[derive(Default)]
pub(super) struct MapItem {
    pub(super) record: xml::ValueMapItem,
    pub(super) kind: ValueMapType,
}

impl Map {
    fn new(kind: ValueMapType, map: xml::ValueMap) -> Self {
        let kind = map.kind.unwrap_or(kind);
        let items = map.items.into_iter().map(|record| MapItem { record, kind });
        Self { description: map.description, kind, value: map.value, items: list(items) }
    }

    /// [MS-PLA] 2.2.2.11: properties that are ignored or wrong, each with its result.
    pub(super) fn of_results(results: Vec<(String, ms_dtyp::HResult)>) -> Self {
        let kind = ValueMapType::VALIDATION;
        let item = |(key, result): (String, ms_dtyp::HResult)| MapItem {
            record: xml::ValueMapItem {
                key: Some(key),
                value: Some(result.0.to_string()),
                is_enabled: Some(true),
                ..xml::ValueMapItem::default()
            },
            kind,
        };
        Self { description: None, kind, value: None, items: list(results.into_iter().map(item)) }
    }

    /// The map as XML; none if it says nothing.
    fn record(&self) -> Option<xml::ValueMap> {
        let items = records(&self.items, |item| item.record.clone());
        let is_empty = items.is_empty() && self.value.is_none() && self.description.is_none();
        let record = xml::ValueMap {
            description: self.description.clone(),
            kind: Some(self.kind),
            value: self.value.clone(),
            items,
            ..xml::ValueMap::default()
        };
        (!is_empty).then_some(record)
    }
}
