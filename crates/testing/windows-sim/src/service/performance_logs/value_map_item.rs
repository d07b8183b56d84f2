//! Items of maps: `IValueMapItem`.

use dcerpc::FaultStatus;
use ms_dtyp::{Guid, HResult};
use ms_oaut::IDispatch;
use ms_pla::value_map_item::*;
use ms_pla::{IValueMapItem, IValueMapItemServer, xml};
use rpc_stub::orpc::ObjectInterface;
use rpc_stub::{CallInfo, ServerResult};

use super::class;
use super::context::Calls;
use super::item::{Item, Part};
use super::number::{digits, number, variant};
use super::property::{Property, properties};
use super::provider_record::MapItem;
use super::shared::Shared;
use crate::service::objects::Refusing;
use crate::service::{Call, lock};

impl Part for MapItem {
    type Owner = ();
    const IID: Guid = IValueMapItem::IID;

    fn class(_: &Shared<Self>) -> Guid {
        class::VALUE_MAP_ITEM
    }

    fn dispatch(
        calls: &mut Calls<'_, Item<Self>>,
        iid: Guid,
        info: &CallInfo,
        call: &Call<'_>,
    ) -> Result<Vec<u8>, FaultStatus> {
        match iid {
            IValueMapItem::IID => IValueMapItem::dispatch(calls, info, call.opnum, call.stub),
            _ => IDispatch::dispatch(calls, info, call.opnum, call.stub),
        }
    }
}

impl Calls<'_, Item<MapItem>> {
    fn record<R>(&self, read: impl FnOnce(&mut xml::ValueMapItem) -> R) -> Result<R, HResult> {
        Ok(read(&mut lock(&self.object.part).record))
    }
}

#[rustfmt::skip]
impl IValueMapItemServer for Calls<'_, Item<MapItem>> {
    properties! {
        record {
            description: get_description(GetDescriptionRequest) GetDescriptionReply,
                put_description(PutDescriptionRequest) PutDescriptionReply;
            is_enabled: get_enabled(GetEnabledRequest) GetEnabledReply, put_enabled(PutEnabledRequest) PutEnabledReply;
            key: get_key(GetKeyRequest) GetKeyReply, put_key(PutKeyRequest) PutKeyReply;
        }
    }

    fn get_value(&mut self, _: &GetValueRequest) -> ServerResult<GetValueReply<'static>, HResult> {
        let item = lock(&self.object.part);
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
        Ok(GetValueMapTypeReply { value: lock(&self.object.part).kind, status: HResult::S_OK })
    }

    fn put_value_map_type(
        &mut self,
        request: &PutValueMapTypeRequest,
    ) -> ServerResult<PutValueMapTypeReply, HResult> {
        lock(&self.object.part).kind = request.value;
        Ok(PutValueMapTypeReply { status: HResult::S_OK })
    }
}

impl IValueMapItemServer for Refusing {}
