//! The profiles that come with the exporter.

/// Their names in the configuration.
pub const NAMES: &[&str] = &[
    "windows_exporter@0.31",
    "windows_exporter@0.30",
    "windows_exporter@0.29",
    "windows_exporter@0.25",
    "otel",
];

/// The text of a profile.
pub(super) fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "windows_exporter@0.31" => include_str!("../../profiles/windows_exporter_0.31.yaml"),
        "windows_exporter@0.30" => include_str!("../../profiles/windows_exporter_0.30.yaml"),
        "windows_exporter@0.29" => include_str!("../../profiles/windows_exporter_0.29.yaml"),
        "windows_exporter@0.25" => include_str!("../../profiles/windows_exporter_0.25.yaml"),
        "otel" => include_str!("../../profiles/opentelemetry.yaml"),
        _ => return None,
    })
}
