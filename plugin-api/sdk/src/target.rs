//! The target of an instance.

/// The target of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its unique name in the exporter.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// The port, if it is configured.
    pub port: Option<u16>,
    /// The identity to use; empty for none.
    pub identity: String,
    /// Whether the instance collects when somebody asks, such as for a probe, and not on a schedule: then leave nothing on the
    /// target that is there for later collections, and write no files.
    pub is_on_demand: bool,
}
