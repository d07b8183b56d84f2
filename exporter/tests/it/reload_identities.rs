//! Who we are to the hosts, and whom we push to, while it changes.

use std::sync::Arc;

use otlp::push::OtlpProtocol;
use tokio::net::TcpListener;

use crate::command_plugin::{Installed, PASSWORD, Sim, config};
use crate::otlp_collector::Collector;
use crate::program::{Exporter, Folder};

/// Two targets on two ports of one simulated host each, so that their connections are told apart.
fn two(first: &Sim, second: &Sim) -> String {
    let more = "  - {name: web2, host: 127.0.0.1, identity: corp, transport: there, modules: [os]}
web: {listen: ['127.0.0.1:0'], enable_lifecycle: true}
scrape: {interval: 1s}
";
    config(first.port, more)
        .replace("transports:\n", &format!("transports:\n  there: {{smb: {{port: {}}}}}\n", second.port))
}

fn begin(installed: &Installed, text: &str) -> Exporter {
    installed.folder.write("perfmon.yml", text);
    installed.folder.begin(&mut installed.command(&[]), &[])
}

fn collections_on(page: &str, target: &str) -> u64 {
    let series = format!("perfmon_exporter_collections_total{{target=\"{target}\",outcome=\"full\"}} ");
    page.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok()).unwrap_or(0)
}

fn collections(exporter: &Exporter, target: &str) -> u64 {
    collections_on(&exporter.get("/metrics").body, target)
}

fn wait_for_collections(exporter: &Exporter, target: &str, count: u64) {
    exporter.wait_for_page(|page| collections_on(page, target) >= count);
}

#[test]
fn a_connection_outlives_a_reload_and_a_changed_account_does_not() {
    let (installed, first, second) = (Installed::new(), Sim::new(), Sim::new());
    let exporter = begin(&installed, &two(&first, &second));
    wait_for_collections(&exporter, "web1", 1);
    wait_for_collections(&exporter, "web2", 1);
    let connected = (first.connections(), second.connections());
    let reload = |text: &str| {
        installed.folder.write("perfmon.yml", text);
        exporter.reload().body
    };

    // Another host may see the account: that disturbs nobody.
    let text = two(&first, &second);
    let wider = text.replace("allow_hosts: [127.0.0.1]", "allow_hosts: [127.0.0.1, '*.corp']");
    assert_eq!(reload(&wider), "reloaded: 2 targets, 0 added, 0 changed, 0 removed\n");
    // The way to one of them changes: the other one does not notice.
    let slower = wider.replace("there: {smb", "there: {connect_timeout: 9s, smb");
    assert_eq!(reload(&slower), "reloaded: 2 targets, 0 added, 1 changed, 0 removed\n");
    let before = collections(&exporter, "web1");
    wait_for_collections(&exporter, "web1", before + 2);
    wait_for_collections(&exporter, "web2", 1);
    assert_eq!(first.connections(), connected.0);
    assert_eq!(second.connections(), connected.1 + 1);

    // Who we are changes: both log on again, the wrong password costs one attempt, and a correct file is enough.
    let wrong = slower.replace("password_file: password", "password_file: wrong");
    assert_eq!(reload(&wrong), "reloaded: 2 targets, 0 added, 2 changed, 0 removed\n");
    for target in ["web1", "web2"] {
        let down = format!("perfmon_exporter_target_up{{target=\"{target}\"}} 0\n");
        exporter.wait_for_page(|page| page.contains(&down));
    }
    assert_eq!(first.logons().1 + second.logons().1, 1);
    installed.folder.write("wrong", PASSWORD);
    wait_for_collections(&exporter, "web1", 1);
    wait_for_collections(&exporter, "web2", 1);
    assert_eq!(first.logons().1 + second.logons().1, 1);

    // An identity that is gone is gone for who names it in vain, and the rest of the file is not applied.
    let gone = slower.replace("  corp: {kind", "  other: {kind");
    assert!(reload(&gone).contains("targets[0]: there is no identity `corp`"));
    let before = collections(&exporter, "web1");
    wait_for_collections(&exporter, "web1", before + 1);
}

#[test]
fn a_reload_tries_a_refused_password_once_and_at_once() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let more =
        "web: {listen: ['127.0.0.1:0'], enable_lifecycle: true}\nscrape: {interval: 1h, deadline: 10s}\n";
    let text = config(sim.port, more).replace("password_file: password", "password_file: wrong");
    let exporter = begin(&installed, &text);
    let failed = "perfmon_exporter_collections_total{target=\"web1\",outcome=\"failed\"} ";
    let failures = |page: &str| page.lines().find_map(|line| line.strip_prefix(failed)?.parse::<u64>().ok());
    exporter.wait_for_page(|page| failures(page) == Some(1));
    assert_eq!(sim.logons(), (0, 1));
    // The next collection is in an hour. The first reload asks the host, and the second one only whether that is allowed.
    for expected in [2, 3] {
        assert!(exporter.reload().body.starts_with("reloaded: 1 targets, 0 added, 0 changed"));
        exporter.wait_for_page(|page| failures(page) == Some(expected));
        assert_eq!(sim.logons(), (0, 2));
    }
    let page = exporter.get("/targets/web1").body;
    assert!(page.contains("withheld until "), "{page}");
}

async fn listen(collector: Arc<Collector>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            collector.welcome(stream);
        }
    });
    port
}

#[test]
fn collectors_come_and_go_and_the_one_that_stays_keeps_its_counts() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let begin = || {
        let collector = Collector::new(OtlpProtocol::Http, []);
        let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
        (collector, port)
    };
    let ((stays, stays_port), (comes, comes_port)) = (begin(), begin());
    let endpoint = |name: &str, port: u16| {
        format!("  - {{endpoint: 'http://127.0.0.1:{port}', name: {name}, protocol: http, interval: 1s}}\n")
    };
    let config = |endpoints: &str| {
        format!(
            "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}
plugins: {{path: ., load: [pulse]}}
modules: {{beat: {{plugin: pulse}}}}
targets: [{{host: heart, modules: [beat], interval: 1s}}]
otlp:\n{endpoints}"
        )
    };
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&config(&endpoint("stays", stays_port)));
    runtime.block_on(stays.received(1));
    let accepted = |name: &str| {
        let series = format!("perfmon_exporter_otlp_points_accepted_total{{endpoint=\"{name}\"}} ");
        let page = exporter.get("/metrics").body;
        page.lines().find_map(|line| line.strip_prefix(&series)?.parse::<f64>().ok())
    };
    let reload = |endpoints: &str| {
        folder.write("perfmon.yml", &config(endpoints));
        assert_eq!(exporter.reload().status, 200);
    };
    let before = accepted("stays").unwrap();
    reload(&format!("{}{}", endpoint("comes", comes_port), endpoint("stays", stays_port)));
    let first = &runtime.block_on(comes.received(1))[0];
    let scopes = first.message.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let scopes: Vec<&str> =
        scopes.filter_map(|scope| scope.scope.as_ref()).map(|scope| scope.name.as_str()).collect();
    assert_eq!(scopes, ["pulse", "perfmon-exporter"]);
    assert!(accepted("stays").unwrap() >= before && accepted("comes").is_some());
    reload(&endpoint("stays", stays_port));
    assert_eq!(accepted("comes"), None);
    let so_far = stays.now().len();
    runtime.block_on(stays.received(so_far + 1));
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
    let log = exporter.rest_of_log();
    assert!(log.contains("Push stopped endpoint=\"comes\"") && !log.contains("WARN"), "{log}");
}
