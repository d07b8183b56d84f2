//! Rules for single calls, which refuse methods of each interface.

use com::oaut::{GetTypeInfoCountRequest, IDispatch};
use ms_pla::data_collector_set::{GetDataCollectorsRequest, GetDataManagerRequest, GetStatusRequest};
use ms_pla::{
    IDataCollectorCollection, IDataCollectorSet, IDataManager, data_collector_collection, data_manager,
};
use wire::HResult;

use super::{calls, failed, returned, server_set};
use crate::dcom::{World, soon};

#[tokio::test]
async fn a_rule_refuses_a_method_of_a_set_and_of_its_parts() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let collectors = returned!(set, proxy, GetDataCollectorsRequest {}, value => IDataCollectorCollection);
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let manager = returned!(set, proxy, GetDataManagerRequest {}, value => IDataManager);
    let rules = [
        "pla-set/33x1=status:0x80070005",
        "pla-collector-collection/7x1=status:0x8000ffff",
        "pla-manager/7x1=status:0x80004005",
    ];
    let rules = rules.map(|rule| rule.parse().unwrap());
    world.host.change_behaviour(|behaviour| behaviour.rules = rules.into());
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    assert_eq!(failed(proxy.call(&GetStatusRequest {}).await), HResult::E_ACCESSDENIED);
    proxy.call(&GetStatusRequest {}).await.unwrap();
    let count = data_collector_collection::GetCountRequest {};
    assert_eq!(failed(calls!(set, collectors).call(&count).await), HResult::E_UNEXPECTED);
    let enabled = data_manager::GetEnabledRequest {};
    assert_eq!(failed(calls!(set, manager).call(&enabled).await), HResult::E_FAIL);
}

#[tokio::test]
async fn each_object_is_asked_for_its_type_and_has_none() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let mut proxy = set.proxy::<IDispatch>(soon()).await.unwrap();
    assert_eq!(proxy.call(&GetTypeInfoCountRequest {}).await.unwrap().count, 0);
}
