//! The exporter's own metrics, joined to a page.
//!
//! `prometheus_client` writes OpenMetrics text and nothing else. Its samples read the same in classic text; what
//! differs are the lines above them, which are written anew here, since it does not escape HELP either.

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use super::Format;
use super::encoder::push_help;

/// What a registry held when it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnMetrics {
    openmetrics: String,
}

impl OwnMetrics {
    /// Reads a registry. Help texts are ours and have no newline.
    ///
    /// # Errors
    /// When a metric of the registry fails to encode itself.
    pub fn read(registry: &Registry) -> Result<Self, std::fmt::Error> {
        let mut openmetrics = String::new();
        text::encode_registry(&mut openmetrics, registry)?;
        Ok(Self { openmetrics })
    }

    pub(super) fn into_page(self, format: Format) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.openmetrics.len());
        let mut help: Option<(&str, &str)> = None;
        for line in self.openmetrics.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                help = rest.split_once(' ');
            } else if let Some((name, kind)) =
                line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
            {
                let (suffix, kind) = if format == Format::Text { as_text(kind) } else { ("", kind) };
                let shown = format!("{name}{suffix}");
                if let Some((_, text)) = help.take().filter(|&(of, _)| of == name) {
                    push_help(format, &shown, text, &mut out);
                }
                push_line(&["# TYPE ", &shown, " ", kind], &mut out);
            } else if line.starts_with('#') {
                if format == Format::OpenMetrics {
                    push_line(&[line], &mut out);
                }
            } else {
                push_line(&[if format == Format::Text { without_exemplar(line) } else { line }], &mut out);
            }
        }
        out
    }
}

/// What OpenMetrics' type is in classic text, and the suffix that the family's name takes on there.
fn as_text(kind: &str) -> (&'static str, &str) {
    match kind {
        "counter" => ("_total", "counter"),
        "info" => ("_info", "gauge"),
        "unknown" => ("", "untyped"),
        _ => ("", kind),
    }
}

/// A sample line as far as classic text knows it. ` # ` may stand inside a label's value, so labels are passed over.
fn without_exemplar(line: &str) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    let exemplar = line.bytes().enumerate().find(|&(at, byte)| {
        if byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = byte == b'\\' && !escaped;
        !quoted && line.as_bytes()[at..].starts_with(b" # ")
    });
    exemplar.map_or(line, |(at, _)| &line[..at])
}

fn push_line(parts: &[&str], out: &mut Vec<u8>) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    out.push(b'\n');
}
