//! The exporter's own metrics as values.

use series::model::Histogram;

/// A family of the exporter's own registry. Names are legal in every version of every format.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnFamily {
    /// Without the suffix of its kind.
    pub(super) name: String,
    pub(super) kind: OwnKind,
    pub(super) unit: String,
    pub(super) help: String,
    pub(super) series: Vec<OwnSeries>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnKind {
    Gauge,
    Counter,
    Info,
    Unknown,
    Histogram,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnSeries {
    pub(super) labels: Labels,
    pub(super) value: OwnValue,
}

pub(super) type Labels = Vec<(String, String)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnValue {
    Number { value: f64, start_time_unix_nanos: Option<i64> },
    Histogram(Box<Histogram>),
}

impl OwnKind {
    /// The suffix of a sample's name.
    pub(super) fn sample_suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::Unknown | Self::Histogram => "",
        }
    }
}
