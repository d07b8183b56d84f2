//! A data collector set as XML: what is read, and what is refused.

use super::field::{Date, Field, Time};
use super::read::{self, Limits};
use super::record::{collector, record};
use super::{Attribute, Element, Error, Node, TraceDataCollector};
use crate::types::{
    AutoPathFormat, DataCollectorSetStatus, DataCollectorType, FileFormat, FolderActionSteps, ResourcePolicy,
    WeekDays,
};

record! {
    /// See section 3.2.4.1 of [MS-PLA].
    DataCollectorSet = "DataCollectorSet" {
        one {
            /// Whether it runs. Written by hosts only.
            status: DataCollectorSetStatus = "Status",
            /// Seconds that it runs; 0 is until it is stopped.
            duration_s: u32 = "Duration",
            description: String = "Description",
            /// The text as it was set. Written by hosts only.
            description_unresolved: String = "DescriptionUnresolved",
            /// The name for people.
            display_name: String = "DisplayName",
            /// That name as it was set. Written by hosts only.
            display_name_unresolved: String = "DisplayNameUnresolved",
            /// Whether the schedules are in force.
            are_schedules_enabled: bool = "SchedulesEnabled",
            /// Where the newest data are.
            latest_output_location: String = "LatestOutputLocation",
            /// The name. Written by hosts only.
            name: String = "Name",
            /// Where the data of the next run go. Written by hosts only.
            output_location: String = "OutputLocation",
            /// The folder below which data go.
            root_path: String = "RootPath",
            /// Whether a new file or folder begins when a limit is reached.
            is_segmented: bool = "Segment",
            /// The limit of one segment in seconds; 0 is none.
            segment_duration_max_s: u32 = "SegmentMaxDuration",
            /// The limit of one segment in MB; 0 is none.
            segment_size_max_mb: u32 = "SegmentMaxSize",
            /// The number of the next folder or file.
            serial_number: u32 = "SerialNumber",
            /// The host. Written by hosts only.
            server: String = "Server",
            /// The folder below the root.
            subdirectory: String = "Subdirectory",
            /// What is added to the folder's name.
            subdirectory_format: AutoPathFormat = "SubdirectoryFormat",
            /// The pattern that is added to it.
            subdirectory_format_pattern: String = "SubdirectoryFormatPattern",
            /// The task that is started when data were collected.
            task: String = "Task",
            /// Whether the task runs as the set does.
            task_runs_as_self: bool = "TaskRunAsSelf",
            /// Arguments of the task.
            task_arguments: String = "TaskArguments",
            /// What replaces `{usertext}` in them.
            task_user_text_arguments: String = "TaskUserTextArguments",
            /// The account that it runs as. Written by hosts only.
            user_account: String = "UserAccount",
            /// The security descriptor, as SDDL.
            security: String = "Security",
            /// Whether it stops when all its collectors have.
            stops_on_completion: bool = "StopOnCompletion",
            /// What happens to the data.
            data_manager: DataManager = "DataManager",
        }
        many {
            /// Words by which it is found.
            keywords: String = "Keyword",
            schedules: Schedule = "Schedule",
            /// Collectors of performance counters.
            counters: PerformanceCounterDataCollector = "PerformanceCounterDataCollector",
            traces: TraceDataCollector = "TraceDataCollector",
            /// Collectors of files, registry keys and answers of WMI.
            configurations: ConfigurationDataCollector = "ConfigurationDataCollector",
            alerts: AlertDataCollector = "AlertDataCollector",
            api_traces: ApiTracingDataCollector = "ApiTracingDataCollector",
        }
    }
}

record! {
    /// See section 3.2.4.12 of [MS-PLA].
    Schedule = "Schedule" {
        one {
            start_date: Date = "StartDate",
            end_date: Date = "EndDate",
            /// The time of day.
            start_time: Time = "StartTime",
            /// The days of the week.
            days: WeekDays = "Days",
        }
        many {}
    }
}

// The data manager of a set, as XML.

record! {
    /// See section 3.2.4.2 of [MS-PLA].
    DataManager = "DataManager" {
        one {
            /// Whether it does anything after a run.
            is_enabled: bool = "Enabled",
            /// Whether the limits are checked before a run, too.
            checks_before_running: bool = "CheckBeforeRunning",
            /// MB that have to be free on the disk; 0 is no limit.
            free_disk_min_mb: u32 = "MinFreeDisk",
            /// MB that all folders may take; 0 is no limit.
            size_max_mb: u32 = "MaxSize",
            /// Folders that there may be; 0 is no limit.
            folders_max: u32 = "MaxFolderCount",
            /// Which folders are deleted first.
            resource_policy: ResourcePolicy = "ResourcePolicy",
            /// The file of the report in HTML.
            report_file_name: String = "ReportFileName",
            /// The file of the report in XML.
            rule_target_file_name: String = "RuleTargetFileName",
            /// The file for events of a trace.
            events_file_name: String = "EventsFileName",
            /// What reports contain, with a namespace or without. The printed schema lacks it.
            report_schema: Element = "ReportSchema",
            rules: Element = "Rules",
        }
        many {
            /// What is done with old and large folders.
            folder_actions: FolderAction = "FolderAction",
        }
    }
}

record! {
    /// See section 3.2.4.3 of [MS-PLA].
    FolderAction = "FolderAction" {
        one {
            /// MB from which it is done; 0 is any.
            size_mb: u32 = "Size",
            /// Days after which it is done; 0 is at once.
            age_days: u32 = "Age",
            actions: FolderActionSteps = "Actions",
            /// The folder to which cabinet files are sent.
            send_cab_to: String = "SendCabTo",
        }
        many {}
    }
}

impl DataManager {
    /// [MS-PLA] 2.2.3.3: the files of the host whose reports the report schema imports.
    #[must_use]
    pub fn imports(&self) -> Vec<&str> {
        let mut imports = Vec::new();
        let mut open: Vec<&Element> = self.report_schema.iter().collect();
        while let Some(element) = open.pop() {
            if element.local_name() == "Import" {
                imports.extend(element.attribute("file"));
            }
            // The last one is looked at first.
            let at = open.len();
            open.extend(element.elements());
            open[at..].reverse();
        }
        imports
    }
}

// Data collectors of a set, as XML.

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
