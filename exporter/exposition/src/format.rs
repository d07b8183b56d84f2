//! Content negotiation.
//!
//! A new [`Format`]: `Representation::of_range`, without which nobody gets it, what the compiler asks for, each comparison with one format in this crate, and `FORMATS` in `scrapes.rs` of
//! `web`, without which its pages are not timed.

use series::model::Escaping;

use super::accept::{Ranges, parameters};

/// A format of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Prometheus text, the default.
    #[default]
    Text,
    OpenMetrics,
    /// `io.prometheus.client.MetricFamily` messages, each after its length.
    Protobuf,
}

/// A format with its version and the way in which names come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Representation {
    pub format: Format,
    /// The version: `0.0.4` or `1.0.0` of text, `0.0.1` or `1.0.0` of OpenMetrics, empty for protobuf.
    pub version: &'static str,
    /// INVARIANT: not [`Escaping::AllowUtf8`] where the version knows no quotes.
    pub escaping: Escaping,
}

impl From<Format> for Representation {
    /// The representation without further parameters.
    fn from(format: Format) -> Self {
        let version = match format {
            Format::Text => TEXT_0,
            Format::OpenMetrics => V1,
            Format::Protobuf => "",
        };
        Self { format, version, escaping: Escaping::Underscores }
    }
}

impl Representation {
    /// The newest version of the format, its names in this way.
    #[must_use]
    pub fn newest(format: Format, escaping: Escaping) -> Self {
        let version = if format == Format::Protobuf { "" } else { V1 };
        Self { format, version, escaping }
    }

    #[must_use]
    pub fn content_type(self) -> String {
        let Self { format, version, escaping } = self;
        let escaping = escaping.as_str();
        match format {
            Format::Text => format!("text/plain; version={version}; charset=utf-8; escaping={escaping}"),
            Format::OpenMetrics => {
                format!("application/openmetrics-text; version={version}; charset=utf-8; escaping={escaping}")
            }
            Format::Protobuf => format!("{PROTOBUF}; proto={PROTO}; encoding=delimited; escaping={escaping}"),
        }
    }

    /// The representation of one media range of an Accept header, if supported.
    fn of_range(media_type: &str, rest: &str) -> Option<Self> {
        let (mut version, mut proto, mut encoding) = (None, "", "");
        let mut escaping = Escaping::Underscores;
        for (name, value) in parameters(rest) {
            match name.to_ascii_lowercase().as_str() {
                "version" => version = Some(value),
                "proto" => proto = value,
                "encoding" => encoding = value,
                // An unknown scheme is ignored.
                "escaping" => escaping = Escaping::of_word(value).unwrap_or(escaping),
                _ => {}
            }
        }
        let (format, version) = match (media_type, version) {
            ("application/openmetrics-text", None | Some(V1)) => (Format::OpenMetrics, V1),
            ("application/openmetrics-text", Some(OPENMETRICS_0)) => (Format::OpenMetrics, OPENMETRICS_0),
            ("text/plain", None | Some(TEXT_0)) | ("text/*" | "*/*", _) => (Format::Text, TEXT_0),
            ("text/plain", Some(V1)) => (Format::Text, V1),
            (PROTOBUF, _) if proto == PROTO && encoding == "delimited" => (Format::Protobuf, ""),
            _ => return None,
        };
        let knows_quotes = version == V1 || format == Format::Protobuf;
        let quotes_unknown = escaping == Escaping::AllowUtf8 && !knows_quotes;
        let escaping = if quotes_unknown { Escaping::Underscores } else { escaping };
        Some(Self { format, version, escaping })
    }
}

/// The preferred supported representation of an Accept header; text 0.0.4 if it has none.
///
/// As Prometheus' own exporters do it: the highest q wins, among equals the first; invalid entries are ignored.
#[must_use]
pub fn negotiate(accept: Option<&str>) -> Representation {
    let mut best: Option<(u16, Representation)> = None;
    for range in Ranges::of(accept.unwrap_or_default()) {
        if range.quality > best.map_or(0, |(quality, _)| quality)
            && let Some(representation) = Representation::of_range(&range.name, range.parameters)
        {
            best = Some((range.quality, representation));
        }
    }
    best.map_or_else(|| Format::Text.into(), |(_, representation)| representation)
}

const TEXT_0: &str = "0.0.4";
const OPENMETRICS_0: &str = "0.0.1";
const V1: &str = "1.0.0";
const PROTOBUF: &str = "application/vnd.google.protobuf";
const PROTO: &str = "io.prometheus.client.MetricFamily";

#[cfg(test)]
mod tests {
    use super::*;

    const OM: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=";
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

    fn check(accept: &str, expected: &str) {
        assert_eq!(negotiate(Some(accept)).content_type(), expected, "{accept}");
    }

    #[test]
    fn prometheus_gets_what_it_asks_for() {
        // Prometheus 3
        check(
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
             application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,\
             text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            &format!("{OM}allow-utf-8"),
        );
        // The same with native histograms
        check(
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
             application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5",
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; \
             escaping=underscores",
        );
        // Prometheus 2.42
        check(
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
             text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            &format!("{OM}underscores"),
        );
    }

    #[test]
    fn readers_get_what_they_ask_for() {
        for escaping in ["allow-utf-8", "underscores", "dots", "values"] {
            check(
                &format!("text/plain;version=1.0.0;escaping={escaping}"),
                &format!("text/plain; version=1.0.0; charset=utf-8; escaping={escaping}"),
            );
        }
        // A version without quotes never gets the parameter for quoted names.
        check("text/plain;version=0.0.4;escaping=allow-utf-8", TEXT);
        check("text/plain;version=1.0.0;escaping=nonsense", &TEXT.replace("0.0.4", "1.0.0"));
        check(
            "application/openmetrics-text;version=0.0.1",
            &format!("{OM}underscores").replace("1.0.0", "0.0.1"),
        );
        let openmetrics = format!("{OM}underscores");
        check("text/plain;q=0.4, application/openmetrics-text;q=0.5", &openmetrics);
        check("Application/OpenMetrics-Text; Version=\"1.0.0\"", &openmetrics);
        for accept in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "*/*",
            "text/plain",
            "text/plain;q=0.5, application/openmetrics-text;q=0.4",
            "application/openmetrics-text;version=2.0.0",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;q=nonsense,text/plain;q=0.1",
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
            "application/vnd.google.protobuf;encoding=delimited",
            "application/json",
            "",
            ";;;,,,=",
        ] {
            check(accept, TEXT);
        }
        assert_eq!(negotiate(None), Format::Text.into());
    }
}
