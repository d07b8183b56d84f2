//! COM+ applications on pages and on the command line: the whole program, the plugins beside it, a simulated host.

use std::sync::Arc;

use expect_test::{expect, expect_file};
use ms_dtyp::FileTime;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use windows_sim::model::{Clock, Host, HostOptions};
use windows_sim::{Account, Accounts, ActivationMode, WindowsHost, server};

use crate::command_plugin::{Installed, PASSWORD, told};

/// 2026-01-01 12:07:07, two days after the simulated host was started.
const NOW: FileTime = FileTime(134_116_992_000_000_000 + 427 * FileTime::INTERVALS_PER_SECOND);
const BOOT: FileTime = FileTime(134_116_992_000_000_000 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

/// A simulated host whose time stands still, with counters on one port and objects on another.
struct Sim {
    host: Arc<WindowsHost>,
    smb: u16,
    dcom: u16,
    _runtime: Runtime,
}

impl Sim {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let account = Account::new("CORP", "svc", ssp::Secret::new(PASSWORD));
        let options = HostOptions { clock: Clock::manual(NOW), boot: Some(BOOT), ..HostOptions::default() };
        let source = Arc::new(Host::new(options));
        let host = Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account]))));
        let listen = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (smb, resolver, exporter) = (listen(), listen(), listen());
        let [smb_port, dcom_port] = [&smb, &resolver].map(|listener| listener.local_addr().unwrap().port());
        let limits = server::Limits::default();
        runtime.spawn(server::listen_smb(Arc::clone(&host), smb, limits));
        let served = Arc::clone(&host);
        runtime.spawn(async move { server::listen_dcom(served, resolver, exporter, limits).await.unwrap() });
        Self { host, smb: smb_port, dcom: dcom_port, _runtime: runtime }
    }

    fn config(&self) -> String {
        let Self { smb, dcom, .. } = self;
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
  complus: {{plugin: comt, mode: poll}}
targets:
  - {{name: web1, host: 127.0.0.1, identity: corp, transport: here, modules: [os, complus]}}
"
        )
    }
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
fn a_mode_that_is_not_offered_is_shown_where_the_file_has_it() {
    let (installed, sim) = (Installed::with_com_plus(), Sim::new());
    installed.folder.write("perfmon.yml", &sim.config().replace("mode: poll", "mode: events"));
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml"]));
    assert_eq!(code, 1, "{out}");
    expect![[r#"
        perfmon.yml:10:27: modules.complus.mode: mode `events` is not offered: hosts are polled and do not call back; poll
    "#]].assert_eq(&err);
}
