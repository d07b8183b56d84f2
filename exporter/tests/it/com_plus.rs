//! COM+ applications on pages and on the command line: the whole program, the plugins beside it, a simulated host.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::{expect, expect_file};
use ms_dtyp::FileTime;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use windows_sim::choices::ProcessDumps;
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use windows_sim::service::process_dump;
use windows_sim::{Account, Accounts, ActivationMode, ProcessDump, WindowsHost, server};

use crate::command_plugin::{Installed, PASSWORD, told};

/// 2026-01-01 12:07:07, two days after the simulated host was started.
const NOW: FileTime = FileTime(134_116_992_000_000_000 + 427 * FileTime::INTERVALS_PER_SECOND);
const BOOT: FileTime = FileTime(134_116_992_000_000_000 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

/// A simulated host whose time stands still, with counters on one port and objects on another.
pub(crate) struct Sim {
    pub(crate) host: Arc<WindowsHost>,
    source: Arc<Host>,
    clock: Clock,
    smb: u16,
    dcom: u16,
    pub(crate) runtime: Runtime,
}

impl Sim {
    fn new() -> Self {
        Self::of(|host| host)
    }

    /// With a host that is made otherwise.
    pub(crate) fn of(made: impl FnOnce(WindowsHost) -> WindowsHost) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let account = Account::new("CORP", "svc", ssp::Secret::new(PASSWORD));
        let clock = Clock::manual(NOW);
        let options = HostOptions { clock: clock.clone(), boot: Some(BOOT), ..HostOptions::default() };
        let source = Arc::new(Host::new(options));
        let values: Arc<dyn ValueSource> = Arc::<Host>::clone(&source);
        let host = WindowsHost::new("web1", values, Arc::new(Accounts::new(vec![account])));
        let host = Arc::new(made(host));
        let listen = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (smb, resolver, exporter) = (listen(), listen(), listen());
        let [smb_port, dcom_port] = [&smb, &resolver].map(|listener| listener.local_addr().unwrap().port());
        let limits = server::Limits::default();
        runtime.spawn(server::listen_smb(Arc::clone(&host), smb, limits));
        let served = Arc::clone(&host);
        runtime.spawn(async move { server::listen_dcom(served, resolver, exporter, limits).await.unwrap() });
        Self { host, source, clock, smb: smb_port, dcom: dcom_port, runtime }
    }

    /// The container id of the application Orders, which is what events of the host have.
    fn container(&self) -> String {
        self.source.com_processes(&self.source.moment())[0].containers[0].container_id.to_string()
    }

    /// The calls for dumps, which come after the question whether there are any.
    fn dump_calls(&self) -> (u64, u64) {
        let calls = |opnum| self.host.counts().calls(process_dump::NAME, opnum);
        (calls(7), calls(8))
    }

    pub(crate) fn config(&self) -> String {
        self.config_with("")
    }

    /// Tells its state where it is subscribed to, as long as the returned task runs. Subscribers are at this port.
    fn publish(&self, port: u16) -> tokio::task::JoinHandle<()> {
        let mut publisher = server::EventPublisher::new(Arc::clone(&self.host), port);
        self.runtime.spawn(async move {
            loop {
                publisher.publish().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    }

    /// In a mode with events, for which the exporter listens on this port.
    pub(crate) fn config_of_events(&self, mode: &str, port: u16) -> String {
        let settings = format!("settings: {{comt: {{events: {{listen: ['127.0.0.1:{port}']}}}}}}");
        let config = self.config().replace("mode: poll", &format!("mode: {mode}"));
        config.replace("load: [pcq, comt]", &format!("load: [pcq, comt], {settings}"))
    }

    /// With more settings of the module.
    fn config_with(&self, more: &str) -> String {
        config_of(self.ports(), more)
    }

    /// Where its pipes are, and its object resolver.
    pub(crate) fn ports(&self) -> (u16, u16) {
        (self.smb, self.dcom)
    }
}

/// A configuration for the host with these [ports](Sim::ports), with more settings of the module for COM+.
pub(crate) fn config_of((smb, dcom): (u16, u16), more: &str) -> String {
    format!(
        "plugins: {{load: [pcq, comt]}}
transports:
  here: {{smb: {{port: {smb}}}, dcom: {{port: {dcom}}}}}
identities:
  corp: {{kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: [127.0.0.1]}}
scrape: {{interval: 1s}}
web: {{listen: ['127.0.0.1:0']}}
modules:
  os: {{plugin: pcq, countersets: [{{name: HTTP Service}}]}}
  complus: {{plugin: comt, mode: poll{more}}}
targets:
  - {{name: web1, host: 127.0.0.1, identity: corp, transport: here, modules: [os, complus]}}
"
    )
}

/// The lines of a page about COM+.
fn of_com_plus(page: &str) -> String {
    let lines = page.lines().filter(|line| line.contains("perfmon_complus_"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_page_shows_applications_and_components_beside_counters() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    installed.folder.write("perfmon.yml", &sim.config());
    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let page = exporter.wait_for_page(|page| {
        page.contains("perfmon_complus_component_references{") && page.contains("perfmon_http_service_")
    });
    expect_file!["data/com_plus/page.txt"].assert_eq(&of_com_plus(&page));
    // What the host refuses from now on is a failure of that module: its counters are still there.
    sim.host.change_behaviour(|behaviour| {
        behaviour.activation = ActivationMode::NotRegistered;
        behaviour.rules = vec!["tracker/*=drop".parse().unwrap()];
    });
    let page = exporter.wait_for_page(|page| !page.contains("perfmon_complus_"));
    assert!(page.contains("perfmon_http_service_"), "{page}");
    let reason = r#"reason="tracker_not_registered""#;
    exporter.wait_for_page(|page| page.contains(reason));
}

#[test]
fn a_list_has_the_figures_of_all_applications() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    installed.folder.write("perfmon.yml", &sim.config());
    let words = ["comt", "list", "--config", "perfmon.yml", "--target", "web1"];
    let (code, out, err) = told(&installed.run(&words));
    assert_eq!((code, err.as_str()), (0, ""));
    expect![[r#"
        COM+ applications of 127.0.0.1: 4

        application a911ca70-0000-4000-8000-000000000001
          1 container, 23 instances, 5 calls in progress, 26 calls/s
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000011          13          4          9          2      21 ms         34          0
          c0990e27-0000-4000-8000-000000000012           9          4          5          2      26 ms         36          3
          c0990e27-0000-4000-8000-000000000013           3          3          0          1      16 ms         31          1

        application a911ca70-0000-4000-8000-000000000002
          2 containers, 20 instances, 6 calls in progress, 39 calls/s
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000021          14          6          8          2      25 ms         53          4
          c0990e27-0000-4000-8000-000000000022          11         11          0          4      66 ms         99          3

        application a911ca70-0000-4000-8000-000000000003
          1 container, 10 instances, 2 calls in progress, 19 calls/s
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000031           5          1          4          1      19 ms         49          0
          c0990e27-0000-4000-8000-000000000032           5          5          0          1      19 ms         29          1

        application a911ca70-0000-4000-8000-000000000004
          1 container, 2 instances, 2 calls in progress, 19 calls/s
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000041           -          -          -          -          -          -          -

        -: the host does not track it; see EventsEnabled of the application in Component Services
    "#]].assert_eq(&out);
    let (code, out, _) = told(&installed.run(&[&words[..], &["--format", "json"]].concat()));
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let applications = json["applications"].as_array().unwrap();
    assert_eq!((applications.len(), &json["problem"]), (4, &serde_json::Value::Null));
    assert_eq!(applications[3]["components"][0]["references"], serde_json::Value::Null);
    assert!(applications[0]["components"][0]["references"].is_u64());
}

#[test]
fn a_list_of_one_component_has_its_applications_alone() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    installed.folder.write("perfmon.yml", &sim.config());
    // The host does not list all components of a container to anybody.
    sim.host.change_behaviour(|behaviour| behaviour.rules = vec!["tracker/5=drop".parse().unwrap()]);
    let words = ["comt", "list", "--config", "perfmon.yml", "--target", "web1", "--clsid"];
    let list = |clsid| told(&installed.run(&[&words[..], &[clsid]].concat()));
    let (code, out, err) = list("c0990e27-0000-4000-8000-000000000021");
    assert_eq!((code, err.as_str()), (0, ""));
    expect![[r#"
        COM+ applications of 127.0.0.1: 1

        application a911ca70-0000-4000-8000-000000000002
          2 containers, 20 instances, 6 calls in progress, 39 calls/s
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000021          14          6          8          2      25 ms         53          4
    "#]].assert_eq(&out);
    let (code, out, _) = list("c0990e27-0000-4000-8000-00000000ffff");
    assert_eq!((code, out.as_str()), (0, "COM+ applications of 127.0.0.1: 0\n"));
    let (code, _, err) = list("Billing.Invoice");
    assert!(code == 2 && err.contains("--clsid"), "{err}");
}

#[test]
fn a_list_that_is_refused_says_what_to_open() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    let port = sim.dcom.to_string();
    let words = ["comt", "list", "--target", "127.0.0.1", "--port", &port, "--username", r"CORP\svc"];
    let words = [&words[..], &["--password-file", "password"]].concat();
    assert_eq!(told(&installed.run(&words)).0, 0, "it needs no configuration");
    sim.host.change_behaviour(|behaviour| behaviour.activation = ActivationMode::AccessDenied);
    let (code, out, err) = told(&installed.run(&words));
    assert_eq!((code, out.as_str()), (1, ""));
    expect![[r#"
        query: com_access_denied: remote create instance: E_ACCESSDENIED
        next: Enable COM+ Network Access on the host (RemoteAccessEnabled = 1 in HKLM\SOFTWARE\Microsoft\COM3), give the account remote launch and activation (group Distributed COM Users, or dcomcnfg), and put it into the role Reader of the COM+ application System Application.
    "#]].assert_eq(&err);
}

#[test]
fn a_mode_that_is_none_is_shown_where_the_file_has_it() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    installed.folder.write("perfmon.yml", &sim.config().replace("mode: poll", "mode: push"));
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml"]));
    assert_eq!(code, 1, "{out}");
    expect![[r#"
        perfmon.yml:10:27: modules.complus.mode: there is no mode `push`; `poll`, `events`, `both`
    "#]]
    .assert_eq(&err);
}

/// One run of `comt dump`: exit code, standard output, what it says, and its records for an audit.
struct Dumped {
    code: i32,
    out: String,
    err: String,
    records: Vec<String>,
}

const ALLOWED: &str = r", dump: {allow: true, directories: ['C:\Dumps', 'E:\Dumps']}";

/// Runs `comt dump` where the configuration has these settings.
fn dump_with(settings: &str, sim: &Sim, more: &[&str]) -> Dumped {
    let installed = Installed::with_com_plus();
    installed.folder.write("perfmon.yml", &sim.config_with(settings));
    let container = sim.container();
    let mut words = vec!["comt", "dump", "--config", "perfmon.yml", "--target", "web1"];
    if !more.contains(&"--container") {
        words.extend(["--container", &container]);
    }
    words.extend(more);
    let (code, out, all) = told(&installed.run(&words));
    let (records, said): (Vec<&str>, Vec<&str>) =
        all.lines().partition(|line| line.contains(r#"audit="process_dump""#));
    let records = records.into_iter().map(str::to_owned).collect();
    Dumped { code, out, err: said.join("\n"), records }
}

fn dump(sim: &Sim, more: &[&str]) -> Dumped {
    dump_with(ALLOWED, sim, more)
}

const DIRECTORY: [&str; 2] = ["--directory", r"c:\dumps\"];

#[test]
fn a_dump_is_written_where_the_configuration_allows_it_and_is_recorded() {
    let sim = Sim::new();
    let dumped = dump(&sim, &DIRECTORY);
    assert_eq!((dumped.code, dumped.err.as_str()), (0, ""));
    let path = r"C:\Dumps\{A911CA70-0000-4000-8000-000000000001}-2026_01_01_00_07_07";
    assert_eq!(dumped.out, format!("{path}\n"), "the directory is that of the list");
    let dumps: Vec<String> = sim.host.dumps().iter().map(ProcessDump::path).collect();
    assert_eq!(dumps, [path]);
    let [requested, ended] = &dumped.records[..] else { panic!("{:?}", dumped.records) };
    assert!(requested.contains("Process dump requested"), "{requested}");
    let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()).to_string();
    for part in ["Process dump ended", &uid, "127.0.0.1", &sim.container(), "written: C:", "c:"] {
        assert!(ended.contains(part), "{part}: {ended}");
    }
    // The oldest of more than were asked for is deleted.
    for _ in 0..2 {
        sim.clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(
            dump(&sim, &[&DIRECTORY[..], &["--max-files", "2", "--log.level", "off"]].concat()).code,
            0
        );
    }
    let seconds: Vec<String> =
        sim.host.dumps().iter().map(|dump| dump.path()[path.len() - 2..].into()).collect();
    assert_eq!(seconds, ["08", "09"]);
}

#[test]
fn a_dump_that_is_not_allowed_never_reaches_the_host() {
    let sim = Sim::new();
    let refused: [(&str, &[&str], &str); 9] = [
        ("", &DIRECTORY, "allows no process dumps of 127.0.0.1"),
        (r", dump: {directories: ['C:\Dumps']}", &DIRECTORY, "allows no process dumps"),
        (r", dump: {allow: true, application_directory: true}", &DIRECTORY, "does not name the directory"),
        (ALLOWED, &["--directory", r"C:\Dumps\inside"], "does not name the directory"),
        (ALLOWED, &["--directory", r"\\files\dumps"], "network or device path"),
        (ALLOWED, &["--directory", r"C:\Dumps\..\Windows"], "it contains `.` or `..`"),
        (ALLOWED, &["--directory", "Dumps"], "not absolute"),
        (ALLOWED, &["--directory", "C:/Dumps"], "backslashes"),
        (ALLOWED, &[], "application's own directory"),
    ];
    for (settings, more, reason) in refused {
        let dumped = dump_with(settings, &sim, more);
        assert_eq!((dumped.code, dumped.out.as_str()), (1, ""), "{}", dumped.err);
        assert!(dumped.err.contains(reason), "{reason}: {}", dumped.err);
        assert!(dumped.err.contains("\nnext: "), "{}", dumped.err);
        let [record] = &dumped.records[..] else { panic!("{:?}", dumped.records) };
        assert!(record.contains("refused: ") && record.contains(&sim.container()), "{record}");
    }
    // Nor without a configuration, which could allow it.
    let installed = Installed::with_com_plus();
    let (port, container) = (sim.dcom.to_string(), sim.container());
    let words = ["comt", "dump", "--target", "127.0.0.1", "--port", &port, "--username", r"CORP\svc"];
    let more = ["--password-file", "password", "--container", &container, "--directory", r"C:\Dumps"];
    let (code, _, err) = told(&installed.run(&[&words[..], &more].concat()));
    assert!(code == 1 && err.contains("allows no process dumps"), "{err}");
    assert_eq!((sim.host.dumps(), sim.dump_calls()), (vec![], (0, 0)));
    assert!(sim.host.accounts().attempts().is_empty(), "nobody logged on");
}

#[test]
fn the_directory_of_the_application_is_used_only_where_that_is_allowed() {
    let sim = Sim::new();
    let dumped = dump_with(", dump: {allow: true, application_directory: true}", &sim, &[]);
    assert!(dumped.out.starts_with(r"C:\Windows\System32\com\dmp\{A911CA70"), "{}{}", dumped.out, dumped.err);
    assert!(dumped.records[1].contains("of the application"), "{:?}", dumped.records);
}

#[test]
fn what_a_host_refuses_is_recorded_and_says_what_to_change() {
    let nobody = "11111111-2222-4333-8444-555555555555";
    let unsupported = |sim: &Sim| {
        sim.host.change_behaviour(|behaviour| {
            behaviour.choices.com_plus.process_dumps = ProcessDumps::Unsupported;
        });
    };
    let rule = |rule: &'static str| {
        move |sim: &Sim| {
            sim.host.change_behaviour(|behaviour| behaviour.rules = vec![rule.parse().unwrap()]);
        }
    };
    type Change = Box<dyn Fn(&Sim)>;

    let cases: [(Change, &[&str], &str, &str); 6] = [
        (Box::new(unsupported), &DIRECTORY, "dump_not_supported", "on the host itself"),
        (
            Box::new(rule("process-dump/8=status:0x80070005")),
            &DIRECTORY,
            "dump_access_denied",
            "role Administrator",
        ),
        (
            Box::new(rule("activator/4=status:0x80070005")),
            &DIRECTORY,
            "com_access_denied",
            "COM+ Network Access",
        ),
        (
            Box::new(|_: &Sim| {}),
            &["--container", nobody, "--directory", r"C:\Dumps"],
            "container_not_found",
            "comt list",
        ),
        (Box::new(|_: &Sim| {}), &["--directory", r"E:\Dumps"], "directory_refused", "Create the directory"),
        (Box::new(rule("process-dump/8=status:0x80004001")), &DIRECTORY, "dump_not_supported", "on the host"),
    ];
    for (change, more, reason, advice) in cases {
        let sim = Sim::new();
        change(&sim);
        let dumped = dump(&sim, more);
        assert_eq!((dumped.code, dumped.out.as_str()), (1, ""), "{reason}: {}", dumped.err);
        assert!(dumped.err.contains(reason) && dumped.err.contains(advice), "{reason}: {}", dumped.err);
        let ended = dumped.records.last().unwrap();
        assert!(ended.contains("failed: ") && ended.contains(reason), "{ended}");
    }
}

/// A port of loopback that nobody has now.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_page_shows_what_events_tell_and_an_exporter_that_is_killed_leaves_one_subscription() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    let port = free_port();
    installed.folder.write("perfmon.yml", &sim.config_of_events("events", port));
    let publishing = sim.publish(port);
    let is_told = |page: &str| page.contains("perfmon_complus_events_up{target=\"web1\"} 1");
    let subscriptions = || {
        let mut publisher = server::EventPublisher::new(Arc::clone(&sim.host), port);
        sim.runtime.block_on(publisher.publish()).into_iter().map(|one| one.subscription).collect::<Vec<_>>()
    };
    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let page = exporter.wait_for_page(is_told);
    let of_host: String = of_com_plus(&page)
        .lines()
        .filter(|line| !line.contains("_events_") && !line.contains("_listener_"))
        .map(|line| format!("{line}\n"))
        .collect();
    expect_file!["data/com_plus/events.txt"].assert_eq(&of_host);
    let before = subscriptions();
    assert_eq!(before.len(), 1);
    // It ends without a word to the host.
    drop(exporter);
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    exporter.wait_for_page(is_told);
    assert_eq!(subscriptions(), before, "the new one takes its place");
    let html = exporter.get("/targets/web1").body;
    for text in ["Orders", "Orders.Cart", "dllhost.exe"] {
        assert!(html.contains(text), "{text}: {html}");
    }
    exporter.terminate();
    assert!(exporter.wait().success());
    assert!(subscriptions().is_empty(), "it is removed at the end");
    publishing.abort();
}

#[test]
fn a_port_for_call_backs_that_is_taken_is_named_and_hosts_are_polled() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    installed.folder.write("perfmon.yml", &sim.config_of_events("both", port));
    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    // The failure is counted before the collection's series are published.
    let page = exporter.wait_for_page(|page| {
        page.contains(r#"reason="event_listener_failed""#)
            && page.contains("perfmon_complus_component_references{")
    });
    assert!(page.contains("perfmon_complus_events_up{target=\"web1\"} 0"), "{page}");
    let html = exporter.get("/targets/web1").body;
    assert!(html.contains(&format!("listen on 127.0.0.1:{port}")), "{html}");
    // Later attempts are rarer, and there will be one.
    drop(taken);
    let publishing = sim.publish(port);
    exporter.wait_for_page(|page| page.contains("perfmon_complus_events_up{target=\"web1\"} 1"));
    publishing.abort();
}

#[test]
fn a_list_waits_for_an_event_that_tells_container_ids() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    installed.folder.write("perfmon.yml", &sim.config());
    let port = free_port();
    let publishing = sim.publish(port);
    let listen = format!("127.0.0.1:{port}");
    let words =
        ["comt", "list", "--config", "perfmon.yml", "--target", "web1", "--event-listen", listen.as_str()];
    let (code, out, err) = told(&installed.run(&[&words[..], &["--event-within", "50s"]].concat()));
    assert_eq!((code, err.as_str()), (0, ""));
    let container = format!("container {} in process 262148 (dllhost.exe)", sim.container());
    assert!(out.contains(&container), "{container}: {out}");
    assert!(out.contains("application a911ca70-0000-4000-8000-000000000001 Orders"), "{out}");
    publishing.abort();
    let mut publisher = server::EventPublisher::new(Arc::clone(&sim.host), port);
    assert!(sim.runtime.block_on(publisher.publish()).is_empty(), "it is removed");
    // Nobody calls now.
    let (code, out, err) = told(&installed.run(&[&words[..], &["--event-within", "100ms"]].concat()));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("no event came within 100ms to 127.0.0.1 (ports 135 and"), "{err}");
}

#[test]
fn a_call_that_the_host_does_not_answer_is_among_the_state_of_rpc_calls() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    sim.host.change_behaviour(|behaviour| behaviour.rules = vec!["pcq/6=delay:60s".parse().unwrap()]);
    installed.folder.write("perfmon.yml", &format!("rpc_state: {{directory: state}}\n{}", sim.config()));
    let _exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let list = || {
        let words = ["--config", "perfmon.yml", "rpc-state", "-a", "-N", "6", "--format", "json"];
        // There is no directory before the exporter has made it.
        let (_, out, _) = told(&installed.run(&words));
        serde_json::from_str::<Vec<serde_json::Value>>(&out).unwrap_or_default()
    };
    let begun = Instant::now();
    let call = loop {
        if let Some(call) = list().into_iter().find(|call| call["method"] == "PerflibV2QueryCounterData") {
            break call;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "the call is never in progress");
    };
    let of = |key: &str| call[key].as_str().unwrap_or_default();
    assert_eq!((of("interface"), of("owner")), ("PerflibV2", "pcq"));
    assert_eq!((of("server"), of("endpoint")), ("127.0.0.1", r"\PIPE\winreg"));
    // The collection has its deadline, and gives the call up.
    while !list().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the call is in progress for ever");
    }
}

#[test]
fn pages_show_which_call_a_collection_waits_for() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    sim.host.change_behaviour(|behaviour| behaviour.rules = vec!["pcq/6=delay:60s".parse().unwrap()]);
    installed.folder.write("perfmon.yml", &format!("rpc_state: {{directory: state}}\n{}", sim.config()));
    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let begun = Instant::now();
    let page_with = |path: &str, parts: &[&str]| loop {
        let page = exporter.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        if parts.iter().all(|part| page.body.contains(part)) {
            break page.body;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{path} never has {parts:?}: {}", page.body);
    };
    let call = "PerflibV2.PerflibV2QueryCounterData";
    page_with("/targets/web1", &["What the collection waits for", call, r"<bdi>\PIPE\winreg</bdi>"]);
    let pid = exporter.pid();
    let page = page_with(&format!("/rpc-state?pid={pid}&operation=6"), &["Longest wait", call, "127.0.0.1"]);
    assert!(page.contains("<bdi>pcq</bdi>") && page.contains(&format!("?pid={pid}\"")), "{page}");
    // For programs, it is what the command prints.
    let json = page_with("/rpc-state?format=json&operation=6", &["PerflibV2QueryCounterData"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["client_calls"][0]["owner"], &json["client_calls"][0]["pid"]),
        (&"pcq".into(), &pid.into())
    );
}
