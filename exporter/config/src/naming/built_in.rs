//! The profiles that come with the exporter.

/// Their names in the configuration.
pub const NAMES: &[&str] = &["windows_exporter@0.31", "otel"];

/// The text of a profile.
pub(super) fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "windows_exporter@0.31" => include_str!("../../profiles/windows_exporter_0.31.yaml"),
        "otel" => include_str!("../../profiles/opentelemetry.yaml"),
        _ => return None,
    })
}
