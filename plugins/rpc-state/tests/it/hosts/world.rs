//! The plugin against simulated hosts, and what is asked of its collections.

use plugin_harness::{Collection, Watch, config};

pub(crate) struct Plugin(plugin_harness::Plugin);

impl std::ops::Deref for Plugin {
    type Target = plugin_harness::Plugin;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Plugin {
    pub(crate) fn new() -> Self {
        Self(plugin_harness::Plugin::new("rpc_state", plugin_rpc_state::entry))
    }

    pub(crate) fn watch(&self, port: u16, settings: serde_json::Value) -> Watch {
        self.0.watch("rpc_endpoints", config("127.0.0.1", port, settings))
    }
}

/// What is asked of collections.
pub(crate) trait Asked {
    /// A figure of the server at a port.
    fn server(&self, port: u16, item: &str) -> Option<f64>;

    /// What the server at a port did not answer: call and reason.
    fn refusals(&self, port: u16) -> Vec<(String, String)>;

    /// The values of the labels of all series of an item.
    fn labels_of(&self, item: &str) -> Vec<Vec<String>>;

    /// Entries of a protocol sequence.
    fn entries(&self, sequence: &str) -> Option<f64>;

    fn left_out(&self, kind: &str, reason: &str) -> Option<f64>;
}

impl Asked for Collection {
    fn server(&self, port: u16, item: &str) -> Option<f64> {
        self.value("Remote Endpoint", item, &[&port.to_string()])
    }

    fn refusals(&self, port: u16) -> Vec<(String, String)> {
        let rows = self.labels_of("Failure Info").into_iter().filter(|labels| labels[0] == port.to_string());
        rows.map(|labels| (labels[1].clone(), labels[2].clone())).collect()
    }

    fn labels_of(&self, item: &str) -> Vec<Vec<String>> {
        let series = self.live().filter(|(family, _)| family.item == item);
        series.map(|(_, series)| series.labels.iter().map(|(_, value)| value.clone()).collect()).collect()
    }

    fn entries(&self, sequence: &str) -> Option<f64> {
        self.value("Endpoint Map", "Entries", &[sequence])
    }

    fn left_out(&self, kind: &str, reason: &str) -> Option<f64> {
        self.value("Endpoint Map", "Left Out", &[kind, reason])
    }
}
