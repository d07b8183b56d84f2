//! The target that an instance is for.

/// Which target an instance is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetInfo {
    /// The target's unique name in the exporter.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// The port, if it is configured.
    pub port: Option<u16>,
    /// The name of the identity to use; empty for none.
    pub identity: String,
}
