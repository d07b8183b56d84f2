//! Sets: listed, read, started and stopped.

use std::time::Duration;

use com::oaut::{Bstr, VariantBool};
use dcom::client::Object;
use ms_pla::collection::items;
use ms_pla::data_collector_set::*;
use ms_pla::xml::DataCollectorSet;
use ms_pla::{
    AutoPathFormat, Category, CommitMode, DataCollectorSetStatus, IDataCollectorSet,
    IDataCollectorSetCollection, ids,
};
use rpc::orpc::ObjectInterface;
use wire::{Guid, HResult};

use super::{bstr, calls, failed, filled, get, record, server_set, set_of, taken, text, texts};
use crate::dcom::{World, soon};

async fn names(world: &World, class: Guid) -> Vec<String> {
    let mut collection = filled(world, class).await;
    let mut proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
    let references = items(&mut proxy, 100).await.unwrap();
    let mut names = Vec::new();
    for reference in references {
        let set = taken::<IDataCollectorSet>(&mut collection, &reference).await;
        names.push(text(&get!(collection, set, GetNameRequest {})));
        collection.release_returned(set, soon()).await.unwrap();
    }
    collection.release(soon()).await.unwrap();
    names
}

#[tokio::test]
async fn each_class_of_collections_lists_the_sets_of_its_category() {
    let world = World::new().await;
    let server = ["Web Server Load", "Low Memory", "Order Service"];
    assert_eq!(names(&world, Category::Server.collection_class()).await, server);
    assert_eq!(names(&world, Category::System.collection_class()).await, ["System Diagnostics"]);
    assert_eq!(names(&world, Category::TraceSession.collection_class()).await, ["EventLog-Orders"]);
    assert_eq!(names(&world, Category::BootTraceSession.collection_class()).await, ["Disk at Boot"]);
    let all = names(&world, ids::DATA_COLLECTOR_SET_COLLECTION).await;
    assert_eq!(all[..3], server);
    assert_eq!(all[3..], ["System Diagnostics", "EventLog-Orders", "Disk at Boot"]);
}

#[tokio::test]
async fn a_set_of_any_category_is_queried_by_its_name_with_the_category_or_without() {
    let world = World::new().await;
    for (name, status) in [
        (r"Service\low MEMORY", DataCollectorSetStatus::STOPPED),
        ("Low Memory", DataCollectorSetStatus::STOPPED),
        (r"Session\EventLog-Orders", DataCollectorSetStatus::RUNNING),
        ("EventLog-Orders", DataCollectorSetStatus::RUNNING),
        (r"Autosession\Disk at Boot", DataCollectorSetStatus::UNDEFINED),
    ] {
        let mut set = set_of(&world, ids::DATA_COLLECTOR_SET, name).await;
        assert_eq!(record(&mut set).await.status, Some(status), "{name}");
        set.release(soon()).await.unwrap();
    }
    for (class, name) in [
        (ids::DATA_COLLECTOR_SET, r"System\Low Memory"),
        (Category::System.set_class(), "Low Memory"),
        (Category::Server.set_class(), ""),
    ] {
        let mut set = world.activate(class, IDataCollectorSet::IID).await.unwrap();
        let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
        let request = QueryRequest { name: bstr(name), server: Bstr(None) };
        assert_eq!(failed(proxy.call(&request).await), HResult::PLA_E_DCS_NOT_FOUND, "{name}");
        set.release(soon()).await.unwrap();
    }
}

/// What the methods of a set's properties return, as its XML has it.
async fn properties(set: &mut Object) -> DataCollectorSet {
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    macro_rules! value {
        ($request:ident) => {
            proxy.call(&$request {}).await.unwrap().value
        };
    }
    macro_rules! optional {
        ($request:ident) => {
            Some(text(&value!($request))).filter(|text| !text.is_empty())
        };
    }
    let request = GetKeywordsRequest {};
    let stub = proxy.stub(&request).await.unwrap();
    let keywords = texts(&proxy.decode(&request, &stub).unwrap().1.value);
    DataCollectorSet {
        status: Some(value!(GetStatusRequest)),
        duration_s: Some(value!(GetDurationRequest)),
        description: optional!(GetDescriptionRequest),
        description_unresolved: optional!(GetDescriptionUnresolvedRequest),
        display_name: optional!(GetDisplayNameRequest),
        display_name_unresolved: optional!(GetDisplayNameUnresolvedRequest),
        are_schedules_enabled: Some(value!(GetSchedulesEnabledRequest).is_true()),
        latest_output_location: optional!(GetLatestOutputLocationRequest),
        name: optional!(GetNameRequest),
        output_location: optional!(GetOutputLocationRequest),
        root_path: optional!(GetRootPathRequest),
        serial_number: Some(value!(GetSerialNumberRequest)),
        server: optional!(GetServerRequest),
        subdirectory: optional!(GetSubdirectoryRequest),
        subdirectory_format: Some(value!(GetSubdirectoryFormatRequest)),
        subdirectory_format_pattern: optional!(GetSubdirectoryFormatPatternRequest),
        task: optional!(GetTaskRequest),
        task_arguments: optional!(GetTaskArgumentsRequest),
        task_user_text_arguments: optional!(GetTaskUserTextArgumentsRequest),
        user_account: optional!(GetUserAccountRequest),
        security: optional!(GetSecurityRequest),
        keywords,
        ..DataCollectorSet::default()
    }
}

#[tokio::test]
async fn the_properties_of_a_set_are_those_of_its_xml() {
    let world = World::new().await;
    let mut set = server_set(&world, "Web Server Load").await;
    let record = record(&mut set).await;
    assert_eq!((record.counters.len(), record.alerts.len(), record.schedules.len()), (1, 1, 2));
    assert_eq!(record.data_manager.as_ref().unwrap().folder_actions.len(), 2);
    let without_parts = DataCollectorSet {
        counters: Vec::new(),
        alerts: Vec::new(),
        schedules: Vec::new(),
        data_manager: None,
        ..record
    };
    assert_eq!(properties(&mut set).await, without_parts);
}

#[tokio::test]
async fn what_is_set_of_a_set_is_read_again_and_not_stored() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    proxy.call(&PutDescriptionRequest { value: bstr("Größer") }).await.unwrap();
    proxy.call(&PutDurationRequest { value: 7 }).await.unwrap();
    proxy.call(&PutSegmentRequest { value: VariantBool(1) }).await.unwrap();
    proxy.call(&PutSegmentMaxDurationRequest { value: 8 }).await.unwrap();
    proxy.call(&PutSegmentMaxSizeRequest { value: 9 }).await.unwrap();
    let value = AutoPathFormat::COMPUTER | AutoPathFormat::SERIAL_NUMBER;
    proxy.call(&PutSubdirectoryFormatRequest { value }).await.unwrap();
    proxy.call(&PutStopOnCompletionRequest { value: VariantBool::TRUE }).await.unwrap();
    proxy.call(&PutTaskRunAsSelfRequest { value: VariantBool::TRUE }).await.unwrap();
    let value = com::oaut::ArrayParameter::of_bstrs(vec![bstr("Memory"), bstr("Größe")]).unwrap();
    proxy.call(&PutKeywordsRequest { value }).await.unwrap();
    proxy.call(&SetValueRequest { key: bstr("who"), value: bstr("me") }).await.unwrap();
    assert_eq!(text(&proxy.call(&GetValueRequest { key: bstr("who") }).await.unwrap().value), "me");
    assert_eq!(failed(proxy.call(&GetValueRequest { key: bstr("else") }).await), HResult::E_INVALIDARG);
    for keyword in ["", "a;b", &"x".repeat(1025)] {
        let value = com::oaut::ArrayParameter::of_bstrs(vec![bstr(keyword)]).unwrap();
        assert_eq!(failed(proxy.call(&PutKeywordsRequest { value }).await), HResult::E_INVALIDARG);
    }
    let DataCollectorSet { description, description_unresolved, keywords, .. } = record(&mut set).await;
    assert_eq!(description.as_deref(), Some("Größer"));
    assert_eq!(
        (description_unresolved, keywords),
        (description, vec!["Memory".to_owned(), "Größe".to_owned()])
    );
    let now = record(&mut set).await;
    assert_eq!((now.duration_s, now.is_segmented), (Some(7), Some(true)));
    assert_eq!((now.segment_duration_max_s, now.segment_size_max_mb), (Some(8), Some(9)));
    assert_eq!((now.stops_on_completion, now.task_runs_as_self), (Some(true), Some(true)));
    assert_eq!(now.subdirectory_format, Some(AutoPathFormat(0x202)));
    let mut other = server_set(&world, "Low Memory").await;
    assert_eq!(record(&mut other).await.duration_s, None);
}

#[tokio::test]
async fn a_set_runs_from_its_start_to_its_stop_and_counts_its_runs() {
    let world = World::new().await;
    let mut set = server_set(&world, "Low Memory").await;
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let stop = StopRequest { synchronous: VariantBool::TRUE };
    let start = StartRequest { synchronous: VariantBool::TRUE };
    assert_eq!(failed(proxy.call(&stop).await), HResult::PLA_E_DCS_NOT_RUNNING);
    proxy.call(&start).await.unwrap();
    assert_eq!(proxy.call(&GetStatusRequest {}).await.unwrap().value, DataCollectorSetStatus::RUNNING);
    assert_eq!(failed(proxy.call(&start).await), HResult::PLA_E_DCS_IN_USE);
    proxy.call(&QueryRequest { name: bstr("Low Memory"), server: Bstr(None) }).await.unwrap();
    assert_eq!(proxy.call(&GetSerialNumberRequest {}).await.unwrap().value, 1);
    let latest = text(&proxy.call(&GetLatestOutputLocationRequest {}).await.unwrap().value);
    assert_eq!(latest, r"%systemdrive%\PerfLogs\Admin\Low Memory\000001");
    proxy.call(&stop).await.unwrap();
    assert_eq!(proxy.call(&GetStatusRequest {}).await.unwrap().value, DataCollectorSetStatus::STOPPED);
}

#[tokio::test]
async fn a_set_with_a_duration_stops_by_the_clock_of_the_host() {
    let world = World::new().await;
    let mut set = set_of(&world, Category::System.set_class(), "System Diagnostics").await;
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    proxy.call(&StartRequest { synchronous: VariantBool::FALSE }).await.unwrap();
    world.clock.advance(Duration::from_secs(59));
    assert_eq!(proxy.call(&GetStatusRequest {}).await.unwrap().value, DataCollectorSetStatus::RUNNING);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(proxy.call(&GetStatusRequest {}).await.unwrap().value, DataCollectorSetStatus::STOPPED);
}

#[tokio::test]
async fn each_category_refuses_what_it_cannot_do() {
    let world = World::new().await;
    let mut boot = set_of(&world, Category::BootTraceSession.set_class(), "Disk at Boot").await;
    let mut proxy = boot.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let start = StartRequest { synchronous: VariantBool::TRUE };
    assert_eq!(failed(proxy.call(&start).await), HResult::E_NOTIMPL);
    let stop = StopRequest { synchronous: VariantBool::TRUE };
    assert_eq!(failed(proxy.call(&stop).await), HResult::E_NOTIMPL);
    boot.release(soon()).await.unwrap();
    let mut system = set_of(&world, Category::System.set_class(), "System Diagnostics").await;
    let mut proxy = system.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let mode = CommitMode::CREATE_OR_MODIFY;
    let commit = CommitRequest { name: bstr("System Diagnostics"), server: Bstr(None), mode };
    let stub = proxy.stub(&commit).await.unwrap();
    let (_, reply) = proxy.decode(&commit, &stub).unwrap();
    assert_eq!((reply.status, reply.validation), (HResult::E_NOTIMPL, None));
    system.release(soon()).await.unwrap();
    let mut new = world.activate(Category::Server.set_class(), IDataCollectorSet::IID).await.unwrap();
    let mut proxy = new.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    assert_eq!(failed(proxy.call(&start).await), HResult::PLA_E_DCS_NOT_FOUND, "it is not stored");
}
