//! Sets that are made up, for hosts that have very many.

use ms_pla::xml::{AlertDataCollector, DataCollectorSet, PerformanceCounterDataCollector};
use ms_pla::{AutoPathFormat, DataCollectorType, FileFormat};

/// Data collectors of a generated set; each fifth one is an alert.
pub const COLLECTORS: usize = 10;

/// `count` sets with [`COLLECTORS`] data collectors each, called `Generated 0001` and so on.
pub fn generated(count: usize) -> impl Iterator<Item = DataCollectorSet> {
    (1..=count).map(set)
}

fn set(number: usize) -> DataCollectorSet {
    let name = format!("Generated {number:04}");
    let is_alert = |index: &usize| index % 5 == 4;
    DataCollectorSet {
        duration_s: Some(3600),
        description: Some(format!("Generated, number {number}")),
        display_name: Some(name.clone()),
        root_path: Some(format!(r"%systemdrive%\PerfLogs\Admin\{name}")),
        subdirectory_format: Some(AutoPathFormat::PATTERN),
        subdirectory_format_pattern: Some(r"yyyyMMdd\-NNNNNN".to_owned()),
        serial_number: Some(1),
        user_account: Some("SYSTEM".to_owned()),
        security: Some("O:BAG:DUD:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;LU)".to_owned()),
        name: Some(name),
        counters: (0..COLLECTORS).filter(|index| !is_alert(index)).map(counters).collect(),
        alerts: (0..COLLECTORS).filter(is_alert).map(alert).collect(),
        ..DataCollectorSet::default()
    }
}

/// Paths of counters that hosts have.
const PATHS: [&str; 5] = [
    r"\Processor Information(*)\% Processor Time",
    r"\Memory\Available MBytes",
    r"\PhysicalDisk(*)\Avg. Disk sec/Transfer",
    r"\System\Context Switches/sec",
    r"\Process(*)\Working Set",
];

fn counters(index: usize) -> PerformanceCounterDataCollector {
    let name = format!("DataCollector{:02}", index + 1);
    let paths: Vec<String> = PATHS.map(str::to_owned).to_vec();
    PerformanceCounterDataCollector {
        kind: Some(DataCollectorType::PERFORMANCE_COUNTER),
        file_name: Some(name.clone()),
        name: Some(name),
        sample_interval_s: Some(15),
        log_file_format: Some(FileFormat::BINARY),
        counter_display_names: paths.clone(),
        counters: paths,
        ..PerformanceCounterDataCollector::default()
    }
}

fn alert(index: usize) -> AlertDataCollector {
    AlertDataCollector {
        kind: Some(DataCollectorType::ALERT),
        name: Some(format!("DataCollector{:02}", index + 1)),
        logs_events: Some(true),
        sample_interval_s: Some(15),
        alerts: PATHS.map(|path| format!("{path}>90")).to_vec(),
        ..AlertDataCollector::default()
    }
}
