//! A data collector set as XML: what is read, and what is refused.

use super::Error;
use super::collectors::{
    AlertDataCollector, ApiTracingDataCollector, ConfigurationDataCollector, PerformanceCounterDataCollector,
};
use super::data_manager::DataManager;
use super::element::{Attribute, Element, Node};
use super::field::{Date, Field, Time};
use super::read::Limits;
use super::record::record;
use super::trace::TraceDataCollector;
use super::{read, write};
use crate::types::{AutoPathFormat, DataCollectorSetStatus, WeekDays};

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
