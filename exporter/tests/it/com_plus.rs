//! COM+ applications on pages and on the command line: the whole program, the plugins beside it, a simulated host.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{expect, expect_file};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use windows_sim::service::process_dump;
use windows_sim::{Account, Accounts, ActivationMode, WindowsHost, server};
use wire::FileTime;

use crate::command_line::check_reader_gone;
use crate::command_plugin::{Installed, PASSWORD, told};

/// 2026-01-01 12:07:07, two days after the simulated host was started.
const NOW: FileTime = FileTime(134_116_992_000_000_000 + 427 * FileTime::INTERVALS_PER_SECOND);
const BOOT: FileTime = FileTime(134_116_992_000_000_000 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

/// A simulated host whose time stands still, with counters on one port and objects on another.
pub(crate) struct Sim {
    pub(crate) host: Arc<WindowsHost>,
    source: Arc<Host>,
    pub(crate) clock: Clock,
    smb: u16,
    dcom: u16,
    pub(crate) runtime: Runtime,
}

impl Sim {
    pub(crate) fn new() -> Self {
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
    pub(crate) fn container(&self) -> String {
        self.source.com_processes(&self.source.moment())[0].containers[0].container_id.to_string()
    }

    /// The calls for dumps, which come after the question whether there are any.
    pub(crate) fn dump_calls(&self) -> (u64, u64) {
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
    pub(crate) fn config_with(&self, more: &str) -> String {
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
          process 262148
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000011          13          4          9          2      21 ms         34          0
          c0990e27-0000-4000-8000-000000000012           9          4          5          2      26 ms         36          3
          c0990e27-0000-4000-8000-000000000013           3          3          0          1      16 ms         31          1

        application a911ca70-0000-4000-8000-000000000002
          2 containers, 20 instances, 6 calls in progress, 39 calls/s
          process 266244
          process 266248
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000021          14          6          8          2      25 ms         53          4
          c0990e27-0000-4000-8000-000000000022          11         11          0          4      66 ms         99          3

        application a911ca70-0000-4000-8000-000000000003
          1 container, 10 instances, 2 calls in progress, 19 calls/s
          process 270340
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000031           5          1          4          1      19 ms         49          0
          c0990e27-0000-4000-8000-000000000032           5          5          0          1      19 ms         29          1

        application a911ca70-0000-4000-8000-000000000004
          1 container, 2 instances, 2 calls in progress, 19 calls/s
          process 274436
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
          process 266244
          process 266248
          component                             references      bound     pooled    in call  call time  completed     failed
          c0990e27-0000-4000-8000-000000000021          14          6          8          2      25 ms         53          4
    "#]].assert_eq(&out);
    let (code, out, _) = list("c0990e27-0000-4000-8000-00000000ffff");
    assert_eq!((code, out.as_str()), (0, "COM+ applications of 127.0.0.1: 0\n"));
    // [MS-COMT] 3.1.4.1.3 does not say how the call fails for a container without the component.
    for (answer, said) in [
        ("status:0x80070057", ""),
        ("status:0x8000ffff", ""),
        ("status:0x80004005", ""),
        ("status:0x80070490", ""),
        ("status:0x80110401", ""),
        ("fault:1783", "call of opnum 6: fault 0x000006f7"),
        ("oversize:3", "component data by container and clsid"),
    ] {
        let rules = ["tracker/5=drop".to_owned(), format!("tracker/6={answer}")];
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        sim.host.change_behaviour(|behaviour| behaviour.rules = rules);
        let (_, out, _) = list("c0990e27-0000-4000-8000-000000000021");
        let rest = out.strip_prefix("COM+ applications of 127.0.0.1: 0\n").unwrap_or_else(|| panic!("{out}"));
        assert!(rest.contains(said) && rest.is_empty() == said.is_empty(), "{answer}: {out}");
    }
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
    check_reader_gone(|| installed.command(&words));
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
