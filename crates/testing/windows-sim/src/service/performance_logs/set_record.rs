//! A set and its parts.

use std::collections::BTreeMap;

use ms_pla::Category;
use ms_pla::xml::{DataCollectorSet, DataManager, FolderAction, Schedule};

use super::collector_record::Collector;
use super::shared::{List, Shared, list, parts, records, replace, shared};

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

    pub(super) fn fill(&mut self, mut record: DataCollectorSet) {
        replace(&self.collectors, Collector::take_all(&mut record));
        replace(&self.schedules, std::mem::take(&mut record.schedules));
        self.manager.lock().fill(record.data_manager.take().unwrap_or_default());
        self.record = record;
    }

    /// All properties, with those of the parts.
    pub(super) fn record(&self) -> DataCollectorSet {
        let mut record = self.record.clone();
        parts(&self.collectors).iter().for_each(|collector| collector.lock().add_to(&mut record));
        record.schedules = records(&self.schedules, Clone::clone);
        let manager = self.manager.lock().record();
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
