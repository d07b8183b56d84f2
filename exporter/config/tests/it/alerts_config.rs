//! What a user may write under `alerts:`, and what is said where it is wrong.

use std::path::Path;
use std::time::Duration;

use alerts::{ReceiverKind, UrlSource};
use config::parse;
use expect_test::expect;

fn plain(url: &str) -> UrlSource {
    UrlSource::Plain(support::http_client::HttpUrl::parse(url, None).unwrap())
}

#[test]
fn a_secret_url_is_in_a_file_and_a_webhook_need_not_hear_of_ends() {
    let text = "alerts: {webhooks: [{url_file: hook, send_resolved: false, tls: {ca_file: ca.pem}}]}";
    let config = parse("perfmon.yml", text, Path::new("/etc/perfmon")).unwrap();
    let [webhook] = &config.alerts.receivers[..] else { panic!("{:?}", config.alerts) };
    assert_eq!(
        (webhook.name.as_str(), &webhook.url),
        ("/etc/perfmon/hook", &UrlSource::File("/etc/perfmon/hook".into()))
    );
    assert!(matches!(webhook.kind, ReceiverKind::Webhook { send_resolved: false, .. }));
}

#[test]
fn a_receiver_needs_nothing_but_its_url() {
    let text =
        "alerts: {alertmanagers: [{url: 'http://am.example.com/prefix/'}], webhooks: [{url: 'https://h/x'}]}";
    let config = parse("perfmon.yml", text, Path::new(".")).unwrap();
    let [alertmanager, webhook] = &config.alerts.receivers[..] else { panic!("{:?}", config.alerts) };
    assert_eq!(
        (alertmanager.name.as_str(), &alertmanager.url),
        ("http://am.example.com/hidden", &plain("http://am.example.com:9093/prefix/api/v2/alerts"))
    );
    assert_eq!(alertmanager.kind, ReceiverKind::Alertmanager { resend_interval: Duration::from_secs(60) });
    assert_eq!(webhook.url, plain("https://h:443/x"));
    assert_eq!(
        webhook.kind,
        ReceiverKind::Webhook { repeat_interval: Duration::from_secs(14_400), send_resolved: true }
    );
    assert_eq!(config.alerts.alerts_max, 10_000);
}

#[test]
fn the_name_of_a_receiver_has_nothing_of_the_path_of_its_url() {
    let text = "alerts: {webhooks: [{url: 'https://h/T0/a'}, {url: 'https://h/T0/b'}, {url: 'https://h/T0/c', name: c}]}";
    let config = parse("perfmon.yml", text, Path::new(".")).unwrap();
    let names: Vec<&str> = config.alerts.receivers.iter().map(|receiver| &*receiver.name).collect();
    assert_eq!(names, ["https://h/hidden", "https://h/hidden (2)", "c"]);
    let twice = "alerts: {webhooks: [{url: 'https://h/T0/a'}, {url: 'https://h/T0/a'}]}";
    let report = parse("perfmon.yml", twice, Path::new(".")).unwrap_err().to_string();
    assert!(report.contains("is already defined") && !report.contains("T0"), "{report}");
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
    - {url: 'https://hooks', name: 'http://am:9093', repeat_interval: 1s, send_resolved: maybe}
    - {url: 'https://hooks/x', url_file: hook}
    - {url: 'https://hooks/y', max_alerts: 3}
  labels: {target: x, 'a-b': y, __name__: z}
  resend_interval: 1
  max_alerts: 0
"#;
    let report = parse("perfmon.yml", text, Path::new("/etc/perfmon")).expect_err("a report");
    assert!(!report.to_string().contains("hunter2"), "{report}");
    expect![[r#"
        perfmon.yml:4:13: alerts.alertmanagers[0].url: is no `http://` or `https://` URL; write it like `http://alertmanager.example.com:9093`
        perfmon.yml:5:13: alerts.alertmanagers[1].url: a secret must not be in the configuration; put it into a file and name that in `headers: {authorization: {file: …}}`
        perfmon.yml:6:36: alerts.alertmanagers[2].tls: is for `https` receivers; write `https://am:9093`
        perfmon.yml:6:50: alerts.alertmanagers[2]: unknown key `repeat_interval`; there is `headers`, `name`, `timeout`, `tls`, `url`
        perfmon.yml:7:7: alerts.alertmanagers[3]: `url` is missing; write it like `http://alertmanager.example.com:9093`
        perfmon.yml:9:13: alerts.webhooks[0].url: has a `?` part, which pages would show; if it is a secret, put it into a file: the URL into `url_file` of a webhook, or a header into `headers`
        perfmon.yml:10:7: alerts.webhooks[1]: receiver `http://am:9093` is already defined, on line 6; give one of them another `name`
        perfmon.yml:10:71: alerts.webhooks[1].repeat_interval: `1s` is outside 10s to 30days
        perfmon.yml:10:90: alerts.webhooks[1].send_resolved: expected `true` or `false`, found text
        perfmon.yml:11:13: alerts.webhooks[2].url: there is `url_file`, too; remove one of them
        perfmon.yml:12:32: alerts.webhooks[3]: `max_alerts` is not supported yet; remove it, or use a later version
        perfmon.yml:13:12: alerts.labels: `target` is not a label's name; use letters, digits and `_`, and none of the exporter's own labels
        perfmon.yml:13:23: alerts.labels: `a-b` is not a label's name; use letters, digits and `_`, and none of the exporter's own labels
        perfmon.yml:13:33: alerts.labels: `__name__` is not a label's name; use letters, digits and `_`, and none of the exporter's own labels
        perfmon.yml:14:20: alerts.resend_interval: a time needs a unit; write `1s` for seconds
        perfmon.yml:15:15: alerts.max_alerts: 0 is outside 1 to 1000000"#]].assert_eq(&report.to_string());
}
