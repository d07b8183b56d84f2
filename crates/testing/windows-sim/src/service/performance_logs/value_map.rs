//! Maps: `IValueMap`.

use com::oaut::Value;
use ms_pla::value_map::*;
use ms_pla::{
    AnyVariant, ChosenValue, IValueMap, IValueMapServer, Object, ValueMap, ValueMapItem, ValueMapType,
    number_of, xml,
};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collection::collection_methods;
use super::item::{Collection, Item, Listed, Methods, Part, methods};
use super::number::{digits, number, variant};
use super::property::{Property, text};
use super::provider_record::{Map, MapItem};
use super::shared::{Shared, parts, records, shared};
use super::{Calls, class};
use crate::service::objects::Refusing;

impl MapItem {
    fn of_number(digits: String, kind: ValueMapType) -> Self {
        let record = xml::ValueMapItem { value: Some(digits), is_enabled: Some(true), ..Default::default() };
        Self { record, kind }
    }

    fn number(&self) -> u64 {
        self.record.value.as_deref().and_then(number).unwrap_or(0)
    }

    fn item(&self) -> ValueMapItem {
        ValueMapItem {
            key: self.record.key.clone().unwrap_or_default(),
            description: self.record.description.clone().unwrap_or_default(),
            is_enabled: self.record.is_enabled.unwrap_or(false),
            value: self.number(),
        }
    }
}

impl Map {
    /// [MS-PLA] 2.2.2.11: what the items that are enabled are together. A map without items has a value of its own.
    fn number(&self) -> Option<u64> {
        let items = records(&self.items, MapItem::item);
        if items.is_empty() {
            return self.value.as_deref().and_then(number);
        }
        match (ValueMap { kind: self.kind, items }).value() {
            ChosenValue::One(value) | ChosenValue::Flags(value) => Some(value),
            ChosenValue::None | ChosenValue::Each(_) | ChosenValue::Results(_) => None,
        }
    }

    /// Enables the items that are together this number.
    fn choose(&mut self, chosen: Option<String>) {
        let number = chosen.as_deref().and_then(number);
        for item in parts(&self.items) {
            let mut item = item.lock();
            let own = item.number();
            let is_enabled = match self.kind {
                ValueMapType::FLAG => number.is_some_and(|number| own != 0 && number & own == own),
                _ => number == Some(own),
            };
            item.record.is_enabled = Some(is_enabled);
        }
        self.value = chosen;
    }

    /// Copies of its items.
    pub(super) fn items(&self) -> Vec<MapItem> {
        records(&self.items, |item| MapItem { record: item.record.clone(), kind: item.kind })
    }

    /// Takes the items of another map, of which those are enabled that make up the value of this one.
    pub(super) fn resolve(&mut self, items: Vec<MapItem>) {
        let value = self.number().map(|number| format!("{number:#x}"));
        *self.items.lock() = items.into_iter().map(shared).collect();
        self.choose(value);
    }
}

/// The object of a map is a collection of its items.
impl Part for Map {
    type Owner = ();
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![IValueMap];

    fn class(_: &Shared<Self>) -> Guid {
        class::VALUE_MAP
    }
}

impl Listed for MapItem {
    /// A map is called as such, and not as the collection that is in it.
    const COLLECTION: &'static [Methods<Collection<Self>>] = &[];
    const COLLECTION_CLASS: Guid = class::VALUE_MAP;
}

impl Calls<'_, Item<Map>> {
    fn map<R>(&self, read: impl FnOnce(&mut Map) -> R) -> R {
        read(&mut self.object.part.lock())
    }

    /// Does something with the collection of its items.
    fn items<R>(&self, act: impl FnOnce(&mut Calls<'_, Collection<MapItem>>) -> R) -> R {
        let mut collection = self.map(|map| Collection::new(&map.items, ()));
        act(&mut Calls { object: &mut collection, context: self.context })
    }

    fn count(&self) -> usize {
        self.items(|items| items.count())
    }

    fn item(&self, at: &AnyVariant<'_>) -> Result<Object<'static>, HResult> {
        self.items(|items| items.item(at))
    }

    fn enumerator(&self) -> Result<Object<'static>, HResult> {
        self.items(|items| items.enumerator())
    }

    fn remove_item(&self, which: &AnyVariant<'_>) -> Result<HResult, HResult> {
        self.items(|items| items.remove_item(which))
    }

    fn clear_items(&self) -> HResult {
        self.items(|items| items.clear_items())
    }

    //= [MS-PLA] 3.2.4.18.10
    //# If the variant type is VT_DISPATCH, then it is interpreted as a value map item to be added.
    fn add_value(&self, value: &AnyVariant<'_>) -> Result<HResult, HResult> {
        match value.as_ref().map(|variant| &variant.value) {
            Some(Value::Dispatch(object)) => self.items(|items| items.add_item(object)),
            Some(Value::Bstr(key)) if number_of(&Value::Bstr(key.clone())).is_none() => {
                let key = text(key)?;
                let items = self.map(|map| parts(&map.items));
                let is_meant = |item: &&Shared<MapItem>| item.lock().record.key.as_ref() == Some(&key);
                let item = items.iter().find(is_meant).ok_or(HResult::E_INVALIDARG)?;
                item.lock().record.is_enabled = Some(true);
                Ok(HResult::S_OK)
            }
            Some(Value::I4(_) | Value::Ui4(_) | Value::I8(_) | Value::Ui8(_) | Value::Bstr(_)) => {
                let kind = self.map(|map| map.kind);
                let digits = digits(value)?.unwrap_or_default();
                self.items(|items| items.extend(vec![shared(MapItem::of_number(digits, kind))]))
            }
            _ => Err(HResult::DISP_E_TYPEMISMATCH),
        }
    }
}

impl IValueMapServer for Calls<'_, Item<Map>> {
    collection_methods!();

    fn get_description(&mut self, _: &GetDescriptionRequest) -> ServerResult<GetDescriptionReply, HResult> {
        let value = self.map(|map| map.description.to_wire(self.context.choices))?;
        Ok(GetDescriptionReply { value, status: HResult::S_OK })
    }

    fn put_description(
        &mut self,
        request: &PutDescriptionRequest,
    ) -> ServerResult<PutDescriptionReply, HResult> {
        self.map(|map| map.description.set(&request.value))?;
        Ok(PutDescriptionReply { status: HResult::S_OK })
    }

    fn get_value(&mut self, _: &GetValueRequest) -> ServerResult<GetValueReply<'static>, HResult> {
        let (number, kind) = self.map(|map| (map.number(), map.kind));
        Ok(GetValueReply { value: variant(number, kind)?, status: HResult::S_OK })
    }

    fn put_value(&mut self, request: &PutValueRequest<'_>) -> ServerResult<PutValueReply, HResult> {
        let chosen = digits(&request.value)?;
        self.map(|map| map.choose(chosen));
        Ok(PutValueReply { status: HResult::S_OK })
    }

    fn get_value_map_type(
        &mut self,
        _: &GetValueMapTypeRequest,
    ) -> ServerResult<GetValueMapTypeReply, HResult> {
        Ok(GetValueMapTypeReply { value: self.map(|map| map.kind), status: HResult::S_OK })
    }

    fn put_value_map_type(
        &mut self,
        request: &PutValueMapTypeRequest,
    ) -> ServerResult<PutValueMapTypeReply, HResult> {
        self.map(|map| map.kind = request.value);
        Ok(PutValueMapTypeReply { status: HResult::S_OK })
    }

    fn add(&mut self, request: &AddRequest<'_>) -> ServerResult<AddReply, HResult> {
        Ok(AddReply { status: self.add_value(&request.value)? })
    }

    fn add_range(&mut self, request: &AddRangeRequest<'_>) -> ServerResult<AddRangeReply, HResult> {
        let other = Item::<Map>::taken(self.context, &request.items)?;
        let added = parts(&other.lock().items);
        Ok(AddRangeReply { status: self.items(|items| items.extend(added))? })
    }

    fn create_value_map_item(
        &mut self,
        _: &CreateValueMapItemRequest,
    ) -> ServerResult<CreateValueMapItemReply<'static>, HResult> {
        let item = MapItem { kind: self.map(|map| map.kind), ..MapItem::default() };
        let item = self.items(|items| items.created(shared(item)))?;
        Ok(CreateValueMapItemReply { item, status: HResult::S_OK })
    }
}

impl IValueMapServer for Refusing {}
