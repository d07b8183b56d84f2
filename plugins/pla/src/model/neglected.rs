//! Properties of exported sets that have no effect here, or are in conflict with others.

use ms_dtyp::HResult;
use ms_pla::FileFormat;
use ms_pla::xml::{DataCollectorSet, Finding};

use super::LogFormat;

/// A property that is ignored or in conflict: an entry of the value map of [MS-PLA] 2.2.2.11.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neglected {
    /// Its name. That of a data collector has a path.
    pub(crate) property: String,
    /// As Windows says it.
    pub(crate) code: HResult,
    /// For people.
    pub(crate) sentence: String,
}

impl Neglected {
    /// What Windows would say, then what is otherwise here.
    pub(crate) fn of(set: &DataCollectorSet, format: Option<LogFormat>) -> Vec<Self> {
        let said = |Finding { property, code }: Finding| Self {
            property,
            code,
            sentence: sentence(code).to_owned(),
        };
        let mut all: Vec<Self> = set.validate().into_iter().map(said).collect();
        if set.root_path.as_ref().is_some_and(|path| !path.trim().is_empty()) {
            all.push(ignored("RootPath".to_owned(), "files go below `storage.directory` of the exporter"));
        }
        for (index, collector) in set.counters.iter().enumerate() {
            let at = |property: &str| format!("PerformanceCounterDataCollector[{}]/{property}", index + 1);
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
        }
        for (index, _) in
            set.counters.iter().enumerate().filter(|(_, collector)| collector.appends == Some(true))
        {
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

    /// What people search for.
    pub(crate) const fn name(code: HResult) -> &'static str {
        match code {
            HResult::PLA_S_PROPERTY_IGNORED => "PLA_S_PROPERTY_IGNORED",
            HResult::PLA_E_PROPERTY_CONFLICT => "PLA_E_PROPERTY_CONFLICT",
            HResult::PLA_E_CONFLICT_INCL_EXCL_API => "PLA_E_CONFLICT_INCL_EXCL_API",
            HResult::PLA_E_EXE_PATH_NOT_VALID => "PLA_E_EXE_PATH_NOT_VALID",
            HResult::PLA_E_NETWORK_EXE_NOT_VALID => "PLA_E_NETWORK_EXE_NOT_VALID",
            _ => "",
        }
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

const fn sentence(code: HResult) -> &'static str {
    match code {
        HResult::PLA_S_PROPERTY_IGNORED => "Windows keeps it, and it has no effect",
        HResult::PLA_E_PROPERTY_CONFLICT => "it contradicts another property",
        _ => "Windows refuses it",
    }
}
