//! A data collector of any kind: what all kinds have, and what one kind has.

use ms_pla::xml::{
    self, AlertDataCollector, ApiTracingDataCollector, ConfigurationDataCollector, DataCollectorSet, Limits,
    PerformanceCounterDataCollector, TraceDataCollector,
};
use ms_pla::{AutoPathFormat, DataCollectorType};
use wire::HResult;

use super::property::no_duplicates;
use super::provider_record::Provider;
use super::shared::{List, list, records};

/// [MS-PLA] 3.2.4.5: a collector.
pub(super) struct Collector {
    /// What all kinds have.
    pub(super) head: Head,
    /// What its kind has; what all have, and providers, stand beside it.
    pub(super) body: Body,
    /// The providers of a trace.
    pub(super) providers: List<Provider>,
}

/// The properties of all collectors.
#[derive(Clone, Default)]
pub(super) struct Head {
    pub(super) name: Option<String>,
    pub(super) file_name: Option<String>,
    pub(super) file_name_format: Option<AutoPathFormat>,
    pub(super) file_name_format_pattern: Option<String>,
    pub(super) appends: Option<bool>,
    pub(super) is_circular: Option<bool>,
    pub(super) overwrites: Option<bool>,
    pub(super) latest_output_location: Option<String>,
    pub(super) output_location: Option<String>,
    pub(super) index: Option<u32>,
}

macro_rules! bodies {
    ($($kind:ident($record:ident) = $type:ident, $of_set:ident;)*) => {
        /// The properties of one kind.
        #[derive(Clone)]
        pub(super) enum Body {
            $($kind($record),)*
        }

        impl Body {
            /// A collector of a kind, without properties; `None` if there is no such kind.
            fn new(kind: DataCollectorType) -> Option<Self> {
                match kind {
                    $(DataCollectorType::$type => Some(Self::$kind($record::default())),)*
                    _ => None,
                }
            }

            pub(super) const fn kind(&self) -> DataCollectorType {
                match self {
                    $(Self::$kind(_) => DataCollectorType::$type,)*
                }
            }

            /// Takes out what all kinds have.
            fn take_head(&mut self) -> Head {
                match self {
                    $(Self::$kind(record) => Head {
                        name: record.name.take(),
                        file_name: record.file_name.take(),
                        file_name_format: record.file_name_format.take(),
                        file_name_format_pattern: record.file_name_format_pattern.take(),
                        appends: record.appends.take(),
                        is_circular: record.is_circular.take(),
                        overwrites: record.overwrites.take(),
                        latest_output_location: record.latest_output_location.take(),
                        output_location: record.output_location.take(),
                        index: record.index.take(),
                    },)*
                }
            }

            fn with_head(self, head: &Head) -> Self {
                let Head { name, file_name, file_name_format_pattern, latest_output_location, output_location, .. } =
                    head.clone();
                match self {
                    $(Self::$kind(record) => Self::$kind($record {
                        kind: Some(DataCollectorType::$type),
                        name,
                        file_name,
                        file_name_format: head.file_name_format,
                        file_name_format_pattern,
                        appends: head.appends,
                        is_circular: head.is_circular,
                        overwrites: head.overwrites,
                        latest_output_location,
                        output_location,
                        index: head.index,
                        ..record
                    }),)*
                }
            }

            /// Takes the collectors out of a set.
            fn take_all(set: &mut DataCollectorSet) -> Vec<Self> {
                let mut bodies = Vec::new();
                $(bodies.extend(std::mem::take(&mut set.$of_set).into_iter().map(Self::$kind));)*
                bodies
            }

            fn add_to(self, set: &mut DataCollectorSet) {
                match self {
                    $(Self::$kind(record) => set.$of_set.push(record),)*
                }
            }

            /// The collector in a document, whose root says its kind.
            fn read(text: &str) -> Result<Self, xml::Error> {
                let limits = Limits::default();
                $(if text.contains(concat!("<", stringify!($record))) {
                    return $record::read(text.as_bytes(), &limits).map(Self::$kind);
                })*
                PerformanceCounterDataCollector::read(text.as_bytes(), &limits).map(Self::Counters)
            }

            fn to_xml(&self) -> Result<String, xml::Error> {
                match self {
                    $(Self::$kind(record) => record.to_xml(),)*
                }
            }
        }
    };
}

bodies! {
    Counters(PerformanceCounterDataCollector) = PERFORMANCE_COUNTER, counters;
    Trace(TraceDataCollector) = TRACE, traces;
    Configuration(ConfigurationDataCollector) = CONFIGURATION, configurations;
    Alert(AlertDataCollector) = ALERT, alerts;
    ApiTrace(ApiTracingDataCollector) = API_TRACE, api_traces;
}

impl Collector {
    /// A new collector of a kind; `None` if there is no such kind.
    pub(super) fn of_kind(kind: DataCollectorType) -> Option<Self> {
        Body::new(kind).map(Self::of_body)
    }

    fn of_body(mut body: Body) -> Self {
        let head = body.take_head();
        let providers = match &mut body {
            Body::Trace(trace) => std::mem::take(&mut trace.providers),
            _ => Vec::new(),
        };
        Self { head, body, providers: list(providers.into_iter().map(Provider::new)) }
    }

    /// The collectors of a set, by kind.
    pub(super) fn take_all(set: &mut DataCollectorSet) -> Vec<Self> {
        Body::take_all(set).into_iter().map(Self::of_body).collect()
    }

    /// Adds it to a set.
    pub(super) fn add_to(&self, set: &mut DataCollectorSet) {
        self.record().add_to(set);
    }

    fn record(&self) -> Body {
        let mut body = self.body.clone().with_head(&self.head);
        if let Body::Trace(trace) = &mut body {
            trace.providers = records(&self.providers, Provider::record);
        }
        body
    }

    /// A collector from XML.
    pub(super) fn of_xml(text: &str) -> Result<Self, HResult> {
        let collector = Body::read(text).map(Self::of_body).map_err(|_| HResult::E_INVALIDARG)?;
        collector.refuse_duplicates()?;
        Ok(collector)
    }

    pub(super) fn to_xml(&self) -> Result<String, HResult> {
        self.refuse_duplicates()?;
        self.record().to_xml().map_err(|_| HResult::E_FAIL)
    }

    /// The GUID of a provider may be changed when it is in the collection.
    fn refuse_duplicates(&self) -> Result<(), HResult> {
        let guids = records(&self.providers, |provider| provider.record.guid.map(|guid| guid.to_string()));
        no_duplicates(&guids.into_iter().flatten().collect::<Vec<_>>())
    }

    pub(super) const fn kind(&self) -> DataCollectorType {
        self.body.kind()
    }
}
