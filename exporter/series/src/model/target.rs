//! Whom the series are about.

/// A target's identity: what each of its series carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its unique name in the exporter.
    pub name: String,
    /// Whether series say it in a label `target`. Not so on a probe, where Prometheus says it.
    pub labelled: bool,
    /// The labels that the configuration gives it.
    pub labels: Vec<(String, String)>,
}

impl Target {
    /// A target whose series carry its name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), labelled: true, labels: Vec::new() }
    }

    /// The same with one more label from the configuration.
    #[must_use]
    pub fn with_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push((name.into(), value.into()));
        self
    }
}
