//! The labels of an alert.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugin_abi::{Alert, Event, Level};

use super::Origin;
use super::shortened;

/// What identifies an alert for receivers, by name.
///
/// `target`, `module`, `plugin` and `id` are ours: together they are unique. A label of the plugin with such a name is
/// called `exported_…`, as Prometheus does. `alertname` is the plugin's label of that name, or else its label `alert`, which is
/// what people call it, or else the event's name. `severity` comes from the event's level, unless the plugin sets it. The
/// target's labels and the configured ones are added where there is none of that name.
pub(crate) fn labels(
    origin: &Origin,
    event: &Event<'_>,
    alert: Alert<'_>,
    configured: &[(String, String)],
) -> Arc<[(String, String)]> {
    let mut labels = BTreeMap::new();
    let own = [
        ("target", &*origin.target),
        ("module", &*origin.module),
        ("plugin", &*origin.plugin),
        ("id", alert.id),
    ];
    for (name, value) in own {
        labels.insert(name.to_owned(), value_of(value));
    }
    for (name, value) in alert.labels {
        let is_own = own.iter().any(|(own, _)| own == name);
        let name = if is_own { format!("exported_{name}") } else { (*name).to_owned() };
        labels.entry(name).or_insert_with(|| value_of(value));
    }
    let called = alert.labels.iter().find(|(name, value)| *name == "alert" && !value.is_empty());
    let alertname = called.map_or(event.name, |(_, value)| *value);
    let defaults = [("alertname", alertname), ("severity", severity(event.level))];
    let more = origin.labels.iter().chain(configured).map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in defaults.into_iter().chain(more) {
        labels.entry(name.to_owned()).or_insert_with(|| value_of(value));
    }
    // To Alertmanager, an empty label is none.
    labels.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// The words that rules of Prometheus mostly use.
const fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "critical",
        Level::Warn => "warning",
        Level::Info | Level::Debug | Level::Trace => "info",
    }
}

fn value_of(text: &str) -> String {
    shortened(text, LABEL_BYTES_MAX)
}

const LABEL_BYTES_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use plugin_abi::AlertState;

    use super::*;

    #[test]
    fn a_plugin_cannot_take_our_labels_but_may_name_the_alert() {
        let origin = Origin {
            target: "web1".into(),
            module: "os".into(),
            plugin: "pla".into(),
            labels: vec![("env".to_owned(), "prod".to_owned()), ("disk".to_owned(), "no".to_owned())],
        };
        let fields = [("disk", "C:"), ("target", "evil"), ("alertname", "LowDisk"), ("empty", "")];
        let alert = Alert::new("low", AlertState::Opened, &fields);
        let event = Event {
            name: "pla.alert",
            level: Level::Error,
            time_unix_nanos: None,
            body: "",
            fields: &[],
            alert: Some(alert),
        };
        let configured = [("env".to_owned(), "test".to_owned()), ("site".to_owned(), "x".repeat(2_000))];
        let labels = labels(&origin, &event, alert, &configured);
        let labels: Vec<(&str, &str)> =
            labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let long = "x".repeat(LABEL_BYTES_MAX);
        assert_eq!(
            labels,
            [
                ("alertname", "LowDisk"),
                ("disk", "C:"),
                ("env", "prod"),
                ("exported_target", "evil"),
                ("id", "low"),
                ("module", "os"),
                ("plugin", "pla"),
                ("severity", "critical"),
                ("site", &*long),
                ("target", "web1"),
            ]
        );
    }

    #[test]
    fn an_alert_is_called_as_the_administrator_called_it() {
        let origin = Origin {
            target: "web1".into(),
            module: "os".into(),
            plugin: "pla".into(),
            labels: vec![("id".to_owned(), "4711".to_owned())],
        };
        let named = |fields: &[(&str, &str)]| {
            let alert = Alert::new("S/Low memory", AlertState::Opened, fields);
            let event = Event {
                name: "pla.alert",
                level: Level::Warn,
                time_unix_nanos: None,
                body: "",
                fields: &[],
                alert: Some(alert),
            };
            let labels = labels(&origin, &event, alert, &[]);
            let value =
                |name: &str| labels.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
            assert_eq!(value("id").as_deref(), Some("S/Low memory"));
            assert_eq!(value("exported_alert"), None);
            value("alertname")
        };
        assert_eq!(named(&[("set", "S"), ("alert", "Low memory")]).as_deref(), Some("Low memory"));
        assert_eq!(named(&[("alert", "Low"), ("alertname", "LowMemory")]).as_deref(), Some("LowMemory"));
        assert_eq!(named(&[("alert", "")]).as_deref(), Some("pla.alert"));
        assert_eq!(named(&[]).as_deref(), Some("pla.alert"));
    }
}
