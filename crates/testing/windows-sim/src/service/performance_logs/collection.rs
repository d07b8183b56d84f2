//! What all collections do.

use std::collections::HashSet;
use std::sync::Arc;

use com::oaut::Value;
use ms_pla::collection::Selector;
use ms_pla::{AnyVariant, Object, number_of};
use wire::HResult;

use super::Calls;
use super::enumerator::Enumerator;
use super::item::{Collection, Item, Listed};
use super::shared::{Shared, parts};
use crate::choices::{PlaChoices, PlaIndexTypes};

/// Parts of one collection.
const PARTS_MAX: usize = 4096;

/// The index in a parameter, where it has one of the types that the host takes.
fn index(index: &AnyVariant<'_>, choices: PlaChoices) -> Result<usize, HResult> {
    let value = index.as_ref().map(|variant| &variant.value).ok_or(HResult::E_POINTER)?;
    let types = choices.pla_index_types;
    let number = match value {
        Value::I4(number) if types != PlaIndexTypes::Unsigned => u64::try_from(*number).ok(),
        Value::Ui4(number) if types != PlaIndexTypes::Signed => Some(u64::from(*number)),
        other if types == PlaIndexTypes::AnyNumber => {
            Some(number_of(other).ok_or(HResult::DISP_E_TYPEMISMATCH)?)
        }
        _ => return Err(HResult::DISP_E_TYPEMISMATCH),
    };
    number.and_then(|number| usize::try_from(number).ok()).ok_or(choices.pla_bad_index.status())
}

impl<T: Listed> Calls<'_, Collection<T>> {
    pub(super) fn count(&self) -> usize {
        self.object.list.lock().len()
    }

    pub(super) fn item(&self, at: &AnyVariant<'_>) -> Result<Object<'static>, HResult> {
        let choices = self.context.choices;
        let index = index(at, choices)?;
        let part = self.object.list.lock().get(index).map(Shared::clone);
        let part = part.ok_or(choices.pla_bad_index.status())?;
        self.created(part)
    }

    /// A reference to a part, which may not be in the collection.
    pub(super) fn created(&self, part: Shared<T>) -> Result<Object<'static>, HResult> {
        Item::new(part, self.object.owner.clone()).returned(self.context)
    }

    pub(super) fn enumerator(&self) -> Result<Object<'static>, HResult> {
        Enumerator::new(parts(&self.object.list), self.object.owner.clone()).returned(self.context)
    }

    pub(super) fn add_item(&self, object: &Object<'_>) -> Result<HResult, HResult> {
        self.extend(vec![Item::<T>::taken(self.context, object)?])
    }

    pub(super) fn add_items(&self, object: &Object<'_>) -> Result<HResult, HResult> {
        self.extend(self.context.taken(object, Collection::<T>::parts_of)?)
    }

    pub(super) fn extend(&self, added: Vec<Shared<T>>) -> Result<HResult, HResult> {
        let mut list = self.object.list.lock();
        if list.len() + added.len() > PARTS_MAX {
            return Err(HResult::E_OUTOFMEMORY);
        }
        let mut known: HashSet<String> =
            list.iter().filter_map(|part| Some(part.lock().identity()?.0)).collect();
        for part in &added {
            if let Some((identity, refusal)) = part.lock().identity()
                && !known.insert(identity)
            {
                return Err(refusal);
            }
        }
        list.extend(added);
        Ok(HResult::S_OK)
    }

    /// Removes the part at an index, or the one that an object is of.
    pub(super) fn remove_item(&self, which: &AnyVariant<'_>) -> Result<HResult, HResult> {
        let bad_index = self.context.choices.pla_bad_index.status();
        let at = match Selector::of_variant(which) {
            Ok(Selector::Object(object)) => {
                let part = Item::<T>::taken(self.context, &Some(Box::new(object)))?;
                let found = self.object.list.lock().iter().position(|known| Arc::ptr_eq(known, &part));
                found.ok_or(HResult::E_INVALIDARG)?
            }
            _ => index(which, self.context.choices)?,
        };
        let mut list = self.object.list.lock();
        if at < list.len() {
            list.remove(at);
            Ok(HResult::S_OK)
        } else {
            Err(bad_index)
        }
    }

    pub(super) fn clear_items(&self) -> HResult {
        self.object.list.lock().clear();
        HResult::S_OK
    }
}

/// The methods that all collections have.
macro_rules! collection_methods {
    () => {
        fn get_count(&mut self, _: &GetCountRequest) -> ServerResult<GetCountReply, HResult> {
            let count = self.count().try_into().map_err(|_| HResult::E_OUTOFMEMORY)?;
            Ok(GetCountReply { count, status: HResult::S_OK })
        }

        fn get_item(&mut self, request: &GetItemRequest<'_>) -> ServerResult<GetItemReply<'static>, HResult> {
            Ok(GetItemReply { item: self.item(&request.index)?, status: HResult::S_OK })
        }

        fn get_new_enum(&mut self, _: &GetNewEnumRequest) -> ServerResult<GetNewEnumReply<'static>, HResult> {
            Ok(GetNewEnumReply { enumerator: self.enumerator()?, status: HResult::S_OK })
        }

        fn remove(&mut self, request: &RemoveRequest<'_>) -> ServerResult<RemoveReply, HResult> {
            Ok(RemoveReply { status: self.remove_item(&request.item)? })
        }

        fn clear(&mut self, _: &ClearRequest) -> ServerResult<ClearReply, HResult> {
            Ok(ClearReply { status: self.clear_items() })
        }
    };
}

/// The methods that add objects.
macro_rules! adding_methods {
    () => {
        fn add(&mut self, request: &AddRequest<'_>) -> ServerResult<AddReply, HResult> {
            Ok(AddReply { status: self.add_item(&request.item)? })
        }

        fn add_range(&mut self, request: &AddRangeRequest<'_>) -> ServerResult<AddRangeReply, HResult> {
            Ok(AddRangeReply { status: self.add_items(&request.items)? })
        }
    };
}

pub(super) use {adding_methods, collection_methods};
