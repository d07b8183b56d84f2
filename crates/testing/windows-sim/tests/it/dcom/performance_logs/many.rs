//! A host with very many sets.

use com::oaut::Bstr;
use ms_pla::collection::items;
use ms_pla::data_collector_set_collection::GetDataCollectorSetsRequest;
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use rpc::orpc::ObjectInterface;
use windows_sim::model::data_collector_sets::{COLLECTORS, SetError, Store, generated};

use super::{calls, get, record, server_set, taken, text};
use crate::dcom::{World, soon};

const SETS: usize = 500;

#[tokio::test]
async fn five_hundred_sets_with_ten_collectors_each_are_listed_and_read() {
    let world = World::new().await;
    for set in generated(SETS) {
        let name = set.name.clone().unwrap();
        world.host.store_data_collector_set(Category::Server, &name, set.clone(), Store::New).unwrap();
        let again = world.host.store_data_collector_set(Category::Server, &name, set, Store::New);
        assert_eq!(again, Err(SetError::Exists));
    }
    let class = Category::Server.collection_class();
    let mut sets = world.activate(class, IDataCollectorSetCollection::IID).await.unwrap();
    let mut proxy = sets.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
    proxy.call(&GetDataCollectorSetsRequest { server: Bstr(None), filter: Bstr(None) }).await.unwrap();
    let references = items(&mut proxy, 1024).await.unwrap();
    let own = references.len() - SETS;
    let mut names = std::collections::BTreeSet::new();
    for reference in &references[own..] {
        let set = taken::<IDataCollectorSet>(&mut sets, reference).await;
        let request = ms_pla::data_collector_set::GetNameRequest {};
        names.insert(text(&get!(sets, set, request)));
        sets.release_returned(set, soon()).await.unwrap();
    }
    assert_eq!((names.len(), names.last().map(String::as_str)), (SETS, Some("Generated 0500")));
    let last = record(&mut server_set(&world, "Generated 0500").await).await;
    assert_eq!(last.counters.len() + last.alerts.len(), COLLECTORS);
    assert_eq!((last.alerts[1].alerts.len(), last.counters[7].counters.len()), (5, 5));
}
