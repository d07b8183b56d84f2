//! What a user may write under `alerts:`, and what is said where it is wrong.

use std::path::Path;
use std::time::Duration;

use alerts::ReceiverKind;
use config::parse;
use expect_test::expect;

#[test]
fn a_receiver_needs_nothing_but_its_url() {
    let text =
        "alerts: {alertmanagers: [{url: 'http://am.example.com/prefix/'}], webhooks: [{url: 'https://h/x'}]}";
    let config = parse("perfmon.yml", text, Path::new(".")).unwrap();
    let [alertmanager, webhook] = &config.alerts.receivers[..] else { panic!("{:?}", config.alerts) };
    assert_eq!(
        (alertmanager.name.as_str(), alertmanager.host.as_str(), alertmanager.port, alertmanager.secure),
        ("http://am.example.com/prefix/", "am.example.com", 9093, false)
    );
    assert_eq!(alertmanager.path, "/prefix/api/v2/alerts");
    assert_eq!(alertmanager.kind, ReceiverKind::Alertmanager { resend_interval: Duration::from_secs(60) });
    assert_eq!((webhook.port, webhook.path.as_str(), webhook.secure), (443, "/x", true));
    assert_eq!(webhook.kind, ReceiverKind::Webhook { repeat_interval: Duration::from_secs(14_400) });
    assert_eq!(config.alerts.alerts_max, 10_000);
}

#[test]
fn mistakes_are_told_with_their_place_and_a_way_out() {
    let text = r#"
alerts:
  alertmanagers:
    - {url: am.example.com:9093}
    - {url: 'http://user:hunter2@am:9093'}
    - {url: 'http://am:9093', tls: {ca_file: x}, repeat_interval: 1h}
    - {name: x}
  webhooks:
    - {url: 'https://hooks?token=hunter2'}
    - {url: 'https://hooks', name: 'http://am:9093', repeat_interval: 1s, send_resolved: true}
  labels: {target: x, 'a-b': y, __name__: z}
  resend_interval: 1
  max_alerts: 0
"#;
    let report = parse("perfmon.yml", text, Path::new("/etc/perfmon")).expect_err("a report");
    assert!(!report.to_string().contains("hunter2"), "{report}");
    expect![[r#""#]].assert_eq(&report.to_string());
}
