//! Items of maps: `IValueMapItem`.

use ms_pla::value_map_item::*;
use ms_pla::{IValueMapItem, IValueMapItemServer, xml};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::item::{Item, Methods, Part, Recorded, methods};
use super::number::{digits, number, variant};
use super::property::{Property, not_empty, properties};
use super::provider_record::MapItem;
use super::shared::Shared;
use super::{Calls, class};
use crate::service::objects::Refusing;

impl Part for MapItem {
    type Owner = ();
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![IValueMapItem];

    fn class(_: &Shared<Self>) -> Guid {
        class::VALUE_MAP_ITEM
    }
}

impl Recorded for MapItem {
    type Record = xml::ValueMapItem;

    fn record_mut(&mut self) -> &mut xml::ValueMapItem {
        &mut self.record
    }
}

#[rustfmt::skip]
impl IValueMapItemServer for Calls<'_, Item<MapItem>> {
    properties! {
        record {
            description: get_description(GetDescriptionRequest) GetDescriptionReply,
                put_description(PutDescriptionRequest) PutDescriptionReply;
            is_enabled: get_enabled(GetEnabledRequest) GetEnabledReply, put_enabled(PutEnabledRequest) PutEnabledReply;
            key: get_key(GetKeyRequest) GetKeyReply, put_key(PutKeyRequest) [not_empty] PutKeyReply;
        }
    }

    fn get_value(&mut self, _: &GetValueRequest) -> ServerResult<GetValueReply<'static>, HResult> {
        let item = self.object.part.lock();
        let number = item.record.value.as_deref().and_then(number);
        Ok(GetValueReply { value: variant(number, item.kind)?, status: HResult::S_OK })
    }

    fn put_value(&mut self, request: &PutValueRequest<'_>) -> ServerResult<PutValueReply, HResult> {
        let digits = digits(&request.value)?;
        self.record(|record| record.value = digits)?;
        Ok(PutValueReply { status: HResult::S_OK })
    }

    fn get_value_map_type(
        &mut self,
        _: &GetValueMapTypeRequest,
    ) -> ServerResult<GetValueMapTypeReply, HResult> {
        Ok(GetValueMapTypeReply { value: self.object.part.lock().kind, status: HResult::S_OK })
    }

    fn put_value_map_type(
        &mut self,
        request: &PutValueMapTypeRequest,
    ) -> ServerResult<PutValueMapTypeReply, HResult> {
        self.object.part.lock().kind = request.value;
        Ok(PutValueMapTypeReply { status: HResult::S_OK })
    }
}

impl IValueMapItemServer for Refusing {}
