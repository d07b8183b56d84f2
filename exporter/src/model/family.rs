//! What all series of one name have in common.

/// What the values of a family mean. Histograms are the exporter's own alone: see [`super::Histogram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, or starts anew.
    Counter,
    /// Labels that describe something; the value is always 1.
    Info,
    /// Nobody knows.
    Unknown,
}

impl Kind {
    /// What a sample's name has behind the family's name.
    #[must_use]
    pub fn sample_suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::Unknown => "",
        }
    }
}

/// A metric family. One name has one family in the whole process, shared by all targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name without the suffix of its kind, as OpenMetrics means it: `perfmon_http_service_requests`.
    ///
    /// INVARIANT: not empty and clean (see [`super::clean_name`]); ends with `_<unit>` where there is a unit; in no
    /// [`Family`] that lives beside this one is it, or its name with a suffix, taken, in any [`super::Escaping`].
    pub name: String,
    /// What the values mean.
    pub kind: Kind,
    /// The base unit, `seconds`, `bytes` …, or empty.
    pub unit: String,
    /// A sentence for people, then where it comes from. Unescaped.
    pub help: String,
}

impl Family {
    /// The name that stands on its sample lines.
    #[must_use]
    pub fn sample_name(&self) -> String {
        format!("{}{}", self.name, self.kind.sample_suffix())
    }
}
