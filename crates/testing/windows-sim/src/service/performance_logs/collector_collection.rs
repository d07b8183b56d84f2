//! Collections of collectors: `IDataCollectorCollection`.

use ms_pla::data_collector_collection::*;
use ms_pla::{IDataCollectorCollection, IDataCollectorCollectionServer};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collection::collection_methods;
use super::collector_record::Collector;
use super::item::{Collection, Item, Listed, Methods, methods};
use super::property::text;
use super::provider_record::Map;
use super::shared::shared;
use super::{Calls, class};
use crate::service::objects::Refusing;

impl Listed for Collector {
    const COLLECTION: &'static [Methods<Collection<Self>>] = methods![IDataCollectorCollection];
    const COLLECTION_CLASS: Guid = class::COLLECTOR_COLLECTION;

    fn identity(&self) -> Option<(String, HResult)> {
        Some((self.head.name.as_ref()?.to_lowercase(), HResult::PLA_E_DC_ALREADY_EXISTS))
    }
}

impl IDataCollectorCollectionServer for Calls<'_, Collection<Collector>> {
    collection_methods!();

    fn add(&mut self, request: &AddRequest<'_>) -> ServerResult<AddReply, HResult> {
        Ok(AddReply { status: self.add_item(&request.item)? })
    }

    //= [MS-PLA] <34>
    //# On Windows, the IDataCollectorCollection::AddRange method will return an error
    fn add_range(&mut self, _: &AddRangeRequest<'_>) -> ServerResult<AddRangeReply, HResult> {
        Err(HResult::E_NOTIMPL.into())
    }

    fn create_data_collector_from_xml(
        &mut self,
        request: &CreateDataCollectorFromXmlRequest,
    ) -> ServerResult<CreateDataCollectorFromXmlReply<'static>, HResult> {
        let collector = Collector::of_xml(&text(&request.xml)?)?;
        let map = Item::new(shared(Map::of_findings(Vec::new())), ());
        Ok(CreateDataCollectorFromXmlReply {
            validation: map.returned(self.context)?,
            collector: self.created(shared(collector))?,
            status: HResult::S_OK,
        })
    }

    fn create_data_collector(
        &mut self,
        request: &CreateDataCollectorRequest,
    ) -> ServerResult<CreateDataCollectorReply<'static>, HResult> {
        let collector = Collector::of_kind(request.kind).ok_or(HResult::E_INVALIDARG)?;
        Ok(CreateDataCollectorReply { collector: self.created(shared(collector))?, status: HResult::S_OK })
    }
}

impl IDataCollectorCollectionServer for Refusing {}
