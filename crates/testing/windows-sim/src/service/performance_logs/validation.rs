//! [MS-PLA] 2.2.2.11: which properties of a set are ignored, or in conflict with others.

use ms_dtyp::HResult;
use ms_pla::xml::DataCollectorSet;
use ms_pla::{AutoPathFormat, Category, CommitMode, FileFormat, StreamMode};

/// The properties, as paths, each with its result. Collectors of a kind are counted from 1.
pub(super) fn validate(
    set: &DataCollectorSet,
    category: Option<Category>,
    mode: CommitMode,
) -> Vec<(String, HResult)> {
    let mut found = Found::default();
    let is_session = matches!(category, Some(Category::TraceSession | Category::BootTraceSession));
    of_set(set, &mut found);
    of_collectors(set, &mut found);
    if is_session {
        of_session(set, mode, &mut found);
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<(String, HResult)>);

impl Found {
    /// Of these properties, those that are set are ignored.
    fn ignored(&mut self, at: &str, properties: &[(&str, bool)]) {
        let set = properties.iter().filter(|(_, is_set)| *is_set);
        let ignored = set.map(|(name, _)| (format!("{at}{name}"), HResult::PLA_S_PROPERTY_IGNORED));
        self.0.extend(ignored);
    }

    fn wrong(&mut self, at: &str, name: &str, result: HResult, is_wrong: bool) {
        if is_wrong {
            self.0.push((format!("{at}{name}"), result));
        }
    }

    fn conflict(&mut self, at: &str, name: &str, is_conflict: bool) {
        self.wrong(at, name, HResult::PLA_E_PROPERTY_CONFLICT, is_conflict);
    }
}

fn of_set(set: &DataCollectorSet, found: &mut Found) {
    let format = set.subdirectory_format.unwrap_or_default();
    let has_no_pattern = !format.contains(AutoPathFormat::PATTERN);
    let has_no_task = set.task.as_ref().is_none_or(String::is_empty);
    let ignored = [
        ("TaskArguments", has_no_task && set.task_arguments.is_some()),
        ("SubdirectoryFormatPattern", has_no_pattern && set.subdirectory_format_pattern.is_some()),
    ];
    found.ignored("", &ignored);
}

/// What all kinds of collectors have, where the kind does not ignore it.
macro_rules! of_base {
    ($found:ident, $at:ident, $collector:ident, $set:ident) => {{
        let is_circular = $collector.is_circular == Some(true);
        let is_replaced = is_circular || $collector.overwrites == Some(true);
        let has_pattern = $collector.file_name_format.unwrap_or_default().contains(AutoPathFormat::PATTERN);
        let pattern = $collector.file_name_format_pattern.as_deref().unwrap_or_default();
        $found.conflict($at, "FileNameFormatPattern", has_pattern && pattern.is_empty());
        $found.conflict($at, "LogCircular", is_circular && $set.segment_size_max_mb.unwrap_or(0) == 0);
        $found.conflict($at, "LogAppend", is_replaced && $collector.appends == Some(true));
    }};
}

fn of_collectors(set: &DataCollectorSet, found: &mut Found) {
    for (index, one) in set.counters.iter().enumerate() {
        let at = &*format!("PerformanceCounterDataCollector[{}]/", index + 1);
        let format = one.log_file_format.unwrap_or_default();
        let is_sql = format == FileFormat::SQL;
        let is_text = matches!(format, FileFormat::COMMA_SEPARATED | FileFormat::TAB_SEPARATED);
        let ignored = [
            ("LogCircular", is_sql && one.is_circular.is_some()),
            ("LogOverwrite", is_sql && one.overwrites.is_some()),
            ("LogAppend", (is_sql || is_text) && one.appends.is_some()),
        ];
        found.ignored(at, &ignored);
        found.conflict(
            at,
            "DataSourceName",
            is_sql && one.data_source_name.as_ref().is_none_or(String::is_empty),
        );
        if !is_sql {
            of_base!(found, at, one, set);
        }
    }
    for (index, one) in set.traces.iter().enumerate() {
        let at = &*format!("TraceDataCollector[{}]/", index + 1);
        let is_file = one.stream_mode.unwrap_or(StreamMode::FILE) == StreamMode::FILE;
        let ignored = [
            ("FileName", one.file_name.is_some()),
            ("FileNameFormat", one.file_name_format.is_some()),
            ("FileNameFormatPattern", one.file_name_format_pattern.is_some()),
            ("LogAppend", one.appends.is_some()),
            ("LogCircular", one.is_circular.is_some()),
            ("LogOverwrite", one.overwrites.is_some()),
        ];
        if is_file {
            of_base!(found, at, one, set);
        } else {
            found.ignored(at, &ignored);
        }
    }
    for (index, one) in set.configurations.iter().enumerate() {
        let at = &*format!("ConfigurationDataCollector[{}]/", index + 1);
        let ignored = [("LogCircular", one.is_circular.is_some()), ("LogAppend", one.appends.is_some())];
        found.ignored(at, &ignored);
    }
    for (index, one) in set.alerts.iter().enumerate() {
        let at = &*format!("AlertDataCollector[{}]/", index + 1);
        let ignored = [
            ("FileName", one.file_name.is_some()),
            ("FileNameFormat", one.file_name_format.is_some()),
            ("FileNameFormatPattern", one.file_name_format_pattern.is_some()),
            ("LogAppend", one.appends.is_some()),
            ("LogCircular", one.is_circular.is_some()),
            ("LogOverwrite", one.overwrites.is_some()),
        ];
        found.ignored(at, &ignored);
    }
    of_api_traces(set, found);
}

fn of_api_traces(set: &DataCollectorSet, found: &mut Found) {
    for (index, one) in set.api_traces.iter().enumerate() {
        let at = &*format!("ApiTracingDataCollector[{}]/", index + 1);
        let ignored = [
            ("FileNameFormat", one.file_name_format.is_some()),
            ("FileNameFormatPattern", one.file_name_format_pattern.is_some()),
            ("LogAppend", one.appends.is_some()),
            ("LogOverwrite", one.overwrites.is_some()),
            ("LogCircular", one.is_circular.is_some()),
        ];
        found.ignored(at, &ignored);
        let path = one.exe_path.as_deref().unwrap_or_default();
        let is_full = path.starts_with(r"\\") || path.get(1..3) == Some(r":\");
        found.conflict(at, "ExePath", path.is_empty());
        found.wrong(at, "ExePath", HResult::PLA_E_EXE_FULL_PATH_REQUIRED, !path.is_empty() && !is_full);
        found.wrong(at, "ExePath", HResult::PLA_E_NETWORK_EXE_NOT_VALID, path.starts_with(r"\\"));
    }
}

/// [MS-PLA] 3.2.1: a session ignores what is about folders and schedules.
fn of_session(set: &DataCollectorSet, mode: CommitMode, found: &mut Found) {
    let ignored = [
        ("RootPath", set.root_path.is_some()),
        ("Duration", set.duration_s.is_some()),
        ("Description", set.description.is_some()),
        ("Keywords", !set.keywords.is_empty()),
        ("Segment", set.is_segmented.is_some()),
        ("SegmentMaxDuration", set.segment_duration_max_s.is_some()),
        ("SerialNumber", set.serial_number.is_some()),
        ("Subdirectory", set.subdirectory.is_some()),
        ("SubdirectoryFormat", set.subdirectory_format.is_some()),
        ("Task", set.task.is_some()),
        ("Schedules", !set.schedules.is_empty()),
    ];
    found.ignored("", &ignored);
    let Some(trace) = set.traces.first() else { return };
    let is_update = mode.contains(CommitMode::UPDATE_RUNNING_INSTANCE);
    let ignored = [
        ("BufferSize", is_update && trace.buffer_size_kb.is_some()),
        ("MinimumBuffers", is_update && trace.buffers_min.is_some()),
        ("NumberOfBuffers", is_update && trace.buffers.is_some()),
        ("ClockType", is_update && trace.clock_type.is_some()),
        ("ProcessMode", is_update && trace.is_per_process.is_some()),
        ("PreallocateFile", is_update && trace.preallocates_file.is_some()),
    ];
    found.ignored("TraceDataCollector[1]/", &ignored);
}

#[cfg(test)]
mod tests;
