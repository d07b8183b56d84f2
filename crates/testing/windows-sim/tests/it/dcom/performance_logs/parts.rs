//! Schedules, data managers, and what these do with folders.

use com::oaut::{Date, Value, Variant};
use ms_pla::data_collector_set::{GetDataManagerRequest, GetSchedulesRequest};
use ms_pla::data_manager::*;
use ms_pla::xml::{self, Time};
use ms_pla::{
    AnyVariant, DataManagerSteps, FolderActionSteps, IDataCollectorSet, IDataManager, IFolderAction,
    IFolderActionCollection, IScheduleCollection, ResourcePolicy, WeekDays, folder_action, schedule,
};
use wire::HResult;

use super::{all_of, bstr, calls, failed, get, record, returned, server_set, status, text};
use crate::dcom::{World, soon};

fn variant(value: Value<'static>) -> AnyVariant<'static> {
    Some(Box::new(Variant::new(value).unwrap()))
}

/// A property that is a VT_DATE or VT_EMPTY.
macro_rules! date {
    ($object:expr, $returned:expr, $request:expr) => {{
        let request = $request;
        let mut proxy = calls!($object, $returned);
        let stub = proxy.stub(&request).await.unwrap();
        match proxy.decode(&request, &stub).unwrap().1.value.unwrap().value {
            Value::Date(date) => Some(date.0),
            Value::Empty => None,
            other => panic!("{other:?} is no date"),
        }
    }};
}

#[tokio::test]
async fn schedules_have_days_since_1899_and_parts_of_days() {
    use schedule::*;
    let world = World::new().await;
    let mut set = server_set(&world, "Web Server Load").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let collection = returned!(set, proxy, GetSchedulesRequest {}, value => IScheduleCollection);
    let schedules = all_of::<_, ms_pla::ISchedule>(&mut set, &collection).await;
    // 2020-09-14 and 2020-12-31 as spreadsheets number them.
    assert_eq!(date!(set, schedules[0], GetStartDateRequest {}), Some(44088.0));
    assert_eq!(date!(set, schedules[0], GetEndDateRequest {}), None);
    assert_eq!(date!(set, schedules[0], GetStartTimeRequest {}), Some(4.0 / 24.0));
    assert_eq!(get!(set, schedules[0], GetDaysRequest {}), WeekDays::EVERYDAY);
    assert_eq!(date!(set, schedules[1], GetEndDateRequest {}), Some(44196.0));
    assert_eq!(date!(set, schedules[1], GetStartTimeRequest {}), Some(16.5 / 24.0));
    assert_eq!(get!(set, schedules[1], GetDaysRequest {}), WeekDays::SUNDAY);

    let mut proxy = calls!(set, schedules[0]);
    // The time of a date counts as little as the date of a time.
    let noon = variant(Value::Date(Date(44089.5)));
    proxy.call(&PutEndDateRequest { value: noon.clone() }).await.unwrap();
    proxy.call(&PutStartTimeRequest { value: noon }).await.unwrap();
    proxy.call(&PutStartDateRequest { value: variant(Value::Empty) }).await.unwrap();
    proxy.call(&PutDaysRequest { value: WeekDays::MONDAY | WeekDays::FRIDAY }).await.unwrap();
    let today = PutStartDateRequest { value: variant(Value::I4(44088)) };
    assert_eq!(failed(proxy.call(&today).await), HResult::DISP_E_TYPEMISMATCH);
    for no_date in [f64::NAN, f64::INFINITY, 1e9, -1e9] {
        let request = PutStartDateRequest { value: variant(Value::Date(Date(no_date))) };
        assert_eq!(failed(proxy.call(&request).await), HResult::E_INVALIDARG, "{no_date}");
    }
    let changed = record(&mut set).await.schedules.remove(0);
    assert_eq!(
        (changed.start_date, changed.end_date),
        (None, Some(xml::Date { year: 2020, month: 9, day: 15 }))
    );
    assert_eq!(changed.start_time, Some(Time { hour: 12, minute: 0, second: 0 }));
    assert_eq!(changed.days, Some(WeekDays(0x22)));
}

#[tokio::test]
async fn a_data_manager_is_read_and_set() {
    let world = World::new().await;
    let mut set = server_set(&world, "Web Server Load").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let manager = returned!(set, proxy, GetDataManagerRequest {}, value => IDataManager);
    assert!(get!(set, manager, GetEnabledRequest {}).is_true());
    assert!(!get!(set, manager, GetCheckBeforeRunningRequest {}).is_true());
    assert_eq!(get!(set, manager, GetMinFreeDiskRequest {}), 0);
    assert_eq!(get!(set, manager, GetMaxSizeRequest {}), 0);
    assert_eq!(get!(set, manager, GetMaxFolderCountRequest {}), 100);
    assert_eq!(get!(set, manager, GetResourcePolicyRequest {}), ResourcePolicy::DELETE_OLDEST);
    assert_eq!(text(&get!(set, manager, GetReportFileNameRequest {})), "report.html");
    assert_eq!(text(&get!(set, manager, GetRuleTargetFileNameRequest {})), "report.xml");
    assert_eq!(text(&get!(set, manager, GetEventsFileNameRequest {})), "");
    assert_eq!(text(&get!(set, manager, GetReportSchemaRequest {})), "");

    let mut proxy = calls!(set, manager);
    proxy.call(&PutCheckBeforeRunningRequest { value: true.into() }).await.unwrap();
    proxy.call(&PutMinFreeDiskRequest { value: 5 }).await.unwrap();
    proxy.call(&PutEventsFileNameRequest { value: bstr("events.xml") }).await.unwrap();
    proxy.call(&PutReportSchemaRequest { value: bstr("<Report name='r'><Table/></Report>") }).await.unwrap();
    proxy.call(&PutRulesRequest { value: bstr("<Group name='g'/>") }).await.unwrap();
    assert_eq!(failed(proxy.call(&PutRulesRequest { value: bstr("rules") }).await), HResult::E_INVALIDARG);
    let schema = text(&proxy.call(&GetReportSchemaRequest {}).await.unwrap().value);
    assert!(schema.contains(r#"<Report name="r">"#), "{schema}");
    let rules = text(&proxy.call(&GetRulesRequest {}).await.unwrap().value);
    assert!(rules.contains(r#"<Group name="g"/>"#), "{rules}");
    let run = RunRequest { steps: DataManagerSteps::CREATE_REPORT, folder: bstr("") };
    assert_eq!(status!(proxy, run), HResult::E_ACCESSDENIED);
    let changed = record(&mut set).await.data_manager.unwrap();
    assert_eq!((changed.checks_before_running, changed.free_disk_min_mb), (Some(true), Some(5)));
    assert_eq!(changed.report_schema.unwrap().elements().next().unwrap().name, "Report");
}

#[tokio::test]
async fn actions_of_folders_are_read_added_and_removed() {
    let world = World::new().await;
    let mut set = server_set(&world, "Web Server Load").await;
    let proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let manager = returned!(set, proxy, GetDataManagerRequest {}, value => IDataManager);
    let proxy = calls!(set, manager);
    let collection = returned!(set, proxy, GetFolderActionsRequest {}, value => IFolderActionCollection);
    let actions = all_of::<_, IFolderAction>(&mut set, &collection).await;
    let cab = FolderActionSteps::CREATE_CAB | FolderActionSteps::DELETE_DATA;
    assert_eq!(get!(set, actions[0], folder_action::GetActionsRequest {}), cab);
    assert_eq!(get!(set, actions[0], folder_action::GetAgeRequest {}), 1);
    assert_eq!(get!(set, actions[0], folder_action::GetSizeRequest {}), 0);
    assert_eq!(text(&get!(set, actions[0], folder_action::GetSendCabToRequest {})), "");
    assert_eq!(get!(set, actions[1], folder_action::GetAgeRequest {}), 56);

    let proxy = calls!(set, collection);
    let request = ms_pla::folder_action_collection::CreateFolderActionRequest {};
    let new = returned!(set, proxy, request, action => IFolderAction);
    let mut proxy = calls!(set, new);
    proxy.call(&folder_action::PutSizeRequest { value: 10 }).await.unwrap();
    proxy.call(&folder_action::PutSendCabToRequest { value: bstr(r"\\server\cabs") }).await.unwrap();
    assert_eq!(record(&mut set).await.data_manager.unwrap().folder_actions.len(), 2, "it was not added");
}
