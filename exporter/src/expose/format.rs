//! Which format a reader gets.

/// A text format of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Prometheus text 0.0.4, which everybody reads.
    #[default]
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The Content-Type. All names here are legal without quotes, so `escaping` is "underscores" whatever was
    /// asked for.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
            Self::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores"
            }
        }
    }

    fn of_media_type(media_type: &str, version: Option<&str>) -> Option<Self> {
        match (media_type, version) {
            ("application/openmetrics-text", None | Some("1.0.0" | "0.0.1")) => Some(Self::OpenMetrics),
            ("text/plain", None | Some("0.0.4")) | ("text/*" | "*/*", _) => Some(Self::Text),
            _ => None,
        }
    }
}

/// The format that an Accept header wants most, of those that we speak; text 0.0.4 if it wants none of them.
///
/// As Prometheus' own exporters do it: the highest q wins, among equals the first; what cannot be read is passed
/// over.
#[must_use]
pub fn negotiate(accept: Option<&str>) -> Format {
    let mut best: Option<(u16, Format)> = None;
    for range in accept.unwrap_or_default().split(',').take(RANGES_MAX) {
        if let Some((quality, format)) = media_range(range)
            && quality > best.map_or(0, |(quality, _)| quality)
        {
            best = Some((quality, format));
        }
    }
    best.map_or(Format::Text, |(_, format)| format)
}

/// One media range with its q in thousandths.
fn media_range(range: &str) -> Option<(u16, Format)> {
    let mut parts = range.split(';').map(str::trim);
    let media_type = parts.next()?.to_ascii_lowercase();
    let (mut quality, mut version) = (1_000, None);
    for (name, value) in parts.filter_map(|parameter| parameter.split_once('=')) {
        let value = value.trim().trim_matches('"');
        match name.trim().to_ascii_lowercase().as_str() {
            "q" => quality = thousandths(value)?,
            "version" => version = Some(value),
            _ => {}
        }
    }
    Some((quality, Format::of_media_type(&media_type, version)?))
}

/// `0.75` is 750. A q has at most three decimals.
fn thousandths(quality: &str) -> Option<u16> {
    let (whole, decimals) = quality.split_once('.').unwrap_or((quality, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.len() > 1 || decimals.len() > 3 {
        return None;
    }
    let number: u16 = format!("{whole:0>1}{decimals:0<3}").parse().ok()?;
    Some(number.min(1_000))
}

/// More ranges than anybody sends.
const RANGES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_get_what_they_ask_for() {
        for (accept, format) in [
            // Prometheus 3
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                 application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,\
                 text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                Format::OpenMetrics,
            ),
            // Prometheus 2.42
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                 text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                Format::OpenMetrics,
            ),
            // A browser
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Format::Text),
            ("*/*", Format::Text),
            ("text/plain", Format::Text),
            ("text/plain;q=0.5, application/openmetrics-text;q=0.4", Format::Text),
            ("text/plain;q=0.4, application/openmetrics-text;q=0.5", Format::OpenMetrics),
            ("Application/OpenMetrics-Text; Version=\"1.0.0\"", Format::OpenMetrics),
            ("application/openmetrics-text;version=2.0.0", Format::Text),
            ("application/openmetrics-text;q=0", Format::Text),
            ("application/openmetrics-text;q=nonsense,text/plain;q=0.1", Format::Text),
            ("application/json", Format::Text),
            ("", Format::Text),
            (";;;,,,=", Format::Text),
        ] {
            assert_eq!(negotiate(Some(accept)), format, "{accept}");
        }
        assert_eq!(negotiate(None), Format::Text);
    }
}
