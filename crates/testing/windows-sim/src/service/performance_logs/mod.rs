//! Performance logs and alerts [MS-PLA]: data collector sets as objects, with their collectors, schedules, data managers and
//! providers of events.
//!
//! An object is of a part of a set, which other objects may be of, too (`shared`); what a client sets of it is in the set when
//! that is stored. Nothing is collected: a set that is started says so, and its serial number grows. What the document leaves
//! open is in `gaps.toml` of this package.

mod class;
mod collection;
mod collector;
mod collector_collection;
mod collector_kinds;
mod collector_record;
mod enumerator;
mod folder_action;
mod folder_action_collection;
mod item;
mod manager;
mod number;
mod property;
mod provider;
mod provider_collection;
mod provider_record;
mod schedule;
mod schedule_collection;
mod set;
mod set_collection;
mod shared;
mod store;
mod trace;
mod value_map;
mod value_map_item;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use com::dcom::wire::Objref;
use com::oaut::{GetTypeInfoCountReply, GetTypeInfoCountRequest, IDispatchServer};
use ms_pla::xml::{DataCollectorSet, DataManager, FolderAction, Schedule, TraceDataProvider};
use ms_pla::{Category, Object, ids};
use rpc::ServerResult;
use rpc::ndr::EnumForm;
use rpc::orpc::IUnknownServer;
use wire::{FileTime, Guid, HResult};

use self::class::PlaClass;
use self::collector_record::Collector;
use self::item::{Collection, Item};
use self::provider_record::Provider;
use self::shared::{List, Shared, list, parts, records, replace, shared};
use super::objects::{ComClass, ComObject, Program};
use super::{Call, resolver_bindings};
use crate::choices::{PlaChanges, PlaChoices};
use crate::host_state::HostState;

/// The name of data collector sets in rules, counts and recordings.
pub const NAME: &str = "pla-set";

/// The classes of performance logs and alerts.
#[must_use]
pub fn classes() -> Vec<Arc<dyn ComClass>> {
    let sets = Category::ALL.map(Category::set_class).into_iter().chain([ids::DATA_COLLECTOR_SET]);
    let collections =
        Category::ALL.map(Category::collection_class).into_iter().chain([ids::DATA_COLLECTOR_SET_COLLECTION]);
    let sets = sets.map(|clsid| PlaClass::activated(clsid, class::SET_INTERFACES, set));
    let collections =
        collections.map(|clsid| PlaClass::activated(clsid, class::SET_COLLECTION_INTERFACES, set_collection));
    let others = [
        PlaClass::activated(ids::TRACE_DATA_PROVIDER, class::PROVIDER_INTERFACES, provider),
        PlaClass::activated(
            ids::TRACE_DATA_PROVIDER_COLLECTION,
            class::PROVIDER_COLLECTION_INTERFACES,
            provider_collection,
        ),
    ];
    let all = sets.chain(collections).chain(others).chain(class::RETURNED);
    all.map(|class| Arc::new(class) as Arc<dyn ComClass>).collect()
}

fn set(clsid: Guid) -> Box<dyn ComObject> {
    let category = Category::of_class(clsid);
    Box::new(Item::new(shared(Set::new(category)), category))
}

fn set_collection(clsid: Guid) -> Box<dyn ComObject> {
    Box::new(Collection::<Set>::new(&list([]), Category::of_class(clsid)))
}

fn provider(_: Guid) -> Box<dyn ComObject> {
    Box::new(Item::new(shared(Provider::new(TraceDataProvider::default())), ()))
}

fn provider_collection(_: Guid) -> Box<dyn ComObject> {
    Box::new(Collection::<Provider>::new(&list([]), ()))
}

/// [MS-PLA] 3.2.4.1: a set that a client has.
struct Set {
    /// The category of its class; none of the class for all categories.
    category: Option<Category>,
    /// Under which name it was queried or stored last.
    stored: Option<(Category, String)>,
    /// The host that was named then.
    server: Option<String>,
    /// Its properties, without parts.
    record: DataCollectorSet,
    collectors: List<Collector>,
    schedules: List<Schedule>,
    manager: Shared<Manager>,
    /// [MS-PLA] 3.2.4.1.59: values of the client's choice.
    values: BTreeMap<String, String>,
}

impl Set {
    fn new(category: Option<Category>) -> Self {
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
    fn stored(category: Option<Category>, stored: (Category, String), record: DataCollectorSet) -> Self {
        let mut set = Self { stored: Some(stored), ..Self::new(category) };
        set.fill(record);
        set
    }

    fn fill(&mut self, mut record: DataCollectorSet) {
        replace(&self.collectors, Collector::take_all(&mut record));
        replace(&self.schedules, std::mem::take(&mut record.schedules));
        self.manager.lock().fill(record.data_manager.take().unwrap_or_default());
        self.record = record;
    }

    /// All properties, with those of the parts.
    fn record(&self) -> DataCollectorSet {
        let mut record = self.record.clone();
        parts(&self.collectors).iter().for_each(|collector| collector.lock().add_to(&mut record));
        record.schedules = records(&self.schedules, Clone::clone);
        let manager = self.manager.lock().record();
        record.data_manager = (manager != DataManager::default()).then_some(manager);
        record
    }
}

/// [MS-PLA] 3.2.4.2: a data manager.
struct Manager {
    /// Its properties, without actions.
    record: DataManager,
    actions: List<FolderAction>,
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

// What a call knows, and how objects are returned and taken.

/// What a call knows beside its object.
#[derive(Clone, Copy)]
struct Context<'a> {
    host: &'a Arc<HostState>,
    program: &'a dyn Program,
    now: FileTime,
    choices: PlaChoices,
}

/// An object during one call.
struct Calls<'a, T> {
    object: &'a mut T,
    context: Context<'a>,
}

/// An object that methods return.
trait Returned: ComObject + Sized {
    /// Its class, which has its interfaces.
    fn class(&self) -> Guid;
}

impl<'a> Context<'a> {
    fn of(call: &Call<'a>, program: &'a dyn Program) -> Self {
        let choices = call.host.behaviour().choices.performance_logs;
        Self { host: call.host, program, now: call.host.source().moment().time, choices }
    }

    /// A reference to an interface of a new object.
    fn returned<T: Returned>(self, object: T, iid: Guid) -> Result<Object<'static>, HResult> {
        let std = self.program.adopt(object.class(), Box::new(object), iid, self.now)?;
        let objref = Objref::standard(iid, std, resolver_bindings(self.host));
        objref.to_pointer().map(|pointer| Some(Box::new(pointer))).map_err(|_| HResult::E_OUTOFMEMORY)
    }

    /// What `take` finds in the object that a parameter refers to, which is one of this program and not the one that is
    /// called.
    fn taken<R>(self, object: &Object<'_>, take: impl FnOnce(&dyn Any) -> Option<R>) -> Result<R, HResult> {
        let pointer = object.as_ref().ok_or(HResult::E_POINTER)?;
        let objref = Objref::from_pointer(pointer).map_err(|_| HResult::RPC_E_INVALID_OBJREF)?;
        let std = objref.std().ok_or(HResult::E_INVALIDARG)?;
        let found = self.program.object(std.ipid, self.now).ok_or(HResult::E_INVALIDARG)?;
        let locked = found.try_lock().ok_or(HResult::E_INVALIDARG)?;
        let taken = take(&**locked);
        drop(locked);
        self.program.release(std, self.now);
        taken.ok_or(HResult::E_INVALIDARG)
    }

    /// Refuses what would change what is stored, unless the host allows it.
    fn require_changes(self) -> Result<(), HResult> {
        match self.choices.pla_changes {
            PlaChanges::Refused => Err(HResult::E_ACCESSDENIED),
            PlaChanges::Allowed => Ok(()),
        }
    }
}

impl<T> IUnknownServer for Calls<'_, T> {
    fn enums(&self) -> EnumForm {
        self.context.choices.pla_enums.form()
    }
}

impl<T> IDispatchServer for Calls<'_, T> {
    /// There are no type libraries: clients know the methods.
    fn get_type_info_count(
        &mut self,
        _: &GetTypeInfoCountRequest,
    ) -> ServerResult<GetTypeInfoCountReply, HResult> {
        Ok(GetTypeInfoCountReply { count: 0, status: HResult::S_OK })
    }
}
