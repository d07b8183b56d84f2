//! What an instance collects from.

/// The target of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its unique name in the exporter.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// The port, where the configuration names one.
    pub port: Option<u16>,
    /// The identity to use; empty for none.
    pub identity: String,
}
