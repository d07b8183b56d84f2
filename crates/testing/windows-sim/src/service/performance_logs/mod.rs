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
mod context;
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
mod set_record;
mod shared;
mod store;
mod trace;
mod value_map;
mod value_map_item;

use std::sync::Arc;

use ms_pla::xml::TraceDataProvider;
use ms_pla::{Category, ids};
use wire::Guid;

use self::class::PlaClass;
use self::item::{Collection, Item};
use self::provider_record::Provider;
use self::set_record::Set;
use self::shared::{list, shared};
use super::objects::{ComClass, ComObject};

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
