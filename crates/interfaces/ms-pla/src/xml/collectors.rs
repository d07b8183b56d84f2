//! Data collectors of a set, as XML.

use super::Error;
use super::element::{Attribute, Element, Node};
use super::field::Field;
use super::read::Limits;
use super::record::{collector, record};
use super::{read, write};
use crate::types::{AutoPathFormat, DataCollectorType, FileFormat};

collector! {
    /// See section 3.2.4.6 of [MS-PLA].
    PerformanceCounterDataCollector = "PerformanceCounterDataCollector" {
        one {
            /// The data source, if the format is SQL.
            data_source_name: String = "DataSourceName",
            /// Seconds between two readings.
            sample_interval_s: u32 = "SampleInterval",
            /// Readings in one file; 0 is no limit.
            segment_records_max: u32 = "SegmentMaxRecords",
            /// The format of the file.
            log_file_format: FileFormat = "LogFileFormat",
        }
        many {
            counters: String = "Counter",
            /// The same in the host's language. Written by hosts only.
            counter_display_names: String = "CounterDisplayName",
        }
    }
}

collector! {
    /// See section 3.2.4.7 of [MS-PLA].
    ConfigurationDataCollector = "ConfigurationDataCollector" {
        one {
            /// Whether the state of network adapters is kept.
            queries_network_adapters: bool = "QueryNetworkAdapters",
            /// Files that are kept.
            files_max: u32 = "FileMaxCount",
            /// Bytes of all files that are kept.
            files_size_max: u32 = "FileMaxTotalSize",
            /// Folders below folders that are looked at.
            file_depth_max: u32 = "FileMaxRecursiveDepth",
            /// Keys below keys that are looked at.
            registry_depth_max: u32 = "RegistryMaxRecursiveDepth",
            /// The file for the state of the system.
            system_state_file: String = "SystemStateFile",
        }
        many {
            /// Keys of the registry.
            registry_keys: String = "RegistryKey",
            files: String = "File",
            management_queries: String = "ManagementQuery",
        }
    }
}

collector! {
    /// See section 3.2.4.8 of [MS-PLA].
    AlertDataCollector = "AlertDataCollector" {
        one {
            /// Whether an alert is an event in the host's log.
            logs_events: bool = "EventLog",
            /// Seconds between two readings; `u32::MAX` is one reading only.
            sample_interval_s: u32 = "SampleInterval",
            /// The task that an alert starts.
            task: String = "Task",
            /// Whether the task runs as the set does.
            task_runs_as_self: bool = "TaskRunAsSelf",
            /// Arguments of the task.
            task_arguments: String = "TaskArguments",
            /// What replaces `{usertext}` in them.
            task_user_text_arguments: String = "TaskUserTextArguments",
            /// The set that an alert starts.
            trigger_data_collector_set: String = "TriggerDataCollectorSet",
        }
        many {
            /// Thresholds: a counter's path, `<` or `>`, and a number.
            alerts: String = "Alert",
            /// The same in the host's language. Written by hosts only.
            alert_display_names: String = "AlertDisplayName",
        }
    }
}

collector! {
    /// See section 3.2.4.10 of [MS-PLA].
    ApiTracingDataCollector = "ApiTracingDataCollector" {
        one {
            /// Whether arguments are left out.
            logs_names_only: bool = "LogApiNamesOnly",
            /// Whether functions that are called by functions are recorded, too. The printed schema lacks it.
            logs_recursively: bool = "LogApisRecursively",
            exe_path: String = "ExePath",
            log_file_path: String = "LogFilePath",
        }
        many {
            /// The modules that are recorded.
            include_modules: String = "IncludeModule",
            /// The functions that are recorded.
            include_apis: String = "IncludeApis",
            /// The functions that are not.
            exclude_apis: String = "ExcludeApis",
        }
    }
}
