use std::sync::Arc;
use std::time::Duration;

use alerts::{Alert, Registry, alertmanager_body, webhook_body};
use plugin_abi::AlertState::{Closed, Opened};
use serde_json::{Value, json};

use crate::support::{at, feed, tell};

/// One that is open and one that closed, with letters that formats have a meaning for.
fn alerts() -> Vec<Arc<Alert>> {
    let registry = Arc::new(Registry::default());
    let web = feed(&registry, "web 1/ü");
    tell(&web, "low", Opened, &[("disk", "C:\\ \"x\"\n\u{7f}é{{.}}"), ("free", "5 %")], at(0));
    tell(&web, "hot", Opened, &[("disk", "D:"), ("free", "5 %")], at(0));
    tell(&web, "hot", Closed, &[], at(90));
    registry.open().into_iter().map(|open| open.alert).chain(registry.recent()).collect()
}

#[test]
fn alertmanager_gets_what_prometheus_sends() {
    let alerts = alerts();
    let body = alertmanager_body(
        alerts.iter().map(|alert| &**alert),
        at(100),
        Duration::from_secs(60),
        Some("https://exporter.example/perfmon"),
    );
    let expected = |id: &str, disk: &str, ends_at: &str| {
        json!({
            "labels": {
                "alertname": "pla.alert", "disk": disk, "id": id, "module": "os", "plugin": "pla",
                "severity": "warning", "target": "web 1/ü",
            },
            "annotations": {"free": "5 %", "summary": "It is full."},
            "startsAt": "2025-06-15T15:06:40.000Z",
            "endsAt": ends_at,
            "generatorURL": "https://exporter.example/perfmon/targets/web%201%2F%C3%BC",
        })
    };
    let body: Value = serde_json::from_slice(&body).expect("it is JSON");
    assert_eq!(
        body,
        json!([
            // Four intervals after it was sent.
            expected("low", "C:\\ \"x\"\n\u{7f}é{{.}}", "2025-06-15T15:12:20.000Z"),
            expected("hot", "D:", "2025-06-15T15:08:10.000Z"),
        ])
    );
    let body = alertmanager_body([&*alerts[0]], at(100), Duration::from_secs(60), None);
    let body: Value = serde_json::from_slice(&body).expect("it is JSON");
    assert_eq!(body[0].get("generatorURL"), None, "an empty one is no URL to Alertmanager");
}

#[test]
fn a_webhook_gets_a_message_of_version_4() {
    let alerts = alerts();
    let body = webhook_body("hook", "web 1/ü", &alerts, 3, Some("https://exporter.example"));
    let body: Value = serde_json::from_slice(&body).expect("it is JSON");
    let keys: Vec<&str> = body.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "alerts",
            "commonAnnotations",
            "commonLabels",
            "externalURL",
            "groupKey",
            "groupLabels",
            "receiver",
            "status",
            "truncatedAlerts",
            "version",
        ]
    );
    assert_eq!((&body["version"], &body["status"]), (&json!("4"), &json!("firing")));
    assert_eq!((&body["receiver"], &body["truncatedAlerts"]), (&json!("hook"), &json!(3)));
    assert_eq!(body["groupKey"], "{}:{target=\"web 1/ü\"}");
    assert_eq!(body["groupLabels"], json!({"target": "web 1/ü"}));
    let common = json!({
        "alertname": "pla.alert", "module": "os", "plugin": "pla", "severity": "warning", "target": "web 1/ü",
    });
    assert_eq!(body["commonLabels"], common);
    assert_eq!(body["commonAnnotations"], json!({"free": "5 %", "summary": "It is full."}));
    let rows: Vec<_> = body["alerts"].as_array().expect("a list").iter().collect();
    assert_eq!((&rows[0]["status"], &rows[1]["status"]), (&json!("firing"), &json!("resolved")));
    assert_eq!(rows[0]["endsAt"], "0001-01-01T00:00:00Z");
    assert_eq!(rows[1]["endsAt"], "2025-06-15T15:08:10.000Z");
    assert_ne!(rows[0]["fingerprint"], rows[1]["fingerprint"]);
    assert_eq!(rows[0]["fingerprint"].as_str().map(str::len), Some(16));
    let body = webhook_body("hook", "web 1/ü", &alerts[1..], 0, None);
    let body: Value = serde_json::from_slice(&body).expect("it is JSON");
    assert_eq!((&body["status"], &body["externalURL"]), (&json!("resolved"), &json!("")));
}

#[test]
fn the_fingerprint_is_that_of_alertmanager() {
    // Alertmanager 0.25.0 says these of the same labels.
    let alert = &alerts()[0];
    let mut labels = alert.labels.to_vec();
    labels.iter_mut().filter(|(name, _)| name == "id").for_each(|(name, _)| *name = "alert".to_owned());
    labels.sort_unstable();
    let alert = &Alert { labels: labels.into(), ..Alert::clone(alert) };
    assert_eq!(format!("{:016x}", alert.fingerprint()), "6640837edcaaacdb");
    let alert = Alert { labels: Arc::new([("a".to_owned(), "b".to_owned())]), ..Alert::clone(alert) };
    assert_eq!(format!("{:016x}", alert.fingerprint()), "d2b371819297f98a");
}
