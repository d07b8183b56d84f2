//! The whole program, asked for one target.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Answer, Exporter, Folder};

const MOODY: &str = r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [moody]}
scrape: {interval: 1h, deadline: 10s}
probe: {allow_targets: ['127.0.0.0/8', '*.lan']}
identities:
  corp: {kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: [127.0.0.1]}
modules: {all: {plugin: moody}, more: {plugin: moody}}
targets:
  - {host: 127.0.0.9, name: heart, modules: [all], labels: {ward: west}}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.plugin("moody", "moody.c");
    folder.write("password", "hunter2\n");
    folder
}

/// The program once its target was collected.
fn serve(folder: &Folder, configuration: &str) -> Exporter {
    let mut exporter = folder.serve(configuration);
    exporter.wait_for_line("Target is up");
    exporter
}

fn number(page: &str) -> Option<&str> {
    let line = page.lines().find(|line| line.starts_with("perfmon_zoo_number"))?;
    line.rsplit_once(' ').map(|(_, value)| value)
}

fn has(page: &Answer, line: &str) {
    assert!(page.body.lines().any(|found| found == line), "{line}\n{}\n{}", page.head, page.body);
}

/// Asks with so many seconds until the asker gives up.
fn ask_within(exporter: &Exporter, path: &str, seconds: &str) -> Answer {
    exporter.ask(&format!(
        "GET {path} HTTP/1.1\r\nHost: here\r\nX-Prometheus-Scrape-Timeout-Seconds: {seconds}\r\n\
         Connection: close\r\n\r\n"
    ))
}

#[test]
fn a_configured_target_is_answered_from_its_last_collection_without_its_name() {
    let exporter = serve(&folder(), MOODY);
    for target in ["heart", "127.0.0.9"] {
        let page = exporter.get(&format!("/probe?target={target}"));
        has(&page, r#"perfmon_zoo_number{ward="west"} 1"#);
        has(&page, "perfmon_probe_success 1");
        has(&page, "perfmon_probe_stage_seconds{stage=\"query\"} 0");
        assert!(!page.body.contains("target=") && !page.body.contains("perfmon_exporter_"), "{}", page.body);
        assert!(!page.body.contains("perfmon_probe_failure_info{"), "{}", page.body);
    }
    has(&exporter.get("/probe?target=heart&module=all&labels=false"), "perfmon_zoo_number 1");
    let openmetrics = exporter.ask(
        "GET /probe?target=heart HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
         Accept: application/openmetrics-text;version=1.0.0\r\n\r\n",
    );
    assert!(openmetrics.body.ends_with("# EOF\n"), "{}", openmetrics.body);
}

#[test]
fn another_host_is_asked_each_time_over_the_instance_that_is_there() {
    let exporter = serve(&folder(), MOODY);
    for count in ["2", "3", "4"] {
        let page = exporter.get("/probe?target=127.0.0.5&module=all");
        has(&page, &format!("perfmon_zoo_number {count}"));
        has(&page, "perfmon_probe_success 1");
    }
    // So is a configured one, where other modules are asked for.
    has(&exporter.get("/probe?target=heart&module=more"), r#"perfmon_zoo_number{ward="west"} 5"#);
}

#[test]
fn pages_of_probes_are_not_counted_as_scrapes() {
    let exporter = serve(&folder(), MOODY);
    for _ in 0..3 {
        exporter.get("/probe?target=heart");
    }
    exporter.get("/probe?target=127.0.0.5&module=all");
    // Nobody read /metrics before.
    let first = exporter.get("/metrics");
    has(&first, "perfmon_exporter_scrapes_total{outcome=\"complete\"} 0");
    has(&first, "perfmon_exporter_scrape_duration_seconds_count{format=\"text\"} 0");
    // What the probe of the other host brought is work as any other.
    for what in ["validation", "ingest"] {
        has(&first, &format!("perfmon_exporter_{what}_duration_seconds_count{{plugin=\"moody\"}} 2"));
    }
    // A page is counted when its last byte was taken, which its reader may see first.
    let counted = "perfmon_exporter_probe_pages_total{outcome=\"complete\"} 4\n";
    let page = exporter.wait_for_page(|page| page.contains(counted));
    assert!(page.contains("perfmon_exporter_probe_pages_total{outcome=\"aborted\"} 0\n"), "{page}");
}

#[test]
fn what_is_wrong_with_a_question_is_told() {
    let exporter = serve(&folder(), MOODY);
    for (query, status, told) in [
        ("", 400, "`target` is missing"),
        ("?target=", 400, "`target` is missing"),
        ("?target=heart&target=heart", 400, "parameter `target` is given more than once"),
        ("?tagret=heart", 400, "did you mean `target`?"),
        ("?target=heart&module=al", 400, "there is no module `al`; did you mean `all`?"),
        ("?target=heart&module=all,all", 400, "module `all` is given more than once"),
        ("?target=heart&identity=crop", 400, "there is no identity `crop`; did you mean `corp`?"),
        ("?target=heart&transport=wan", 400, "there is no transport `wan`"),
        ("?target=127.0.0.5", 400, "`module` is missing"),
        (
            "?target=127.0.0.5:446&module=all",
            400,
            "write the name or the address alone, `127.0.0.5`; a port goes into the transport",
        ),
        ("?target=h%C3%A9art%2F&module=all", 400, "is not a valid host"),
        ("?target=%zz", 400, "hexadecimal"),
        ("?target=10.0.0.1&module=all", 403, "`10.0.0.1` may not be probed"),
        ("?target=hearts&module=all", 403, "did you mean `heart`?"),
        ("?target=localhost&module=all", 403, "`localhost` may not be probed"),
        (
            "?target=127.0.0.5&module=all&identity=corp",
            403,
            "identity `corp` may not be used for `127.0.0.5`",
        ),
    ] {
        let page = exporter.get(&format!("/probe{query}"));
        assert!(page.status == status && page.body.contains(told), "{query}: {} {}", page.status, page.body);
    }
    let page = ask_within(&exporter, "/probe?target=heart", "soon");
    assert_eq!(page.status, 400);
}

#[test]
fn nobody_but_the_configured_targets_is_asked_unless_a_list_says_so() {
    let configuration = MOODY.replace("probe: {allow_targets: ['127.0.0.0/8', '*.lan']}\n", "");
    let exporter = serve(&folder(), &configuration);
    assert_eq!(exporter.get("/probe?target=127.0.0.5&module=all").status, 403);
    assert_eq!(exporter.get("/probe?target=heart").status, 200);
}

#[test]
fn a_name_that_leads_elsewhere_than_its_networks_is_refused() {
    let configuration = MOODY.replace("'127.0.0.0/8', '*.lan'", "'10.0.0.0/8', 'localhost'");
    let exporter = serve(&folder(), &configuration);
    let page = exporter.get("/probe?target=localhost&module=all");
    assert!(page.status == 403 && page.body.contains("resolves to"), "{} {}", page.status, page.body);
    has(&exporter.get("/metrics"), r#"perfmon_zoo_number{target="heart",ward="west"} 1"#);
}

#[test]
fn many_who_ask_at_once_share_one_collection() {
    let folder = folder();
    let exporter = serve(&folder, MOODY);
    folder.write("mood", "s");
    let pages: Vec<Answer> = std::thread::scope(|scope| {
        let ask = || exporter.get("/probe?target=127.0.0.5&module=all");
        let asking: Vec<_> = (0..50).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    for page in pages {
        has(&page, "perfmon_zoo_number 2");
    }
}

#[test]
fn a_failure_is_a_page_that_says_why() {
    let folder = folder();
    let exporter = serve(&folder, MOODY);
    has(&exporter.get("/probe?target=127.0.0.5&module=all"), "perfmon_zoo_number 2");
    folder.write("mood", "f");
    let page = exporter.get("/probe?target=127.0.0.5&module=all");
    assert_eq!((page.status, number(&page.body)), (200, None));
    has(&page, "perfmon_probe_success 0");
    has(&page, r#"perfmon_probe_failure_info{stage="query",reason="access_denied"} 1"#);
}

#[test]
fn an_answer_comes_before_the_asker_gives_up() {
    let folder = folder();
    let exporter = serve(&folder, MOODY);
    folder.write("mood", "s");
    let began = Instant::now();
    let page = ask_within(&exporter, "/probe?target=127.0.0.5&module=all", "0.5");
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    has(&page, "perfmon_probe_success 0");
    has(&page, r#"perfmon_probe_failure_info{stage="plugin",reason="timeout"} 1"#);
}

#[test]
fn too_many_at_a_time_are_told_when_to_come_back() {
    let folder = folder();
    let configuration = MOODY.replace("probe: {", "probe: {max_concurrent: 1, max_targets: 2, ");
    let exporter = serve(&folder, &configuration);
    folder.write("mood", "s");
    let ask = |host: &str| exporter.get(&format!("/probe?target={host}&module=all"));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| ask("127.0.0.5"));
        exporter.wait_for_page(|page| page.contains("perfmon_exporter_probe_collections_total 1\n"));
        // It waits for as long as what is left then would be enough.
        let second = ask_within(&exporter, "/probe?target=127.0.0.6&module=all", "0.5");
        assert_eq!(second.status, 503);
        assert!(second.head.contains("retry-after: 1"), "{}", second.head);
        assert!(second.body.contains("`probe.max_concurrent` is 1"), "{}", second.body);
        let third = scope.spawn(|| ask("127.0.0.7"));
        assert_eq!((first.join().unwrap().status, third.join().unwrap().status), (200, 200));
    });
    // The hosts that were asked longest ago make room.
    folder.write("mood", "g");
    for host in ["127.0.0.6", "127.0.0.7", "127.0.0.8"] {
        assert_eq!(ask(host).status, 200);
    }
}

#[test]
fn hosts_that_hang_leave_places_for_those_that_answered_before() {
    let folder = folder();
    let exporter = serve(&folder, &MOODY.replace("probe: {", "probe: {max_concurrent: 8, "));
    let ask = |host: &str, seconds: &str| {
        ask_within(&exporter, &format!("/probe?target={host}&module=all"), seconds).status
    };
    let begun = |count: u64| {
        let line = format!("perfmon_exporter_probe_collections_total {count}\n");
        exporter.wait_for_page(|page| page.contains(&line));
    };
    let (answered, failed, new) =
        ("127.0.0.5", ["127.0.0.6", "127.0.0.7"], ["127.0.0.10", "127.0.0.11", "127.0.0.12"]);
    assert_eq!(ask(answered, "10"), 200);
    folder.write("mood", "f");
    assert_eq!(failed.map(|host| ask(host, "10")), [200, 200]);
    folder.write("mood", "h");
    let ask = &ask;
    std::thread::scope(|scope| {
        scope.spawn(move || ask(failed[0], "10"));
        begun(4);
        assert_eq!(ask(failed[1], "0.5"), 503, "half of a quarter is for hosts of one client that failed");
        for (host, count) in [(new[0], 5), (new[1], 6)] {
            scope.spawn(move || ask(host, "10"));
            begun(count);
        }
        assert_eq!(ask(new[2], "0.5"), 503, "a quarter is for hosts of one client that are new");
        folder.write("mood", "g");
        assert_eq!(ask(answered, "5"), 200);
        folder.write("go", "");
    });
}

#[test]
fn an_answer_is_given_again_where_that_is_asked_for() {
    let configuration = MOODY.replace("probe: {", "probe: {cache: 5m, ");
    let exporter = serve(&folder(), &configuration);
    for _ in 0..3 {
        has(&exporter.get("/probe?target=127.0.0.5&module=all"), "perfmon_zoo_number 2");
    }
    // Who looks for a mistake wants to see it happen.
    assert_eq!(number(&exporter.get("/probe?target=127.0.0.5&module=all&debug=true").body), Some("3"));
}

#[test]
fn a_report_for_people_tells_everything_but_the_password() {
    let folder = folder();
    let exporter = serve(&folder, MOODY);
    folder.write("mood", "f");
    let report = exporter.get("/probe?target=127.0.0.1&module=all&identity=corp&debug=true").body;
    for part in [
        "state:     down",
        "module all: query: access_denied: not today",
        "next: ",
        "Info Collecting 102",
        "identity: corp",
        "plugin: moody",
        "perfmon_probe_success 0",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    // Who that is, this reader gave no password to see.
    assert!(!report.contains("hunter2") && !report.contains("svc") && !report.contains("CORP"), "{report}");
    let scheduled = exporter.get("/probe?target=heart&debug=true").body;
    assert!(scheduled.contains("from the target's schedule"), "{scheduled}");
}

#[test]
fn prometheus_finds_the_targets_with_all_that_a_probe_needs() {
    let exporter = serve(&folder(), MOODY);
    let answer = exporter.ask("GET /sd HTTP/1.1\r\nHost: exporter:9483\r\nConnection: close\r\n\r\n");
    assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
    let groups: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(groups.as_array().unwrap().len(), 1);
    assert_eq!(groups[0]["targets"], serde_json::json!(["exporter:9483"]));
    for (label, value) in [
        ("__scheme__", "http"),
        ("__metrics_path__", "/probe"),
        ("__param_target", "heart"),
        ("__param_module", "all"),
        ("__scrape_interval__", "3600000ms"),
        ("target", "heart"),
        ("instance", "heart"),
        ("ward", "west"),
    ] {
        assert_eq!(groups[0]["labels"][label], value, "{label}: {}", answer.body);
    }
    let strange = exporter.ask("GET /sd HTTP/1.1\r\nHost: a\"b\r\nConnection: close\r\n\r\n");
    assert_eq!(strange.status, 400);

    let configuration = MOODY.replace("web: {", "web: {external_url: 'https://mon.lan/perfmon/', ");
    let exporter = serve(&folder(), &configuration);
    let groups: Value = serde_json::from_str(&exporter.get("/sd").body).unwrap();
    assert_eq!(groups[0]["targets"], serde_json::json!(["mon.lan"]));
    assert_eq!(groups[0]["labels"]["__scheme__"], "https");
    assert_eq!(groups[0]["labels"]["__metrics_path__"], "/perfmon/probe");
}

#[test]
fn a_label_instance_is_the_same_on_every_way_out() {
    let named = |value: &str| MOODY.replace("ward: west", &format!("ward: west, instance: '{value}'"));
    let exporter = serve(&folder(), &named("bed 7"));
    let groups: Value = serde_json::from_str(&exporter.get("/sd").body).unwrap();
    assert_eq!(groups[0]["labels"]["instance"], "bed 7");
    assert_eq!(groups[0]["labels"]["__param_target"], "heart");
    has(&exporter.get("/probe?target=heart"), "perfmon_probe_success 1");
    let page = exporter.get("/metrics").body;
    assert!(
        page.lines().any(|line| line.contains(r#"target="heart""#) && line.contains(r#"instance="bed 7""#)),
        "{page}"
    );

    let exporter = serve(&folder(), &named(""));
    let groups: Value = serde_json::from_str(&exporter.get("/sd").body).unwrap();
    assert_eq!(groups[0]["labels"]["instance"], "heart");
}

#[test]
fn probes_can_be_switched_off() {
    let exporter = serve(&folder(), &MOODY.replace("probe: {", "probe: {enabled: false, "));
    assert_eq!(exporter.get("/probe?target=heart").status, 403);
}

#[test]
fn series_outlive_failures_for_as_long_as_they_may_on_every_way_out() {
    let folder = folder();
    let configuration = MOODY.replace("interval: 1h, deadline: 10s", "interval: 1s, stale_after: 3");
    let mut exporter = serve(&folder, &configuration);
    folder.write("mood", "f");
    exporter.wait_for_line("Target is down");
    let probe = exporter.get("/probe?target=heart");
    has(&probe, "perfmon_probe_success 0");
    let kept = number(&probe.body).expect("the series outlives the failure").to_owned();
    let began = Instant::now();
    let shown = |path: &str| number(&exporter.get(path).body).map(str::to_owned);
    while let Some(value) = shown("/probe?target=heart") {
        assert_eq!(value, kept);
        assert!(began.elapsed() < Duration::from_secs(30), "it never goes");
    }
    assert!(began.elapsed() > Duration::from_secs(2), "it goes after {:?}", began.elapsed());
    assert_eq!(shown("/metrics"), None);
    folder.write("mood", "g");
    exporter.wait_for_line("Target is up again");
    assert!(number(&exporter.get("/metrics").body).is_some());
}

#[test]
fn a_reload_changes_who_may_be_asked_and_what_prometheus_finds() {
    let folder = folder();
    let mut exporter = serve(&folder, MOODY);
    has(&exporter.get("/probe?target=127.0.0.5&module=all"), "perfmon_probe_success 1");
    let configuration =
        MOODY.replace("'127.0.0.0/8', '*.lan'", "'127.0.0.6'").replace("name: heart", "name: soul");
    folder.write("perfmon.yml", &configuration);
    exporter.signal("HUP");
    exporter.wait_for_line("Configuration reloaded");
    assert_eq!(exporter.get("/probe?target=127.0.0.5&module=all").status, 403);
    has(&exporter.get("/probe?target=127.0.0.6&module=all"), "perfmon_probe_success 1");
    // A host like any other now, of which nobody says what to ask.
    assert_eq!(exporter.get("/probe?target=heart").status, 400);
    has(&exporter.get("/probe?target=soul"), "perfmon_probe_success 1");
    let groups: Value = serde_json::from_str(&exporter.get("/sd").body).unwrap();
    assert_eq!(groups[0]["labels"]["instance"], "soul");
    let page = exporter.get("/metrics");
    has(&page, r#"perfmon_exporter_probes_total{outcome="refused"} 2"#);
    has(&page, "perfmon_exporter_probe_targets 1");
}

#[test]
fn rules_for_targets_at_large_are_those_of_other_hosts_too() {
    let rules = "target_defaults: {normalize: {rename: [{from: perfmon_zoo_number, to: moods}]}}";
    let exporter = serve(&folder(), &format!("{MOODY}{rules}\n"));
    has(&exporter.get("/probe?target=heart"), r#"moods{ward="west"} 1"#);
    has(&exporter.get("/probe?target=127.0.0.5&module=all"), "moods 2");
}
