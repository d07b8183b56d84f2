//! Collections of providers: `ITraceDataProviderCollection`.

use ms_pla::trace_data_provider_collection::*;
use ms_pla::xml::TraceDataProvider;
use ms_pla::{ITraceDataProviderCollection, ITraceDataProviderCollectionServer, ids};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::Calls;
use super::collection::{adding_methods, collection_methods};
use super::item::{Collection, Listed, Methods, methods};
use super::provider_record::Provider;
use super::shared::shared;
use crate::model::data_collector_sets::providers;
use crate::service::objects::Refusing;

impl Listed for Provider {
    const COLLECTION: &'static [Methods<Collection<Self>>] = methods![ITraceDataProviderCollection];
    const COLLECTION_CLASS: Guid = ids::TRACE_DATA_PROVIDER_COLLECTION;

    fn identity(&self) -> Option<(String, HResult)> {
        Some((self.record.guid?.to_string(), HResult::PLA_E_NO_DUPLICATES))
    }
}

impl Calls<'_, Collection<Provider>> {
    fn fill(&self, is_wanted: impl Fn(&TraceDataProvider) -> bool) -> HResult {
        let found = providers::known().into_iter().filter(is_wanted);
        *self.object.list.lock() = found.map(Provider::new).map(shared).collect();
        HResult::S_OK
    }
}

impl ITraceDataProviderCollectionServer for Calls<'_, Collection<Provider>> {
    collection_methods!();
    adding_methods!();

    fn create_trace_data_provider(
        &mut self,
        _: &CreateTraceDataProviderRequest,
    ) -> ServerResult<CreateTraceDataProviderReply<'static>, HResult> {
        let provider = shared(Provider::new(TraceDataProvider::default()));
        Ok(CreateTraceDataProviderReply { provider: self.created(provider)?, status: HResult::S_OK })
    }

    fn get_trace_data_providers(
        &mut self,
        _: &GetTraceDataProvidersRequest,
    ) -> ServerResult<GetTraceDataProvidersReply, HResult> {
        Ok(GetTraceDataProvidersReply { status: self.fill(|_| true) })
    }

    fn get_trace_data_providers_by_process(
        &mut self,
        request: &GetTraceDataProvidersByProcessRequest,
    ) -> ServerResult<GetTraceDataProvidersByProcessReply, HResult> {
        let is_of = |provider: &TraceDataProvider| {
            providers::PROCESSES
                .iter()
                .any(|(guid, _, process_id)| provider.guid == Some(*guid) && *process_id == request.pid)
        };
        Ok(GetTraceDataProvidersByProcessReply { status: self.fill(is_of) })
    }
}

impl ITraceDataProviderCollectionServer for Refusing {}
