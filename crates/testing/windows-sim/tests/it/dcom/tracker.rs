//! The tracker of COM+: applications and their components, as a client reads them.

use std::time::Duration;

use com::comt::{
    Application, ComponentData, ContainerData, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerRequest, GetContainerDataRequest, IGetTrackingData, applications, ids,
};
use dcom::client::Object;
use rpc::orpc::ObjectInterface;
use windows_sim::choices::{CallRate, ContainerList};
use wire::Guid;

use super::{World, soon};

async fn tracker(world: &World) -> Object {
    world.activate(ids::TRACKER_SERVICE_CLASS, IGetTrackingData::IID).await.unwrap()
}

async fn containers(tracker: &mut Object) -> Vec<ContainerData> {
    let mut proxy = tracker.proxy::<IGetTrackingData>(soon()).await.unwrap();
    proxy.call(&GetContainerDataRequest {}).await.unwrap().containers().unwrap().to_vec()
}

async fn components(tracker: &mut Object, container: u32) -> Vec<ComponentData> {
    let mut proxy = tracker.proxy::<IGetTrackingData>(soon()).await.unwrap();
    let reply = proxy.call(&GetComponentDataByContainerRequest { container }).await.unwrap();
    reply.components().unwrap().to_vec()
}

/// The applications in their order: Orders, Billing, Reports, Archive.
async fn read(world: &World) -> Vec<Application> {
    let mut tracker = tracker(world).await;
    let applications = applications(&containers(&mut tracker).await);
    assert_eq!(applications.dropped, [0; 0]);
    tracker.release(soon()).await.unwrap();
    applications.found
}

fn of_application(containers: &[ContainerData], application: usize) -> Vec<&ContainerData> {
    let id = applications(containers).found[application].id;
    containers.iter().filter(|one| one.application.guid() == Ok(id)).collect()
}

#[tokio::test]
async fn applications_are_listed_with_components_that_add_up() {
    let world = World::new().await;
    let mut tracker = tracker(&world).await;
    let all = containers(&mut tracker).await;
    let applications = applications(&all).found;
    let containers_of: Vec<usize> = applications.iter().map(|one| one.containers.len()).collect();
    assert_eq!(containers_of, [1, 2, 1, 1]);
    for container in of_application(&all, 0).into_iter().chain(of_application(&all, 1)) {
        let found = components(&mut tracker, container.legacy_id).await;
        let sum = |figure: fn(&ComponentData) -> Option<u32>| {
            found.iter().map(|one| figure(one).unwrap()).sum::<u32>()
        };
        let calls = sum(|one| one.calls_completed.get()) + sum(|one| one.calls_failed.get());
        let statistics = container.statistics;
        assert!(calls > 0 && sum(|one| one.response_time_ms.get()) > 0, "{found:?}");
        assert_eq!(statistics.calls_per_second, calls / 4);
        assert_eq!(statistics.calls, sum(|one| one.instances_in_call.get()));
        assert_eq!(statistics.components, u32::try_from(found.len()).unwrap());
        assert!(statistics.instances >= statistics.calls + sum(|one| one.pooled_instances.get()));
        let (container, clsid) = (container.legacy_id, found[1].clsid);
        let mut proxy = tracker.proxy::<IGetTrackingData>(soon()).await.unwrap();
        let one = proxy.call(&GetComponentDataByContainerAndClsidRequest { container, clsid }).await.unwrap();
        assert_eq!(*one.data.unwrap(), found[1]);
    }
    let untracked = components(&mut tracker, applications[3].containers[0]).await;
    assert_eq!((untracked[0].calls_completed.get(), untracked[0].total_references.get()), (None, None));
}

#[tokio::test]
async fn figures_change_with_the_clock_and_only_with_it() {
    let world = World::new().await;
    let before = read(&world).await;
    assert_eq!(read(&world).await, before);
    world.clock.advance(Duration::from_secs(60));
    assert_ne!(read(&world).await, before);
}

#[tokio::test]
async fn an_application_is_paused_and_another_one_recycled() {
    let world = World::new().await;
    // The host has been up for 86820 s, seven minutes into a period of ten.
    world.clock.advance(Duration::from_secs(160));
    let paused = &read(&world).await[1];
    assert_eq!((paused.calls, paused.calls_per_second), (0, 0), "{paused:?}");
    // And seven minutes into a period of fifteen.
    world.clock.advance(Duration::from_secs(325));
    let applications = read(&world).await;
    assert!(applications[1].calls_per_second > 0, "{applications:?}");
    let [old, new] = applications[2].containers[..] else { panic!("{applications:?}") };
    let draining = components(&mut tracker(&world).await, old).await;
    assert_eq!(draining.iter().map(|one| one.calls_completed.get().unwrap()).sum::<u32>(), 0);
    world.clock.advance(Duration::from_secs(20));
    assert_eq!(read(&world).await[2].containers, [new]);
}

#[tokio::test]
async fn what_documents_leave_open_is_chosen() {
    let world = World::new().await;
    let mut tracker = tracker(&world).await;
    let each = containers(&mut tracker).await;
    world.host.change_behaviour(|behaviour| {
        behaviour.choices.com_plus.container_list = ContainerList::Applications;
    });
    let averages = containers(&mut tracker).await;
    assert_eq!((each.len(), averages.len()), (5, 4));
    let [first, second] = of_application(&each, 1)[..] else { panic!("{each:?}") };
    let [average] = of_application(&averages, 1)[..] else { panic!("{averages:?}") };
    let sum = first.statistics.calls_per_second + second.statistics.calls_per_second;
    assert_eq!((average.legacy_id, average.statistics.calls_per_second), (first.legacy_id, sum / 2));
    world.host.change_behaviour(|behaviour| behaviour.choices.com_plus.call_rate = CallRate::Zero);
    let silent = containers(&mut tracker).await;
    assert!(silent.iter().all(|one| one.statistics.calls_per_second == 0 && one.statistics.instances > 0));
}

#[tokio::test]
async fn what_is_not_there_is_refused() {
    let world = World::new().await;
    let mut tracker = tracker(&world).await;
    let container = containers(&mut tracker).await[0].legacy_id;
    let mut proxy = tracker.proxy::<IGetTrackingData>(soon()).await.unwrap();
    let nobodys = GetComponentDataByContainerRequest { container: 9999 };
    let error = proxy.call(&nobodys).await.unwrap_err();
    assert!(error.to_string().contains("E_INVALIDARG"), "{error}");
    let clsid = Guid::from_u128(1);
    let request = GetComponentDataByContainerAndClsidRequest { container, clsid };
    let error = proxy.call(&request).await.unwrap_err();
    assert!(error.to_string().contains("E_INVALIDARG"), "{error}");
    world.host.change_behaviour(|behaviour| {
        behaviour.rules = vec!["tracker/4x1=status:0x80070005".parse().unwrap()];
    });
    let error = proxy.call(&GetContainerDataRequest {}).await.unwrap_err();
    assert_eq!(error.to_string(), "get container data: E_ACCESSDENIED");
    proxy.call(&GetContainerDataRequest {}).await.unwrap();
}
