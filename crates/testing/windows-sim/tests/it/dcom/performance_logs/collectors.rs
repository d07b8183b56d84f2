//! Collectors of each kind, property by property.

use dcom::client::{Object, Returned};
use ms_pla::collection::items;
use ms_pla::data_collector::*;
use ms_pla::xml::DataCollectorSet;
use ms_pla::{
    Category, DataCollectorType, IAlertDataCollector, IApiTracingDataCollector, IConfigurationDataCollector,
    IDataCollector, IDataCollectorCollection, IDataCollectorSet, IPerformanceCounterDataCollector,
    ITraceDataCollector, alert_data_collector, api_tracing_data_collector, configuration_data_collector,
    data_collector_set, performance_counter_data_collector, trace_data_collector,
};
use wire::HResult;

use super::{bstr, calls, get, record, returned, server_set, set_of, status, taken, text, texts};
use crate::dcom::{World, soon};

/// References to the collectors of a set.
async fn references(set: &mut Object) -> Vec<Vec<u8>> {
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let request = data_collector_set::GetDataCollectorsRequest {};
    let collection = returned!(set, proxy, request, value => IDataCollectorCollection);
    let references = items(&mut calls!(set, collection), 9).await.unwrap();
    set.release_returned(collection, soon()).await.unwrap();
    references
}

async fn collectors(set: &mut Object) -> Vec<Returned<IDataCollector>> {
    let mut collectors = Vec::new();
    for reference in references(set).await {
        collectors.push(taken(set, &reference).await);
    }
    collectors
}

/// An array of texts that a property is.
macro_rules! array {
    ($object:expr, $returned:expr, $request:expr) => {{
        let request = $request;
        let mut proxy = calls!($object, $returned);
        let stub = proxy.stub(&request).await.unwrap();
        let array = texts(&proxy.decode(&request, &stub).unwrap().1.value);
        array
    }};
}

#[tokio::test]
async fn collectors_say_their_kind_and_belong_to_their_set() {
    let world = World::new().await;
    for (name, kinds) in [
        ("Web Server Load", vec![DataCollectorType::PERFORMANCE_COUNTER, DataCollectorType::ALERT]),
        ("Low Memory", vec![DataCollectorType::ALERT]),
        (
            "Order Service",
            vec![DataCollectorType::TRACE, DataCollectorType::CONFIGURATION, DataCollectorType::API_TRACE],
        ),
    ] {
        let mut set = server_set(&world, name).await;
        let mut found = Vec::new();
        for collector in collectors(&mut set).await {
            found.push(get!(set, collector, GetDataCollectorTypeRequest {}));
            assert_eq!(get!(set, collector, GetIndexRequest {}), 0);
            let proxy = calls!(set, collector);
            let of = returned!(set, proxy, GetDataCollectorSetRequest {}, value => IDataCollectorSet);
            assert_eq!(text(&get!(set, of, data_collector_set::GetNameRequest {})), name);
        }
        assert_eq!(found, kinds);
        set.release(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn a_collector_has_the_interface_of_its_kind_and_no_other() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let reference = references(&mut set).await.remove(0);
    let size = u32::try_from(reference.len()).unwrap();
    let pointer = rpc::ndr::InterfacePointer { size, data: reference.into() };
    let objref = com::dcom::wire::Objref::from_pointer(&pointer).unwrap().into_owned();
    set.take_returned::<IAlertDataCollector>(&objref, soon()).await.unwrap();
    let refused = [
        set.take_returned::<IPerformanceCounterDataCollector>(&objref, soon()).await.map(drop),
        set.take_returned::<ITraceDataCollector>(&objref, soon()).await.map(drop),
        set.take_returned::<IConfigurationDataCollector>(&objref, soon()).await.map(drop),
        set.take_returned::<IApiTracingDataCollector>(&objref, soon()).await.map(drop),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(error.detail().contains("E_NOINTERFACE"), "{error}");
    }
}

#[tokio::test]
async fn properties_that_all_collectors_have_are_set_and_in_the_xml_of_their_set() {
    let world = World::new().await;
    let mut set = server_set(&world, "Web Server Load").await;
    let counters = collectors(&mut set).await.remove(0);
    let mut proxy = calls!(set, counters);
    proxy.call(&PutNameRequest { value: bstr("Last") }).await.unwrap();
    proxy.call(&PutFileNameRequest { value: bstr("file") }).await.unwrap();
    let value = ms_pla::AutoPathFormat::YEAR_MONTH_DAY;
    proxy.call(&PutFileNameFormatRequest { value }).await.unwrap();
    proxy.call(&PutFileNameFormatPatternRequest { value: bstr("yyyy") }).await.unwrap();
    proxy.call(&PutLatestOutputLocationRequest { value: bstr(r"C:\latest") }).await.unwrap();
    proxy.call(&PutLogAppendRequest { value: true.into() }).await.unwrap();
    proxy.call(&PutLogCircularRequest { value: true.into() }).await.unwrap();
    proxy.call(&PutLogOverwriteRequest { value: true.into() }).await.unwrap();
    assert_eq!(text(&proxy.call(&GetNameRequest {}).await.unwrap().value), "Last");
    assert_eq!(text(&proxy.call(&GetFileNameFormatPatternRequest {}).await.unwrap().value), "yyyy");
    assert_eq!(proxy.call(&GetFileNameFormatRequest {}).await.unwrap().value, value);
    let location = text(&proxy.call(&GetOutputLocationRequest {}).await.unwrap().value);
    assert_eq!(location, r"%systemdrive%\PerfLogs\Admin\Web Server Load\000010\file");
    let xml = text(&proxy.call(&GetXmlRequest {}).await.unwrap().value);
    assert!(xml.contains("<Name>Last</Name>") && xml.contains("<PerformanceCounterDataCollector>"), "{xml}");
    let one = record(&mut set).await.counters.remove(0);
    assert_eq!((one.appends, one.is_circular, one.overwrites), (Some(true), Some(true), Some(true)));
    assert_eq!(
        (one.file_name.as_deref(), one.latest_output_location.as_deref()),
        (Some("file"), Some(r"C:\latest"))
    );
    let changed = xml.replace("Last", "Other").replace("<SampleInterval>15", "<SampleInterval>16");
    let mut proxy = calls!(set, counters);
    assert_eq!(status!(proxy, SetXmlRequest { xml: bstr("<x>") }), HResult::E_INVALIDARG);
    let alert = bstr("<AlertDataCollector/>");
    assert_eq!(status!(proxy, SetXmlRequest { xml: alert }), HResult::E_INVALIDARG);
    proxy.stub(&SetXmlRequest { xml: bstr(&changed) }).await.unwrap();
    let one = record(&mut set).await.counters.remove(0);
    assert_eq!((one.name.as_deref(), one.sample_interval_s), (Some("Other"), Some(16)));
}

#[tokio::test]
async fn counters_and_alerts_are_read_as_their_xml_has_them() {
    let world = World::new().await;
    let mut set = server_set(&world, "Web Server Load").await;
    let DataCollectorSet { counters, alerts, .. } = record(&mut set).await;
    let references = references(&mut set).await;
    {
        use performance_counter_data_collector::*;
        let of_xml = &counters[0];
        let one = taken::<IPerformanceCounterDataCollector>(&mut set, &references[0]).await;
        assert_eq!(array!(set, one, GetPerformanceCountersRequest {}), of_xml.counters);
        assert_eq!(Some(get!(set, one, GetLogFileFormatRequest {})), of_xml.log_file_format);
        assert_eq!(Some(get!(set, one, GetSampleIntervalRequest {})), of_xml.sample_interval_s);
        assert_eq!(Some(get!(set, one, GetSegmentMaxRecordsRequest {})), of_xml.segment_records_max);
        assert_eq!(text(&get!(set, one, GetDataSourceNameRequest {})), "");
    }
    use alert_data_collector::*;
    let (of_xml, option) = (&alerts[0], |text: String| Some(text).filter(|text| !text.is_empty()));
    let one = taken::<IAlertDataCollector>(&mut set, &references[1]).await;
    assert_eq!(array!(set, one, GetAlertThresholdsRequest {}), of_xml.alerts);
    assert_eq!(of_xml.alerts, [r"\Processor(_Total)\% Processor Time>80"]);
    assert_eq!(Some(get!(set, one, GetEventLogRequest {}).is_true()), of_xml.logs_events);
    assert_eq!(Some(get!(set, one, GetSampleIntervalRequest {})), of_xml.sample_interval_s);
    assert_eq!(option(text(&get!(set, one, GetTaskRequest {}))), of_xml.task);
    assert!(!get!(set, one, GetTaskRunAsSelfRequest {}).is_true());
    assert_eq!(option(text(&get!(set, one, GetTaskArgumentsRequest {}))), of_xml.task_arguments);
    assert_eq!(
        option(text(&get!(set, one, GetTaskUserTextArgumentsRequest {}))),
        of_xml.task_user_text_arguments
    );
    let trigger = option(text(&get!(set, one, GetTriggerDataCollectorSetRequest {})));
    assert_eq!(trigger, of_xml.trigger_data_collector_set);
}

#[tokio::test]
async fn configurations_and_traces_of_functions_are_read_as_their_xml_has_them() {
    let world = World::new().await;
    let mut set = server_set(&world, "Order Service").await;
    let DataCollectorSet { configurations, api_traces, .. } = record(&mut set).await;
    let references = references(&mut set).await;
    {
        use configuration_data_collector::*;
        let of_xml = &configurations[0];
        let one = taken::<IConfigurationDataCollector>(&mut set, &references[1]).await;
        assert_eq!(array!(set, one, GetFilesRequest {}), of_xml.files);
        assert_eq!(array!(set, one, GetManagementQueriesRequest {}), of_xml.management_queries);
        assert_eq!(array!(set, one, GetRegistryKeysRequest {}), of_xml.registry_keys);
        assert_eq!(Some(get!(set, one, GetFileMaxCountRequest {})), of_xml.files_max);
        assert_eq!(Some(get!(set, one, GetFileMaxRecursiveDepthRequest {})), of_xml.file_depth_max);
        assert_eq!(Some(get!(set, one, GetFileMaxTotalSizeRequest {})), of_xml.files_size_max);
        let queries = get!(set, one, GetQueryNetworkAdaptersRequest {}).is_true();
        assert_eq!(Some(queries), of_xml.queries_network_adapters);
        assert_eq!(Some(get!(set, one, GetRegistryMaxRecursiveDepthRequest {})), of_xml.registry_depth_max);
        assert_eq!(Some(text(&get!(set, one, GetSystemStateFileRequest {}))), of_xml.system_state_file);
    }
    use api_tracing_data_collector::*;
    let of_xml = &api_traces[0];
    let one = taken::<IApiTracingDataCollector>(&mut set, &references[2]).await;
    assert_eq!(array!(set, one, GetIncludeModulesRequest {}), of_xml.include_modules);
    assert_eq!(array!(set, one, GetIncludeApisRequest {}), of_xml.include_apis);
    assert_eq!(array!(set, one, GetExcludeApisRequest {}), of_xml.exclude_apis);
    assert_eq!(Some(get!(set, one, GetLogApiNamesOnlyRequest {}).is_true()), of_xml.logs_names_only);
    assert_eq!(Some(get!(set, one, GetLogApisRecursivelyRequest {}).is_true()), of_xml.logs_recursively);
    assert_eq!(Some(text(&get!(set, one, GetExePathRequest {}))), of_xml.exe_path);
    assert_eq!(Some(text(&get!(set, one, GetLogFilePathRequest {}))), of_xml.log_file_path);
}

#[tokio::test]
async fn a_trace_that_runs_counts_and_one_that_does_not_has_no_buffers() {
    use trace_data_collector::*;
    let world = World::new().await;
    let mut set = set_of(&world, Category::TraceSession.set_class(), "EventLog-Orders").await;
    let of_xml = record(&mut set).await.traces.remove(0);
    let reference = references(&mut set).await.remove(0);
    let one = taken::<ITraceDataCollector>(&mut set, &reference).await;
    assert_eq!(Some(get!(set, one, GetBufferSizeRequest {})), of_xml.buffer_size_kb);
    assert_eq!(Some(get!(set, one, GetBuffersWrittenRequest {})), of_xml.buffers_written);
    assert!(
        of_xml.buffers_written > Some(80_000),
        "a buffer each second since the host was started: {of_xml:?}"
    );
    assert_eq!(get!(set, one, GetBuffersLostRequest {}), 0);
    assert_eq!(get!(set, one, GetEventsLostRequest {}), 0);
    assert_eq!(get!(set, one, GetRealTimeBuffersLostRequest {}), 0);
    assert_eq!(Some(get!(set, one, GetClockTypeRequest {})), of_xml.clock_type);
    assert_eq!(get!(set, one, GetExtendedModesRequest {}), 0);
    assert_eq!(Some(get!(set, one, GetFlushTimerRequest {})), of_xml.flush_timer_s);
    assert_eq!(Some(get!(set, one, GetFreeBuffersRequest {})), of_xml.free_buffers);
    assert_eq!(Some(get!(set, one, GetNumberOfBuffersRequest {})), of_xml.buffers);
    assert_eq!(Some(get!(set, one, GetMaximumBuffersRequest {})), of_xml.buffers_max);
    assert_eq!(Some(get!(set, one, GetMinimumBuffersRequest {})), of_xml.buffers_min);
    assert_eq!(Some(get!(set, one, GetGuidRequest {})), of_xml.guid);
    assert_eq!(Some(get!(set, one, GetStreamModeRequest {})), of_xml.stream_mode);
    assert_eq!(Some(text(&get!(set, one, GetSessionNameRequest {}))), of_xml.session_name);
    assert_eq!(Some(get!(set, one, GetSessionThreadIdRequest {})), of_xml.session_thread_id);
    assert_ne!(get!(set, one, GetSessionIdRequest {}), 0);
    assert!(!get!(set, one, GetPreallocateFileRequest {}).is_true());
    assert!(!get!(set, one, GetProcessModeRequest {}).is_true());
    assert!(!get!(set, one, GetIsKernelTraceRequest {}).is_true());
    set.release(soon()).await.unwrap();
    let mut set = set_of(&world, Category::System.set_class(), "System Diagnostics").await;
    let references = references(&mut set).await;
    let kernel = taken::<ITraceDataCollector>(&mut set, &references[1]).await;
    assert!(get!(set, kernel, GetIsKernelTraceRequest {}).is_true());
    assert_eq!(get!(set, kernel, GetNumberOfBuffersRequest {}), 0);
}
