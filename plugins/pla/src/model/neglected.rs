//! Properties of exported sets that have no effect here, or are in conflict with others.

use std::collections::HashSet;

use ms_pla::FileFormat;
use ms_pla::xml::{DataCollectorSet, Finding, PerformanceCounterDataCollector};
use wire::HResult;

use super::{LogFormat, clean};

/// A property that is ignored or in conflict: an entry of the value map of [MS-PLA] 2.2.2.11.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neglected {
    /// Its name. That of a data collector has a path.
    pub(crate) property: String,
    /// As Windows says it.
    pub(crate) code: HResult,
    pub(crate) sentence: String,
}

impl Neglected {
    /// What Windows would say, then what is otherwise here. That a property which is off has no effect is not worth a word.
    pub(crate) fn of(set: &DataCollectorSet, format: Option<LogFormat>) -> Vec<Self> {
        let said = |Finding { property, code }: Finding| Self {
            property,
            code,
            sentence: sentence(code).to_owned(),
        };
        let mut all: Vec<Self> = set.validate().into_iter().filter(is_worth_a_word).map(said).collect();
        if set.commit_error() == Some(HResult::PLA_E_CONFLICT_INCL_EXCL_API) {
            all.push(Self {
                property: "ApiTracingDataCollector/ExcludeApis".to_owned(),
                code: HResult::PLA_E_CONFLICT_INCL_EXCL_API,
                sentence: "a function is included and excluded: Windows does not store the set".to_owned(),
            });
        }
        if set.root_path.as_ref().is_some_and(|path| !path.trim().is_empty()) {
            all.push(ignored("RootPath".to_owned(), "files go below `storage.directory` of the exporter"));
        }
        if set.are_schedules_enabled == Some(true) && !set.schedules.is_empty() && !set.alerts.is_empty() {
            all.push(ignored("Schedule".to_owned(), "schedules start logs: alerts are judged always"));
        }
        let runs_as_self =
            [("".to_owned(), set.task_runs_as_self)].into_iter().chain(set.alerts.iter().enumerate().map(
                |(index, alert)| (format!("AlertDataCollector[{}]/", index + 1), alert.task_runs_as_self),
            ));
        for (at, _) in runs_as_self.filter(|(_, runs_as_self)| *runs_as_self == Some(true)) {
            all.push(ignored(format!("{at}TaskRunAsSelf"), "tasks run as the exporter does"));
        }
        let intervals = [
            ("PerformanceCounterDataCollector", each(&set.counters, |one| one.sample_interval_s)),
            ("AlertDataCollector", each(&set.alerts, |one| one.sample_interval_s)),
        ];
        for (kind, intervals) in intervals {
            for index in intervals {
                all.push(Self {
                    property: format!("{kind}[{index}]/SampleInterval"),
                    code: HResult::E_INVALIDARG,
                    sentence: "0 is no interval for Windows: it counts as 1 second".to_owned(),
                });
            }
        }
        for (index, collector) in set.counters.iter().enumerate() {
            all.extend(Self::of_counters(collector, format, |property| {
                format!("PerformanceCounterDataCollector[{}]/{property}", index + 1)
            }));
        }
        // A log that there is not appends to nothing.
        let is_binary =
            |format: Option<FileFormat>| format.unwrap_or(FileFormat::BINARY) == FileFormat::BINARY;
        for (index, _) in set.counters.iter().enumerate().filter(|(_, collector)| {
            collector.appends == Some(true) && (format.is_some() || !is_binary(collector.log_file_format))
        }) {
            let property = format!("PerformanceCounterDataCollector[{}]/LogAppend", index + 1);
            if all.iter().all(|known| known.property != property) {
                all.push(ignored(
                    property,
                    "a file that is there is replaced, or the log is written beside it",
                ));
            }
        }
        let others = [
            ("TraceDataCollector", set.traces.len()),
            ("ConfigurationDataCollector", set.configurations.len()),
            ("ApiTracingDataCollector", set.api_traces.len()),
        ];
        for (kind, count) in others.into_iter().filter(|(_, count)| *count > 0) {
            all.push(ignored(kind.to_owned(), &format!("{count} of them are not run here")));
        }
        all
    }

    /// What is said of the format and the counters of a log.
    fn of_counters(
        collector: &PerformanceCounterDataCollector,
        format: Option<LogFormat>,
        at: impl Fn(&str) -> String,
    ) -> Vec<Self> {
        let mut all = Vec::new();
        if collector.log_file_format.unwrap_or(FileFormat::BINARY) == FileFormat::BINARY {
            all.push(match format {
                Some(format) => ignored(
                    at("LogFileFormat"),
                    &format!(
                        "the binary format has no public description: the set logs as `{}`, as `log_format` says",
                        format.as_str()
                    ),
                ),
                None => Self {
                    property: at("LogFileFormat"),
                    code: HResult::PLA_E_PROPERTY_CONFLICT,
                    sentence:
                        "the binary format has no public description: write `log_format` in the configuration"
                            .to_owned(),
                },
            });
        }
        let mut seen = HashSet::new();
        let mut repeated = collector.counters.iter().filter(|text| {
            let path = text.trim().trim_start_matches('\\').to_lowercase();
            !path.is_empty() && !seen.insert(path)
        });
        if let Some(first) = repeated.next() {
            let more = match repeated.count() {
                0 => String::new(),
                more => format!(", and {more} more are"),
            };
            all.push(Self {
                property: at("Counter"),
                code: HResult::PLA_E_NO_DUPLICATES,
                sentence: format!("`{}` is there twice{more}: it is logged once", clean(first)),
            });
        }
        all
    }

    /// What people search for.
    pub(crate) fn name(code: HResult) -> &'static str {
        code.name().unwrap_or_default()
    }

    /// What a report of the counters says of it; nothing of other collectors.
    pub(crate) fn remark(&self) -> Option<String> {
        let Self { property, code, sentence } = self;
        let is_about_counters =
            !property.contains('/') || property.starts_with("PerformanceCounterDataCollector");
        let verb = if code.is_success() { "is ignored" } else { "is in conflict" };
        is_about_counters.then(|| format!("{property} {verb}: {sentence}."))
    }
}

fn ignored(property: String, sentence: &str) -> Neglected {
    Neglected { property, code: HResult::PLA_S_PROPERTY_IGNORED, sentence: sentence.to_owned() }
}

/// The collectors whose interval is 0, counted from 1.
fn each<T>(collectors: &[T], interval: impl Fn(&T) -> Option<u32>) -> Vec<usize> {
    let all = (1..).zip(collectors);
    all.filter(|(_, one)| interval(one) == Some(0)).map(|(index, _)| index).collect()
}

/// Windows writes all properties of files, of alerts too, which have no file, and most are off.
fn is_worth_a_word(Finding { property, code }: &Finding) -> bool {
    let name = property.rsplit('/').next().unwrap_or_default();
    let is_off = matches!(name, "LogCircular" | "LogAppend" | "LogOverwrite");
    !(code.is_success() && (is_off || property.starts_with("AlertDataCollector")))
}

const fn sentence(code: HResult) -> &'static str {
    match code {
        HResult::PLA_S_PROPERTY_IGNORED => "Windows keeps it, and it has no effect",
        HResult::PLA_E_PROPERTY_CONFLICT => "it contradicts another property",
        _ => "Windows refuses it",
    }
}
