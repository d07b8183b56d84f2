//! [MS-PLA] 2.2.2.11: which properties of a set are ignored, or in conflict with others.

use wire::{Guid, HResult};

use super::TraceDataCollector;
use super::set::DataCollectorSet;
use crate::ids::Category;
use crate::types::{AutoPathFormat, CommitMode, FileFormat, StreamMode};

/// A property that is ignored or wrong: an item of a validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The property. That of a data collector has a path, in which the collectors of a kind are counted from 1:
    /// `PerformanceCounterDataCollector[1]/LogAppend`.
    pub property: String,
    /// What is wrong with it.
    pub code: HResult,
}

/// How a set is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The category: sessions ignore what is about folders and schedules.
    pub category: Category,
    /// What is done with the set: a session that runs ignores more.
    pub mode: CommitMode,
    /// Whether that is reported, too, which Windows does not report ([MS-PLA] 7, notes 3 to 5): the file name of a trace of
    /// functions, fewer buffers at most than at least, and the GUID of a trace of the kernel.
    pub is_strict: bool,
}

impl Default for Validation {
    /// A set that a client stores on Windows.
    fn default() -> Self {
        Self { category: Category::Server, mode: CommitMode::CREATE_OR_MODIFY, is_strict: false }
    }
}

impl DataCollectorSet {
    /// [MS-PLA] 2.2.2.11: the properties that are ignored or in conflict with others, as Windows reports them.
    ///
    /// A property is ignored only if the set has it. Conflicts do not keep a host from storing the set: sets that were exported
    /// by Windows have some. Whether a program exists is not known here (`PLA_E_EXE_PATH_NOT_VALID`).
    #[must_use]
    pub fn validate(&self) -> Vec<Finding> {
        self.validate_as(Validation::default())
    }

    /// The same for other categories and modes.
    #[must_use]
    pub fn validate_as(&self, validation: Validation) -> Vec<Finding> {
        let is_session = matches!(validation.category, Category::TraceSession | Category::BootTraceSession);
        let mut findings =
            Findings { all: Vec::new(), is_unlimited: self.segment_size_max_mb.unwrap_or(0) == 0 };
        findings.set(self, is_session);
        let is_update = validation.mode.contains(CommitMode::UPDATE_RUNNING_INSTANCE);
        if is_session && is_update && self.segment_size_max_mb.is_some() {
            findings.push("SegmentMaxSize", HResult::PLA_S_PROPERTY_IGNORED);
        }
        findings.counters(self);
        for (index, trace) in self.traces.iter().enumerate() {
            let at = format!("{}[{}]/", TraceDataCollector::ELEMENT, index + 1);
            let is_first = index == 0;
            findings.trace(&at, trace, is_session && is_first, validation.is_strict);
            if is_session && is_first && is_update {
                findings.running_trace(&at, trace);
            }
        }
        findings.configurations(self);
        findings.alerts(self);
        findings.api_traces(self, validation.is_strict);
        findings.all
    }

    /// [MS-PLA] 3.2.4.1.54: why the set cannot be stored at all: a function is both in the list of those that are recorded and
    /// of those that are not.
    #[must_use]
    pub fn commit_error(&self) -> Option<HResult> {
        let has_both = self.api_traces.iter().any(|trace| {
            let is_excluded =
                |api: &String| trace.exclude_apis.iter().any(|other| api.eq_ignore_ascii_case(other));
            trace.include_apis.iter().any(is_excluded)
        });
        has_both.then_some(HResult::PLA_E_CONFLICT_INCL_EXCL_API)
    }
}

struct Findings {
    all: Vec<Finding>,
    /// Whether there is no `SegmentMaxSize`.
    is_unlimited: bool,
}

/// What all kinds of collectors have.
struct Files<'a> {
    name: Option<&'a str>,
    format: Option<AutoPathFormat>,
    pattern: Option<&'a str>,
    appends: Option<bool>,
    is_circular: Option<bool>,
    overwrites: Option<bool>,
}

macro_rules! files {
    ($collector:expr) => {
        Files {
            name: $collector.file_name.as_deref(),
            format: $collector.file_name_format,
            pattern: $collector.file_name_format_pattern.as_deref(),
            appends: $collector.appends,
            is_circular: $collector.is_circular,
            overwrites: $collector.overwrites,
        }
    };
}

impl Files<'_> {
    fn has(&self, property: &str) -> bool {
        match property {
            FILE_NAME => is_set(self.name),
            FORMAT => self.format.is_some(),
            PATTERN => is_set(self.pattern),
            APPEND => self.appends.is_some(),
            CIRCULAR => self.is_circular.is_some(),
            _ => self.overwrites.is_some(),
        }
    }

    fn lacks_pattern(&self) -> bool {
        self.format.unwrap_or_default().contains(AutoPathFormat::PATTERN) && !is_set(self.pattern)
    }
}

impl Findings {
    fn push(&mut self, property: impl Into<String>, code: HResult) {
        self.all.push(Finding { property: property.into(), code });
    }

    /// Of these properties, those that the set has are ignored.
    fn ignored(&mut self, at: &str, properties: &[(&str, bool)]) {
        for (property, _) in properties.iter().filter(|(_, is_set)| *is_set) {
            self.push(format!("{at}{property}"), HResult::PLA_S_PROPERTY_IGNORED);
        }
    }

    fn set(&mut self, set: &DataCollectorSet, is_session: bool) {
        let has_task = is_set(set.task.as_deref()) && !is_session;
        let format = set.subdirectory_format.unwrap_or_default();
        let has_pattern = format.contains(AutoPathFormat::PATTERN) && !is_session;
        self.ignored(
            "",
            &[
                ("TaskArguments", !has_task && is_set(set.task_arguments.as_deref())),
                (
                    "SubdirectoryFormatPattern",
                    !has_pattern && is_set(set.subdirectory_format_pattern.as_deref()),
                ),
            ],
        );
        if is_session {
            self.ignored(
                "",
                &[
                    ("RootPath", is_set(set.root_path.as_deref())),
                    ("Duration", set.duration_s.is_some()),
                    ("Description", is_set(set.description.as_deref())),
                    ("Keywords", !set.keywords.is_empty()),
                    ("Segment", set.is_segmented.is_some()),
                    ("SegmentMaxDuration", set.segment_duration_max_s.is_some()),
                    ("SerialNumber", set.serial_number.is_some()),
                    ("Subdirectory", is_set(set.subdirectory.as_deref())),
                    ("SubdirectoryFormat", set.subdirectory_format.is_some()),
                    ("Task", is_set(set.task.as_deref())),
                    ("Schedules", !set.schedules.is_empty()),
                ],
            );
        }
    }

    /// What is about files. What a kind of collector ignores in any case cannot be wrong.
    fn files(&mut self, at: &str, files: &Files<'_>, ignored: &[&str]) {
        for property in FILES.into_iter().filter(|property| ignored.contains(property)) {
            self.ignored(at, &[(property, files.has(property))]);
        }
        let counts = |property: &str| !ignored.contains(&property);
        if counts(PATTERN) && files.lacks_pattern() {
            self.push(format!("{at}{PATTERN}"), HResult::PLA_E_PROPERTY_CONFLICT);
        }
        let is_replaced = files.is_circular == Some(true) || files.overwrites == Some(true);
        for (property, value, is_useless) in
            [(CIRCULAR, files.is_circular, self.is_unlimited), (APPEND, files.appends, is_replaced)]
        {
            if let Some(value) = value.filter(|_| is_useless && counts(property)) {
                let conflict = HResult::PLA_E_PROPERTY_CONFLICT;
                let code = if value { conflict } else { HResult::PLA_S_PROPERTY_IGNORED };
                self.push(format!("{at}{property}"), code);
            }
        }
    }

    fn counters(&mut self, set: &DataCollectorSet) {
        for (index, one) in set.counters.iter().enumerate() {
            let at = format!("PerformanceCounterDataCollector[{}]/", index + 1);
            let ignored: &[&str] = match one.log_file_format.unwrap_or(FileFormat::BINARY) {
                // Without a format Windows writes the binary one.
                FileFormat::SQL => &[CIRCULAR, OVERWRITE, APPEND],
                FileFormat::COMMA_SEPARATED | FileFormat::TAB_SEPARATED => &[APPEND],
                _ => &[],
            };
            self.files(&at, &files!(one), ignored);
            if one.log_file_format == Some(FileFormat::SQL) && !is_set(one.data_source_name.as_deref()) {
                self.push(format!("{at}DataSourceName"), HResult::PLA_E_PROPERTY_CONFLICT);
            }
        }
    }

    fn trace(&mut self, at: &str, trace: &TraceDataCollector, is_session: bool, is_strict: bool) {
        let is_file = trace.stream_mode.unwrap_or(StreamMode::FILE) == StreamMode::FILE;
        let ignored: &[&str] = match (is_file, is_session) {
            (false, _) => &FILES,
            (true, true) => &[FORMAT, PATTERN, OVERWRITE],
            (true, false) => &[],
        };
        self.files(at, &files!(trace), ignored);
        let is_kernel = trace.providers.iter().any(|provider| provider.guid == Some(KERNEL));
        let conflicts = [
            ("TraceDataProviders", is_kernel && trace.providers.len() > 1),
            (
                "MaximumBuffers",
                is_strict && trace.buffers_max.is_some_and(|max| max < trace.buffers_min.unwrap_or(0)),
            ),
            (
                "Guid",
                is_strict
                    && is_kernel
                    && trace.guid.is_some_and(|guid| guid != KERNEL && guid != Guid::default()),
            ),
        ];
        for (property, _) in conflicts.iter().filter(|(_, is_conflict)| *is_conflict) {
            self.push(format!("{at}{property}"), HResult::PLA_E_PROPERTY_CONFLICT);
        }
    }

    /// A session that runs keeps its buffers and its file.
    fn running_trace(&mut self, at: &str, trace: &TraceDataCollector) {
        self.ignored(
            at,
            &[
                ("BufferSize", trace.buffer_size_kb.is_some()),
                ("MinimumBuffers", trace.buffers_min.is_some()),
                ("NumberOfBuffers", trace.buffers.is_some()),
                ("ClockType", trace.clock_type.is_some()),
                ("ProcessMode", trace.is_per_process.is_some()),
                ("PreallocateFile", trace.preallocates_file.is_some()),
            ],
        );
    }

    fn configurations(&mut self, set: &DataCollectorSet) {
        for (index, one) in set.configurations.iter().enumerate() {
            let at = format!("ConfigurationDataCollector[{}]/", index + 1);
            self.files(&at, &files!(one), &[CIRCULAR, APPEND]);
        }
    }

    fn alerts(&mut self, set: &DataCollectorSet) {
        for (index, one) in set.alerts.iter().enumerate() {
            let at = format!("AlertDataCollector[{}]/", index + 1);
            self.files(&at, &files!(one), &FILES);
        }
    }

    fn api_traces(&mut self, set: &DataCollectorSet, is_strict: bool) {
        for (index, one) in set.api_traces.iter().enumerate() {
            let at = format!("ApiTracingDataCollector[{}]/", index + 1);
            let files = files!(one);
            // The name is ignored, and nothing says so.
            let files = if is_strict { files } else { Files { name: None, ..files } };
            self.files(&at, &files, &FILES);
            if let Some(code) = exe_path(one.exe_path.as_deref().unwrap_or_default()) {
                self.push(format!("{at}ExePath"), code);
            }
        }
    }
}

/// What is wrong with the path of a program.
fn exe_path(path: &str) -> Option<HResult> {
    let path = path.trim();
    let path = path.strip_prefix(r"\\?\").map_or(path, |path| if is_on_drive(path) { path } else { r"\\" });
    if path.is_empty() {
        Some(HResult::PLA_E_PROPERTY_CONFLICT)
    } else if path.starts_with(r"\\") || path.starts_with("//") {
        Some(HResult::PLA_E_NETWORK_EXE_NOT_VALID)
    } else if is_on_drive(path) || path.starts_with('%') {
        // A variable of the environment is a full path, such as that of Windows.
        None
    } else {
        Some(HResult::PLA_E_EXE_FULL_PATH_REQUIRED)
    }
}

fn is_on_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// Exported sets have blanks where they have no text.
fn is_set(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.trim().is_empty())
}

const FILE_NAME: &str = "FileName";
const FORMAT: &str = "FileNameFormat";
const PATTERN: &str = "FileNameFormatPattern";
const APPEND: &str = "LogAppend";
const CIRCULAR: &str = "LogCircular";
const OVERWRITE: &str = "LogOverwrite";
const FILES: [&str; 6] = [FILE_NAME, FORMAT, PATTERN, APPEND, CIRCULAR, OVERWRITE];
/// The provider of the kernel's events, whose session has the same GUID: 9E814AAD-3204-11D2-9A82-006008A86939.
const KERNEL: Guid = Guid::from_u128(0x9e81_4aad_3204_11d2_9a82_0060_08a8_6939);
