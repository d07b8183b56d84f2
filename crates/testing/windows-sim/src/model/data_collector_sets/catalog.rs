//! What a host has from the beginning: sets of each category, with collectors of each kind.

use ms_pla::xml::{
    AlertDataCollector, ApiTracingDataCollector, ConfigurationDataCollector, DataCollectorSet, DataManager,
    Date, FolderAction, PerformanceCounterDataCollector, Schedule, Time, TraceDataCollector,
    TraceDataProvider,
};
use ms_pla::{
    AutoPathFormat, Category, ClockType, DataCollectorType, FileFormat, FolderActionSteps, ResourcePolicy,
    StreamMode, WeekDays,
};
use wire::Guid;

use super::providers::{self, KERNEL};

pub(super) fn sets() -> Vec<(Category, DataCollectorSet)> {
    vec![
        (Category::Server, web_server_load()),
        (Category::Server, low_memory()),
        (Category::Server, order_service()),
        (Category::System, system_diagnostics()),
        (Category::TraceSession, session("EventLog-Orders")),
        (Category::BootTraceSession, session("Disk at Boot")),
    ]
}

/// What all sets have.
fn named(name: &str) -> DataCollectorSet {
    DataCollectorSet {
        name: text(name),
        display_name: text(name),
        display_name_unresolved: text(name),
        user_account: text("SYSTEM"),
        security: text("O:BAG:DUD:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;LU)"),
        root_path: Some(format!(r"%systemdrive%\PerfLogs\Admin\{name}")),
        subdirectory_format: Some(AutoPathFormat::PATTERN),
        subdirectory_format_pattern: text("NNNNNN"),
        serial_number: Some(0),
        ..DataCollectorSet::default()
    }
}

/// Counters and an alert, each night.
fn web_server_load() -> DataCollectorSet {
    DataCollectorSet {
        duration_s: Some(900),
        description: text("Load of the web server, each night"),
        description_unresolved: text("Load of the web server, each night"),
        keywords: texts(&["CPU", "Web"]),
        are_schedules_enabled: Some(true),
        serial_number: Some(10),
        task: text("Archive"),
        task_arguments: text("{logs} {usertext}"),
        task_user_text_arguments: text("nightly"),
        counters: vec![PerformanceCounterDataCollector {
            kind: Some(DataCollectorType::PERFORMANCE_COUNTER),
            name: text("Load"),
            file_name: text("Load"),
            file_name_format: Some(AutoPathFormat::NONE),
            index: Some(0),
            sample_interval_s: Some(15),
            segment_records_max: Some(0),
            log_file_format: Some(FileFormat::BINARY),
            counters: texts(&[r"\Processor(_Total)\% Processor Time", r"\Memory\Available MBytes"]),
            ..PerformanceCounterDataCollector::default()
        }],
        alerts: vec![AlertDataCollector {
            kind: Some(DataCollectorType::ALERT),
            name: text("Busy"),
            index: Some(0),
            logs_events: Some(true),
            sample_interval_s: Some(5),
            task: text("Page the Operator"),
            task_arguments: text("{counter} {value}"),
            trigger_data_collector_set: text("Order Service"),
            alerts: texts(&[r"\Processor(_Total)\% Processor Time>80"]),
            ..AlertDataCollector::default()
        }],
        schedules: vec![
            Schedule {
                start_date: Some(Date { year: 2020, month: 9, day: 14 }),
                start_time: Some(Time { hour: 4, minute: 0, second: 0 }),
                days: Some(WeekDays::EVERYDAY),
                ..Schedule::default()
            },
            Schedule {
                start_date: Some(Date { year: 2020, month: 9, day: 14 }),
                end_date: Some(Date { year: 2020, month: 12, day: 31 }),
                start_time: Some(Time { hour: 16, minute: 30, second: 0 }),
                days: Some(WeekDays::SUNDAY),
                ..Schedule::default()
            },
        ],
        data_manager: Some(DataManager {
            is_enabled: Some(true),
            folders_max: Some(100),
            resource_policy: Some(ResourcePolicy::DELETE_OLDEST),
            report_file_name: text("report.html"),
            rule_target_file_name: text("report.xml"),
            folder_actions: vec![
                FolderAction {
                    age_days: Some(1),
                    actions: Some(FolderActionSteps::CREATE_CAB | FolderActionSteps::DELETE_DATA),
                    ..FolderAction::default()
                },
                FolderAction {
                    age_days: Some(56),
                    actions: Some(FolderActionSteps::DELETE_REPORT),
                    ..FolderAction::default()
                },
            ],
            ..DataManager::default()
        }),
        ..named("Web Server Load")
    }
}

fn low_memory() -> DataCollectorSet {
    DataCollectorSet {
        alerts: vec![AlertDataCollector {
            kind: Some(DataCollectorType::ALERT),
            name: text("Low"),
            index: Some(0),
            logs_events: Some(true),
            sample_interval_s: Some(15),
            alerts: texts(&[r"\Memory\Available MBytes<500", r"\Paging File(_Total)\% Usage>90"]),
            ..AlertDataCollector::default()
        }],
        ..named("Low Memory")
    }
}

/// A trace, a configuration and a trace of functions.
fn order_service() -> DataCollectorSet {
    DataCollectorSet {
        description: text("What the service of orders does"),
        traces: vec![trace("Orders", StreamMode::FILE, vec![providers::known()[1].clone()])],
        configurations: vec![configuration("Installed")],
        api_traces: vec![ApiTracingDataCollector {
            kind: Some(DataCollectorType::API_TRACE),
            name: text("Functions"),
            index: Some(0),
            logs_names_only: Some(true),
            logs_recursively: Some(false),
            exe_path: text(r"C:\Orders\orders.exe"),
            log_file_path: text(r"C:\Orders\functions.etl"),
            include_modules: texts(&["kernel32.dll"]),
            include_apis: texts(&["kernel32.dll!CreateFileW", "kernel32.dll!ReadFile"]),
            exclude_apis: texts(&["kernel32.dll!Sleep"]),
            ..ApiTracingDataCollector::default()
        }],
        ..named("Order Service")
    }
}

/// Counters, the trace of the kernel and a configuration.
fn system_diagnostics() -> DataCollectorSet {
    DataCollectorSet {
        duration_s: Some(60),
        display_name: text("System Diagnostics"),
        display_name_unresolved: text(r"@%systemroot%\system32\pla.dll,-10001"),
        counters: vec![PerformanceCounterDataCollector {
            kind: Some(DataCollectorType::PERFORMANCE_COUNTER),
            name: text("Performance Counter"),
            index: Some(0),
            sample_interval_s: Some(1),
            log_file_format: Some(FileFormat::COMMA_SEPARATED),
            counters: texts(&[r"\Processor(*)\*", r"\System\*"]),
            ..PerformanceCounterDataCollector::default()
        }],
        traces: vec![trace("NT Kernel Logger", StreamMode::FILE, vec![providers::known()[0].clone()])],
        configurations: vec![configuration("Services")],
        ..named("System Diagnostics")
    }
}

/// A set that is nothing but one trace.
fn session(name: &str) -> DataCollectorSet {
    DataCollectorSet {
        traces: vec![trace(name, StreamMode::REAL_TIME, vec![providers::known()[1].clone()])],
        ..named(name)
    }
}

fn trace(name: &str, mode: StreamMode, providers: Vec<TraceDataProvider>) -> TraceDataCollector {
    let is_kernel = providers.iter().any(|provider| provider.guid == Some(KERNEL));
    TraceDataCollector {
        kind: Some(DataCollectorType::TRACE),
        name: text(name),
        file_name: text(name),
        index: Some(0),
        guid: Some(if is_kernel { KERNEL } else { Guid::NULL }),
        buffer_size_kb: Some(64),
        clock_type: Some(ClockType::PERFORMANCE),
        flush_timer_s: Some(1),
        buffers_min: Some(4),
        buffers_max: Some(32),
        session_name: text(name),
        stream_mode: Some(mode),
        providers,
        ..TraceDataCollector::default()
    }
}

fn configuration(name: &str) -> ConfigurationDataCollector {
    ConfigurationDataCollector {
        kind: Some(DataCollectorType::CONFIGURATION),
        name: text(name),
        index: Some(0),
        queries_network_adapters: Some(true),
        files_max: Some(1000),
        files_size_max: Some(1_000_000),
        file_depth_max: Some(2),
        registry_depth_max: Some(3),
        system_state_file: text("state.xml"),
        registry_keys: texts(&[r"HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion\*"]),
        files: texts(&[r"%systemroot%\system32\drivers\etc\hosts"]),
        management_queries: texts(&[r"\root\cimv2:SELECT * FROM Win32_Service"]),
        ..ConfigurationDataCollector::default()
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
