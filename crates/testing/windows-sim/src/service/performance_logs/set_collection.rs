//! Collections of sets: `IDataCollectorSetCollection`.

use ms_pla::data_collector_set_collection::*;
use ms_pla::{IDataCollectorSetCollection, IDataCollectorSetCollectionServer, ids};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collection::{adding_methods, collection_methods};
use super::item::{Collection, Listed, Methods, methods};
use super::shared::shared;
use super::store::shown;
use super::{Calls, Set};
use crate::choices::PlaOrder;
use crate::service::objects::Refusing;

impl Listed for Set {
    const COLLECTION: &'static [Methods<Collection<Self>>] = methods![IDataCollectorSetCollection];
    const COLLECTION_CLASS: Guid = ids::DATA_COLLECTOR_SET_COLLECTION;
}

impl IDataCollectorSetCollectionServer for Calls<'_, Collection<Set>> {
    collection_methods!();
    adding_methods!();

    /// Replaces what is in the collection. Filters mean nothing.
    fn get_data_collector_sets(
        &mut self,
        _: &GetDataCollectorSetsRequest,
    ) -> ServerResult<GetDataCollectorSetsReply, HResult> {
        let (category, now) = (self.object.owner, self.context.now);
        let mut stored = self.context.host.data_collector_sets().list(category, now);
        match self.context.choices.pla_order {
            PlaOrder::AsStored => {}
            PlaOrder::ByName => stored.sort_by_key(|set| set.name.to_lowercase()),
            PlaOrder::NewestFirst => stored.reverse(),
        }
        let set = |found: &crate::model::data_collector_sets::StoredSet| {
            Set::stored(category, (found.category, found.name.clone()), shown(found, now))
        };
        *self.object.list.lock() = stored.iter().map(set).map(shared).collect();
        Ok(GetDataCollectorSetsReply { status: HResult::S_OK })
    }
}

impl IDataCollectorSetCollectionServer for Refusing {}
