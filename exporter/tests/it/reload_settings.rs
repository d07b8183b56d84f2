//! Settings of modules that change while the program runs: what plugins know of their targets goes on.

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::alerts_serve::Receiver;
use crate::command_plugin::{Installed, Sim};
use crate::program::{Exporter, Folder};

/// Two targets, each with a module of its own.
fn config(changes: &str, stays: &str) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}
plugins: {{path: ., load: [pulse]}}
scrape: {{interval: 1s}}
modules:
  beat: {{plugin: pulse{changes}}}
  again: {{plugin: pulse}}
targets:
  - {{host: changes, modules: [beat]}}
  - {{host: stays, modules: [again]{stays}}}
"
    )
}

fn beats_on(page: &str, target: &str) -> u64 {
    let series =
        format!("perfmon_pulse_beats_total{{target=\"{target}\",counter_instance=\"left chamber\"}} ");
    page.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok()).unwrap_or_default()
}

fn wait_for_beats(exporter: &Exporter, target: &str, count: u64) -> u64 {
    beats_on(&exporter.wait_for_page(|page| beats_on(page, target) >= count), target)
}

/// What the plugin said until the end, in order.
fn said(mut exporter: Exporter) -> Vec<String> {
    exporter.terminate();
    exporter.wait();
    let log = exporter.rest_of_log().replace('\\', "");
    let said = log.lines().filter_map(|line| {
        let begin = ["Made ", "Changed "].iter().find_map(|begin| line.find(begin))?;
        Some(line[begin..].split('}').next()?.to_owned() + "}")
    });
    said.collect()
}

#[test]
fn an_instance_takes_the_settings_of_its_module_and_no_other_instance_hears_of_them() {
    let folder = Folder::new();
    folder.plugin("pulse", "stubborn_pulse.c");
    let mut exporter = folder.serve(&config("", ""));
    let before = (wait_for_beats(&exporter, "changes", 3), wait_for_beats(&exporter, "stays", 3));
    let reload = |exporter: &Exporter, text: &str| {
        folder.write("perfmon.yml", text);
        exporter.reload().body
    };
    let calm = config(", mood: calm", "");
    assert_eq!(reload(&exporter, &calm), "reloaded: 2 targets, 0 added, 1 changed, 0 removed\n");
    // The same once more, with every key at another place.
    let moved = format!("# A comment.\n{calm}");
    assert_eq!(reload(&exporter, &moved), "reloaded: 2 targets, 0 added, 0 changed, 0 removed\n");
    let page = exporter.get("/metrics").body;
    assert!(beats_on(&page, "changes") >= before.0 && beats_on(&page, "stays") >= before.1, "{page}");
    let grown = wait_for_beats(&exporter, "changes", before.0 + 1);

    // What does not change while it runs is made again, and so is what is bound to something else now.
    let stubborn = config(", mood: stubborn", ", labels: {env: test}");
    assert_eq!(reload(&exporter, &stubborn), "reloaded: 2 targets, 0 added, 2 changed, 0 removed\n");
    let line = exporter.wait_for_line("Instance does not take other settings; the target is made again");
    assert!(
        line.contains("target=\"changes\" module=\"beat\"") && line.contains("not in this mood"),
        "{line}"
    );
    let anew = exporter.wait_for_page(|page| (1..=grown).contains(&beats_on(page, "changes")));
    assert!(beats_on(&anew, "changes") >= 1);
    exporter.wait_for_page(|page| page.contains("perfmon_pulse_beats_total{target=\"stays\",env=\"test\""));
    assert_eq!(
        said(exporter),
        ["Made changes of {\"mood\":\"stubborn\"}", "Made stays of {}"],
        "after the refusal, which was waited for"
    );
}

#[test]
fn an_instance_gets_exactly_what_its_module_says_where_its_source_declares_no_transport() {
    let folder = Folder::new();
    folder.plugin("pulse", "stubborn_pulse.c");
    let text = config(", mood: calm", "");
    let mut exporter = folder.serve(&config("", ""));
    folder.write("perfmon.yml", &text);
    assert_eq!(exporter.reload().status, 200);
    let line = exporter.wait_for_line("Changed changes of").replace('\\', "");
    assert!(line.contains("Changed changes of {\"mood\":\"calm\"}"), "{line}");
}

/// Alerts of a simulated host, which go to an Alertmanager.
fn watched(sim: &Sim, receiver_port: u16, alerts: &str) -> String {
    format!(
        "plugins: {{load: [pla]}}
web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}
scrape: {{interval: 1s}}
transports:
  here: {{smb: {{port: {}}}}}
identities:
  corp: {{kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: [127.0.0.1]}}
alerts: {{alertmanagers: [{{url: 'http://127.0.0.1:{receiver_port}'}}]}}
modules:
  watch: {{plugin: pla, sets: [{{name: Nightly, alerts: [{alerts}]}}]}}
targets:
  - {{name: web1, host: 127.0.0.1, identity: corp, transport: here, modules: [watch]}}
",
        sim.port
    )
}

/// What the requests so far say of an alert: when it began, and when it ends.
fn times<'a>(received: &'a [Value], alert: &'a str) -> impl Iterator<Item = (String, String)> + 'a {
    let all = received.iter().filter_map(Value::as_array).flatten();
    let own = all.filter(move |row| row["labels"]["alert"].as_str().is_some_and(|id| id.contains(alert)));
    own.map(|row| (row["startsAt"].to_string(), row["endsAt"].to_string()))
}

fn row(page: &str, family: &str, alert: &str) -> Option<String> {
    let (family, alert) = (format!("perfmon_pla_alert_{family}{{"), format!("alert=\"{alert}\""));
    page.lines().find(|line| line.starts_with(&family) && line.contains(&alert)).map(str::to_owned)
}

#[test]
fn an_open_alert_stays_open_while_others_of_its_module_come_and_go_and_nobody_logs_on_again() {
    let (runtime, sim) = (Runtime::new().unwrap(), Sim::new());
    let (receiver, port) = Receiver::listen(&runtime);
    let fires = r"{name: fires, counter: '\HTTP Service\CurrentUrisCached', above: -1, sample_interval: 1s}";
    let waits =
        r"{name: waits, counter: '\HTTP Service\CurrentUrisCached', above: -1, for: 1h, sample_interval: 1s}";
    let comes = r"{name: comes, counter: '\Processor Information(_Total)\% User Time', above: -1, sample_interval: 1s}";
    let installed = Installed::with_plugins(&["pla"]);
    let config = |alerts: &[&str]| watched(&sim, port, &alerts.join(", "));
    let reload = |exporter: &Exporter, alerts: &[&str]| {
        installed.folder.write("perfmon.yml", &config(alerts));
        assert_eq!(exporter.reload().body, "reloaded: 1 targets, 0 added, 1 changed, 0 removed\n");
    };
    installed.folder.write("perfmon.yml", &config(&[fires, waits]));
    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let is_about =
        |alert: &'static str| move |body: &Value| times(std::slice::from_ref(body), alert).count() > 0;
    receiver.wait_for(&runtime, is_about("fires"));
    let before = exporter.wait_for_page(|page| row(page, "last_change_timestamp_seconds", "waits").is_some());
    let (logons, connections) = (sim.logons(), sim.connections());

    reload(&exporter, &[comes, fires, waits]);
    let (_, _, open) = receiver.wait_for(&runtime, is_about("comes"));
    let (_, ends_by_itself) = times(std::slice::from_ref(&open), "comes").next().unwrap();
    reload(&exporter, &[fires, waits]);
    exporter.wait_for_page(|page| page.contains("perfmon_exporter_alerts_open 1\n"));
    receiver.wait_for(&runtime, |body| {
        times(std::slice::from_ref(body), "comes").any(|(_, ends)| ends < ends_by_itself)
    });
    let after = exporter.get("/metrics").body;
    for (family, alert) in [
        ("state_info", "waits"),
        ("last_change_timestamp_seconds", "waits"),
        ("last_change_timestamp_seconds", "fires"),
    ] {
        assert_eq!(row(&after, family, alert), row(&before, family, alert), "{family} of {alert}");
    }
    assert!(row(&after, "state_info", "waits").unwrap().contains("state=\"pending\""), "{after}");
    assert_eq!((sim.logons(), sim.connections()), (logons, connections));
    let received: Vec<Value> = receiver.now().into_iter().map(|(_, _, body)| body).collect();
    let begins: BTreeSet<String> = times(&received, "fires").map(|(begins, _)| begins).collect();
    assert_eq!(begins.len(), 1, "it began once: {received:#?}");
    let page = exporter.get("/alerts").body;
    let closed = page.split("Closed lately").last().and_then(|rest| rest.split("</section>").next()).unwrap();
    assert!(closed.contains("<bdi>comes</bdi>") && !closed.contains("<bdi>fires</bdi>"), "{closed}");
}
