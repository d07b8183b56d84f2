use std::sync::Arc;

/// Where the alerts of a feed come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The target.
    pub target: Arc<str>,
    /// The module.
    pub module: Arc<str>,
    /// Its plugin.
    pub plugin: Arc<str>,
    /// The target's labels.
    pub labels: Vec<(String, String)>,
}
