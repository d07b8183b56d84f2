use std::sync::Arc;

/// Where the alerts of a feed come from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub target: Arc<str>,
    pub module: Arc<str>,
    pub plugin: Arc<str>,
    pub labels: Vec<(String, String)>,
}
