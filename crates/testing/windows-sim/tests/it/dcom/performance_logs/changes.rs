//! What clients store, check and remove, where the host allows it.

use com::oaut::{ArrayParameter, Bstr, Value, VariantBool};
use dcom::client::{Object, Returned};
use ms_pla::data_collector_set::*;
use ms_pla::xml::DataCollectorSet;
use ms_pla::{
    Category, CommitMode, DataCollectorType, IAlertDataCollector, IConfigurationDataCollector,
    IDataCollector, IDataCollectorCollection, IDataCollectorSet, IPerformanceCounterDataCollector,
    ITraceDataCollector, ITraceDataProvider, ITraceDataProviderCollection, IValueMap, IValueMapItem,
    Password, alert_data_collector, configuration_data_collector, data_collector, data_collector_collection,
    performance_counter_data_collector, trace_data_collector, trace_data_provider,
    trace_data_provider_collection, value_map_item,
};
use rpc::orpc::ObjectInterface;
use windows_sim::choices::{PlaChanges, PlaChoices, PlaConflicts};
use wire::{Guid, HResult};

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
    let objref = com::dcom::wire::Objref::from_pointer(pointer).unwrap().into_owned();
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
    let objref = com::dcom::wire::Objref::from_pointer(&pointer).unwrap().into_owned();
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
async fn properties_in_conflict_are_named_and_stored_unless_the_host_refuses_them() {
    let world = World::new().await;
    let xml = r"<DataCollectorSet>
        <ApiTracingDataCollector><ExePath>orders.exe</ExePath></ApiTracingDataCollector>
        <ApiTracingDataCollector/>
        <TraceDataCollector><LogCircular>0</LogCircular></TraceDataCollector>
        <PerformanceCounterDataCollector><LogFileFormat>2</LogFileFormat></PerformanceCounterDataCollector>
        <PerformanceCounterDataCollector><LogFileFormat>3</LogFileFormat><LogCircular>-1</LogCircular>
            <LogAppend>-1</LogAppend></PerformanceCounterDataCollector></DataCollectorSet>";
    let conflict = HResult::PLA_E_PROPERTY_CONFLICT;
    let expected = [
        ("PerformanceCounterDataCollector[1]/DataSourceName", conflict),
        ("PerformanceCounterDataCollector[2]/LogCircular", conflict),
        ("PerformanceCounterDataCollector[2]/LogAppend", conflict),
        ("TraceDataCollector[1]/LogCircular", HResult::PLA_S_PROPERTY_IGNORED),
        ("ApiTracingDataCollector[1]/ExePath", HResult::PLA_E_EXE_FULL_PATH_REQUIRED),
        ("ApiTracingDataCollector[2]/ExePath", conflict),
    ];
    let expected = expected.map(|(path, result)| (path.to_owned(), result));
    for (pla_conflicts, status, stored) in
        [(PlaConflicts::Refused, conflict, 1), (PlaConflicts::Stored, HResult::S_OK, 2)]
    {
        let choices = PlaChoices { pla_changes: PlaChanges::Allowed, pla_conflicts, ..PlaChoices::default() };
        world.host.change_behaviour(|behaviour| behaviour.choices.performance_logs = choices);
        let mut set = server_set(&world, "Order Service").await;
        let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
        returned!(set, proxy, SetXmlRequest { xml: bstr(xml) }, validation => IValueMap);
        let found = commit(&mut set, "Order Service", CommitMode::MODIFY).await;
        assert_eq!((found.0, &found.1[..]), (status, &expected[..]));
        let now = world.clock.now();
        let kept = world.host.data_collector_sets().find(Category::Server, "Order Service", now).unwrap();
        assert_eq!(kept.set.api_traces.len(), stored);
        set.release(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn a_function_that_is_both_included_and_excluded_keeps_a_set_from_being_stored() {
    let world = World::new().await;
    allow(&world);
    let mut set = server_set(&world, "Order Service").await;
    let xml = r"<DataCollectorSet><TaskArguments>x</TaskArguments><ApiTracingDataCollector>
        <ExePath>C:\orders.exe</ExePath><IncludeApis>Save</IncludeApis><IncludeApis>Load</IncludeApis>
        <ExcludeApis>LOAD</ExcludeApis></ApiTracingDataCollector></DataCollectorSet>";
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    returned!(set, proxy, SetXmlRequest { xml: bstr(xml) }, validation => IValueMap);
    for mode in [CommitMode::MODIFY, CommitMode::VALIDATE_ONLY] {
        let found = commit(&mut set, "Order Service", mode).await;
        assert_eq!(found, (HResult::PLA_E_CONFLICT_INCL_EXCL_API, Vec::new()), "without a map");
    }
    let now = world.clock.now();
    let stored = world.host.data_collector_sets().find(Category::Server, "Order Service", now).unwrap();
    assert_eq!(stored.set.task_arguments, None, "it is as it was");
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

/// A new collector of this document in a set, which is in no collection yet: a reference to it.
async fn of_xml(
    set: &mut Object,
    collection: &Returned<IDataCollectorCollection>,
    xml: &str,
) -> Box<rpc::ndr::InterfacePointer<'static>> {
    let request = data_collector_collection::CreateDataCollectorFromXmlRequest { xml: bstr(xml) };
    let mut proxy = calls!(set, collection);
    let stub = proxy.stub(&request).await.unwrap();
    owned(&proxy.decode(&request, &stub).unwrap().1.collector)
}

fn owned(object: &ms_pla::Object<'_>) -> Box<rpc::ndr::InterfacePointer<'static>> {
    let pointer = object.as_ref().unwrap();
    Box::new(rpc::ndr::InterfacePointer { size: pointer.size, data: pointer.data.to_vec().into() })
}

async fn object_of<I: ObjectInterface>(
    set: &mut Object,
    pointer: &rpc::ndr::InterfacePointer<'_>,
) -> Returned<I> {
    let objref = com::dcom::wire::Objref::from_pointer(pointer).unwrap().into_owned();
    set.take_returned(&objref, soon()).await.unwrap()
}

fn array(texts: &[&str]) -> ArrayParameter<'static> {
    ArrayParameter::of_bstrs(texts.iter().map(|text| bstr(text)).collect()).unwrap()
}

#[tokio::test]
async fn what_is_there_twice_is_refused() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let collection = returned!(set, proxy, GetDataCollectorsRequest {}, value => IDataCollectorCollection);

    // Collectors of one name, whatever their kind and its case.
    for (name, expected) in
        [("Same", None), ("sAME", Some(HResult::PLA_E_DC_ALREADY_EXISTS)), ("Other", None)]
    {
        let xml = format!("<TraceDataCollector><Name>{name}</Name></TraceDataCollector>");
        let item = Some(of_xml(&mut set, &collection, &xml).await);
        let added = calls!(set, collection).call(&data_collector_collection::AddRequest { item }).await;
        assert_eq!(added.err().and_then(|error| error.status()), expected, "{name}");
    }

    // Counters and keys of the registry.
    let counters = of_xml(&mut set, &collection, "<PerformanceCounterDataCollector/>").await;
    let counters = object_of::<IPerformanceCounterDataCollector>(&mut set, &counters).await;
    let keys = of_xml(&mut set, &collection, "<ConfigurationDataCollector/>").await;
    let keys = object_of::<IConfigurationDataCollector>(&mut set, &keys).await;
    for (texts, is_taken) in [([r"\A\B", r"\A\C"], true), ([r"\A\B", r"\a\b"], false)] {
        let request =
            performance_counter_data_collector::PutPerformanceCountersRequest { value: array(&texts) };
        let of_counters = calls!(set, counters).call(&request).await.map(drop);
        let request = configuration_data_collector::PutRegistryKeysRequest { value: array(&texts) };
        let of_keys = calls!(set, keys).call(&request).await.map(drop);
        for found in [of_counters, of_keys] {
            let refused = found.err().and_then(|error| error.status());
            assert_eq!(refused, (!is_taken).then_some(HResult::PLA_E_NO_DUPLICATES), "{texts:?}");
        }
    }

    // Providers: in a document, in a collection, and by a change of one that is in it.
    let provider = |digit| {
        format!(
            "<TraceDataProvider><Guid>{{0000000{digit}-0000-0000-0000-000000000000}}</Guid></TraceDataProvider>"
        )
    };
    let trace = |providers: &str| format!("<TraceDataCollector>{providers}</TraceDataCollector>");
    let pointer = of_xml(&mut set, &collection, &trace(&(provider(1) + &provider(2)))).await;
    let one = object_of::<IDataCollector>(&mut set, &pointer).await;
    let twice = data_collector::SetXmlRequest { xml: bstr(&trace(&provider(1).repeat(2))) };
    assert_eq!(status!(calls!(set, one), twice), HResult::PLA_E_NO_DUPLICATES);
    let of_trace = object_of::<ITraceDataCollector>(&mut set, &pointer).await;
    let proxy = calls!(set, of_trace);
    let request = trace_data_collector::GetTraceDataProvidersRequest {};
    let providers = returned!(set, proxy, request, value => ITraceDataProviderCollection);
    let create = trace_data_provider_collection::CreateTraceDataProviderRequest {};
    for (digit, expected) in [(2, Some(HResult::PLA_E_NO_DUPLICATES)), (3, None)] {
        let mut proxy = calls!(set, providers);
        let stub = proxy.stub(&create).await.unwrap();
        let item = owned(&proxy.decode(&create, &stub).unwrap().1.provider);
        let new = object_of::<ITraceDataProvider>(&mut set, &item).await;
        let value = Guid::from_u128(digit << 96);
        calls!(set, new).call(&trace_data_provider::PutGuidRequest { value }).await.unwrap();
        let add = trace_data_provider_collection::AddRequest { item: Some(item) };
        let added = calls!(set, providers).call(&add).await;
        assert_eq!(added.err().and_then(|error| error.status()), expected);
    }
    calls!(set, one).call(&data_collector::GetXmlRequest {}).await.unwrap();
    let last = all_of::<_, ITraceDataProvider>(&mut set, &providers).await.pop().unwrap();
    let value = Guid::from_u128(1 << 96);
    calls!(set, last).call(&trace_data_provider::PutGuidRequest { value }).await.unwrap();
    let refused = calls!(set, one).call(&data_collector::GetXmlRequest {}).await;
    assert_eq!(failed(refused), HResult::PLA_E_NO_DUPLICATES);
}

#[tokio::test]
async fn numbers_have_defaults_and_ranges() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let collection = returned!(set, proxy, GetDataCollectorsRequest {}, value => IDataCollectorCollection);
    macro_rules! check {
        ($xml:literal, $interface:ty, $get:expr, $put:expr, $default:literal, $taken:expr, $refused:expr) => {{
            let pointer = of_xml(&mut set, &collection, $xml).await;
            let one = object_of::<$interface>(&mut set, &pointer).await;
            let mut proxy = calls!(set, one);
            assert_eq!(proxy.call(&$get).await.unwrap().value, $default, $xml);
            for value in $refused {
                assert_eq!(
                    failed(proxy.call(&$put(value)).await),
                    HResult::E_INVALIDARG,
                    "{value} of {}",
                    $xml
                );
            }
            for value in $taken {
                proxy.call(&$put(value)).await.unwrap();
                assert_eq!(proxy.call(&$get).await.unwrap().value, value);
            }
        }};
    }
    {
        use performance_counter_data_collector::{GetSampleIntervalRequest, PutSampleIntervalRequest};
        let put = |value| PutSampleIntervalRequest { value };
        check!(
            "<PerformanceCounterDataCollector/>",
            IPerformanceCounterDataCollector,
            GetSampleIntervalRequest {},
            put,
            15,
            [1, u32::MAX],
            [0]
        );
    }
    {
        use alert_data_collector::{GetSampleIntervalRequest, PutSampleIntervalRequest};
        let put = |value| PutSampleIntervalRequest { value };
        check!(
            "<AlertDataCollector/>",
            IAlertDataCollector,
            GetSampleIntervalRequest {},
            put,
            15,
            [1, u32::MAX],
            [0]
        );
    }
    use trace_data_collector::{GetBufferSizeRequest, PutBufferSizeRequest};
    let put = |value| PutBufferSizeRequest { value };
    check!(
        "<TraceDataCollector/>",
        ITraceDataCollector,
        GetBufferSizeRequest {},
        put,
        8,
        [1, 1024],
        [0, 1025]
    );
}

#[tokio::test]
async fn keys_are_not_empty_and_a_trace_has_a_guid() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    for empty in [bstr(""), Bstr::null(), Bstr(None)] {
        let request = SetValueRequest { key: empty, value: bstr("value") };
        assert_eq!(failed(proxy.call(&request).await), HResult::E_INVALIDARG);
    }
    let collection = returned!(set, proxy, GetDataCollectorsRequest {}, value => IDataCollectorCollection);
    let pointer = of_xml(&mut set, &collection, "<TraceDataCollector/>").await;
    let trace = object_of::<ITraceDataCollector>(&mut set, &pointer).await;
    let request = trace_data_collector::PutGuidRequest { value: Guid::default() };
    assert_eq!(failed(calls!(set, trace).call(&request).await), HResult::E_INVALIDARG);
    let xml = "<DataCollectorSet><TaskArguments>x</TaskArguments></DataCollectorSet>";
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let map = returned!(set, proxy, SetXmlRequest { xml: bstr(xml) }, validation => IValueMap);
    let item = all_of::<_, IValueMapItem>(&mut set, &map).await.remove(0);
    for (key, expected) in [("", Some(HResult::E_INVALIDARG)), ("key", None)] {
        let put = calls!(set, item).call(&value_map_item::PutKeyRequest { value: bstr(key) }).await;
        assert_eq!(put.err().and_then(|error| error.status()), expected);
    }
}
