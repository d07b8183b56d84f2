//! What clients store, check and remove, where the host allows it.

use dcom_runtime::Object;
use ms_dtyp::HResult;
use ms_oaut::{ArrayParameter, Bstr, Value, VariantBool};
use ms_pla::data_collector_set::*;
use ms_pla::xml::DataCollectorSet;
use ms_pla::{
    Category, CommitMode, DataCollectorType, IAlertDataCollector, IDataCollector, IDataCollectorCollection,
    IDataCollectorSet, IValueMap, IValueMapItem, Password, alert_data_collector, data_collector,
    data_collector_collection, value_map_item,
};
use rpc_stub::orpc::ObjectInterface;
use windows_sim::choices::{PlaChanges, PlaChoices};

use super::{all_of, bstr, calls, failed, record, returned, server_set, status, text};
use crate::dcom::{World, soon};

fn allow(world: &World) {
    let choices = PlaChoices { pla_changes: PlaChanges::Allowed, ..PlaChoices::default() };
    world.host.change_behaviour(|behaviour| behaviour.choices.performance_logs = choices);
}

/// The status of a commit, and which properties are ignored or wrong.
async fn commit(set: &mut Object, name: &str, mode: CommitMode) -> (HResult, Vec<(String, HResult)>) {
    let request = CommitRequest { name: bstr(name), server: Bstr(None), mode };
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let stub = proxy.stub(&request).await.unwrap();
    let reply = proxy.decode(&request, &stub).unwrap().1;
    let status = reply.status;
    let Some(pointer) = &reply.validation else { return (status, Vec::new()) };
    let objref = ms_dcom::wire::Objref::from_pointer(pointer).unwrap().into_owned();
    let map = set.take_returned::<IValueMap>(&objref, soon()).await.unwrap();
    let mut results = Vec::new();
    for item in all_of::<_, IValueMapItem>(set, &map).await {
        let mut proxy = calls!(set, item);
        let key = text(&proxy.call(&value_map_item::GetKeyRequest {}).await.unwrap().value);
        let stub = proxy.stub(&value_map_item::GetValueRequest {}).await.unwrap();
        let reply = proxy.decode(&value_map_item::GetValueRequest {}, &stub).unwrap().1;
        let Value::I4(result) = reply.value.as_ref().unwrap().value else { panic!("{reply:?}") };
        results.push((key, HResult(result.cast_unsigned())));
    }
    (status, results)
}

#[tokio::test]
async fn nothing_is_stored_or_removed_unless_the_host_allows_it() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let mode = CommitMode::CREATE_OR_MODIFY;
    assert_eq!(commit(&mut set, "Low Memory", mode).await.0, HResult::E_ACCESSDENIED);
    assert_eq!(commit(&mut set, "Low Memory", CommitMode::VALIDATE_ONLY).await.0, HResult::S_OK);
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    assert_eq!(failed(proxy.call(&DeleteRequest {}).await), HResult::E_ACCESSDENIED);
}

#[tokio::test]
async fn a_set_with_an_alert_is_made_by_its_objects_and_stored() {
    let world = World::new().await;
    allow(&world);
    let mut set = world.activate(Category::Server.set_class(), IDataCollectorSet::IID).await.unwrap();
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let collection = returned!(set, proxy, GetDataCollectorsRequest {}, value => IDataCollectorCollection);
    let proxy = calls!(set, collection);
    let kind = DataCollectorType::ALERT;
    let request = data_collector_collection::CreateDataCollectorRequest { kind };
    let stub = { proxy }.stub(&request).await.unwrap();
    let proxy = calls!(set, collection);
    let reply = proxy.decode(&request, &stub).unwrap().1;
    let pointer = reply.collector.unwrap();
    let objref = ms_dcom::wire::Objref::from_pointer(&pointer).unwrap().into_owned();
    let alert = set.take_returned::<IAlertDataCollector>(&objref, soon()).await.unwrap();
    let mut proxy = calls!(set, alert);
    let value = ArrayParameter::of_bstrs(vec![bstr(r"\Memory\Available MBytes<50")]).unwrap();
    proxy.call(&alert_data_collector::PutAlertThresholdsRequest { value }).await.unwrap();
    proxy.call(&alert_data_collector::PutSampleIntervalRequest { value: 3 }).await.unwrap();
    proxy.call(&data_collector::PutNameRequest { value: bstr("Now") }).await.unwrap();
    assert_eq!(record(&mut set).await.alerts, [], "it is not yet in the collection");
    let add = data_collector_collection::AddRequest { item: Some(pointer) };
    calls!(set, collection).call(&add).await.unwrap();
    assert_eq!(commit(&mut set, "New", CommitMode::MODIFY).await.0, HResult::PLA_E_DCS_NOT_FOUND);
    assert_eq!(commit(&mut set, "New", CommitMode::CREATE_NEW).await, (HResult::S_OK, Vec::new()));
    assert_eq!(commit(&mut set, "new", CommitMode::CREATE_NEW).await.0, HResult::PLA_E_DCS_ALREADY_EXISTS);
    let now = world.clock.now();
    let stored = world.host.data_collector_sets().find(Category::Server, "New", now).unwrap().set;
    assert_eq!(stored.alerts[0].alerts, [r"\Memory\Available MBytes<50"]);
    assert_eq!(
        (stored.alerts[0].sample_interval_s, stored.alerts[0].name.as_deref()),
        (Some(3), Some("Now"))
    );

    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    proxy.call(&StartRequest { synchronous: VariantBool::TRUE }).await.unwrap();
    assert_eq!(failed(proxy.call(&DeleteRequest {}).await), HResult::PLA_E_DCS_IN_USE);
    proxy.call(&StopRequest { synchronous: VariantBool::TRUE }).await.unwrap();
    proxy.call(&DeleteRequest {}).await.unwrap();
    assert_eq!(failed(proxy.call(&DeleteRequest {}).await), HResult::PLA_E_DCS_NOT_FOUND);
}

#[tokio::test]
async fn a_set_is_made_of_xml_and_what_only_hosts_write_stays() {
    let world = World::new().await;
    allow(&world);
    let mut set = server_set(&world, "Low Memory").await;
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let deep = format!("<DataCollectorSet>{}", "<x>".repeat(100_000));
    let names = format!("<DataCollectorSet>{}</DataCollectorSet>", "<x/>".repeat(200_001));
    for wrong in [
        "",
        "<DataCollectorSet>",
        "<Set/>",
        "<DataCollectorSet><Duration>x</Duration></DataCollectorSet>",
        "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><DataCollectorSet><Name>&b;</Name></DataCollectorSet>",
        "<!DOCTYPE x SYSTEM 'file:///etc/passwd'><DataCollectorSet/>",
        &deep,
        &names,
    ] {
        assert_eq!(status!(proxy, SetXmlRequest { xml: bstr(wrong) }), HResult::E_INVALIDARG);
    }
    let xml = "<DataCollectorSet><Name>Other</Name><Duration>5</Duration><TaskArguments>x</TaskArguments>\
        <AlertDataCollector><FileName>f</FileName><Alert>\\A\\B&gt;1</Alert></AlertDataCollector></DataCollectorSet>";
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let map = returned!(set, proxy, SetXmlRequest { xml: bstr(xml) }, validation => IValueMap);
    assert_eq!(all_of::<_, IValueMapItem>(&mut set, &map).await.len(), 2);
    let DataCollectorSet { name, duration_s, alerts, security, .. } = record(&mut set).await;
    assert_eq!((name.as_deref(), duration_s, security), (Some("Low Memory"), Some(5), None));
    assert_eq!(alerts[0].alerts, [r"\A\B>1"]);
    let ignored = |path: &str| (path.to_owned(), HResult::PLA_S_PROPERTY_IGNORED);
    let expected = vec![ignored("TaskArguments"), ignored("AlertDataCollector[1]/FileName")];
    assert_eq!(commit(&mut set, "Low Memory", CommitMode::MODIFY).await, (HResult::S_OK, expected));
    let mut again = server_set(&world, "Low Memory").await;
    assert_eq!(record(&mut again).await.duration_s, Some(5));
}

#[tokio::test]
async fn properties_in_conflict_are_not_stored() {
    let world = World::new().await;
    allow(&world);
    let mut set = server_set(&world, "Order Service").await;
    let xml = r"<DataCollectorSet>
        <ApiTracingDataCollector><ExePath>orders.exe</ExePath></ApiTracingDataCollector>
        <ApiTracingDataCollector/>
        <PerformanceCounterDataCollector><LogFileFormat>2</LogFileFormat></PerformanceCounterDataCollector>
        <PerformanceCounterDataCollector><LogFileFormat>3</LogFileFormat><LogCircular>-1</LogCircular>
            <LogAppend>-1</LogAppend></PerformanceCounterDataCollector></DataCollectorSet>";
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    returned!(set, proxy, SetXmlRequest { xml: bstr(xml) }, validation => IValueMap);
    let wrong = |path: &str, result| (path.to_owned(), result);
    let conflict = HResult::PLA_E_PROPERTY_CONFLICT;
    let expected = [
        wrong("PerformanceCounterDataCollector[1]/DataSourceName", conflict),
        wrong("PerformanceCounterDataCollector[2]/LogCircular", conflict),
        wrong("PerformanceCounterDataCollector[2]/LogAppend", conflict),
        wrong("ApiTracingDataCollector[1]/ExePath", HResult::PLA_E_EXE_FULL_PATH_REQUIRED),
        wrong("ApiTracingDataCollector[2]/ExePath", conflict),
    ];
    let (status, results) = commit(&mut set, "Order Service", CommitMode::MODIFY).await;
    assert_eq!((status, &results[..]), (conflict, &expected[..]));
    let now = world.clock.now();
    let stored = world.host.data_collector_sets().find(Category::Server, "Order Service", now).unwrap();
    assert_eq!(stored.set.api_traces.len(), 1, "it is as it was");
}

#[tokio::test]
async fn collectors_come_from_xml_and_ranges_of_them_are_refused_as_windows_does() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let collection = returned!(set, proxy, GetDataCollectorsRequest {}, value => IDataCollectorCollection);
    let xml = bstr("<TraceDataCollector><Name>T</Name></TraceDataCollector>");
    let proxy = calls!(set, collection);
    let request = data_collector_collection::CreateDataCollectorFromXmlRequest { xml };
    let trace = returned!(set, proxy, request, collector => IDataCollector);
    let mut proxy = calls!(set, trace);
    let kind = proxy.call(&data_collector::GetDataCollectorTypeRequest {}).await.unwrap().value;
    assert_eq!(kind, DataCollectorType::TRACE);
    let mut proxy = calls!(set, collection);
    let range = data_collector_collection::AddRangeRequest { items: None };
    assert_eq!(failed(proxy.call(&range).await), HResult::E_NOTIMPL);
    let xml = bstr("<Collector/>");
    let request = data_collector_collection::CreateDataCollectorFromXmlRequest { xml };
    assert_eq!(status!(proxy, request), HResult::E_INVALIDARG);
    let kind = DataCollectorType(5);
    let request = data_collector_collection::CreateDataCollectorRequest { kind };
    assert_eq!(status!(proxy, request), HResult::E_INVALIDARG);
}

#[tokio::test]
async fn a_set_runs_as_the_account_that_was_given_last() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let request = |user, password| SetCredentialsRequest { user, password: Password(password) };
    proxy.call(&request(bstr(r"CORP\runner"), bstr("made up"))).await.unwrap();
    assert_eq!(text(&proxy.call(&GetUserAccountRequest {}).await.unwrap().value), r"CORP\runner");
    let half = proxy.call(&request(bstr(r"CORP\runner"), Bstr(None))).await;
    assert_eq!(failed(half), HResult::PLA_E_CREDENTIALS_REQUIRED);
    proxy.call(&request(Bstr(None), Bstr::null())).await.unwrap();
    assert_eq!(text(&proxy.call(&GetUserAccountRequest {}).await.unwrap().value), "SYSTEM");
}
