//! Calls between the whole program and a simulated host that keeps its own state, as `rpc-state` shows them.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use windows_sim::server::{Delivery, EventPublisher};
use windows_sim::{RpcState, RpcStateLevel};

use crate::com_plus::{Sim, config_of, free_port};
use crate::command_plugin::{Installed, told};
use crate::program::Exporter;

/// Nothing here takes long; a test that waits for what never comes ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host does this with polls of its counters.
const POLLS_HANG: &str = "pcq/6=delay:60s";

/// The program, and a host of the process of this test; the state of both is in one directory.
struct World {
    installed: Installed,
    sim: Sim,
    _state: RpcState,
}

impl World {
    fn new(level: RpcStateLevel) -> Self {
        let installed = Installed::with_com_plus();
        let state = RpcState::open(&installed.folder.path("state"), level).unwrap();
        let sim = Sim::of(|host| host.observed_by(state.observers()));
        Self { installed, sim, _state: state }
    }

    /// A host that does this with some calls.
    fn with_rule(rule: &str) -> Self {
        let world = Self::new(RpcStateLevel::Server);
        world.sim.host.change_behaviour(|behaviour| behaviour.rules = vec![rule.parse().unwrap()]);
        world
    }

    fn start(&self, config: &str) -> Exporter {
        self.installed.folder.write("perfmon.yml", &format!("rpc_state: {{directory: state}}\n{config}"));
        self.installed.folder.begin(&mut self.installed.command(&[]), &[])
    }

    /// What `rpc-state` prints with these words, and what it says besides.
    fn shown(&self, words: &[&str]) -> (String, String) {
        let words = [&["rpc-state", "--directory", "state"], words].concat();
        let (code, out, err) = told(&self.installed.run(&words));
        assert_eq!(code, 0, "{err}");
        (out, err)
    }

    /// Waits for a call with these parts in its trace, and returns the trace.
    fn wait_for_trace(&self, parts: &[&str]) -> String {
        wait(|| {
            let (out, _) = self.shown(&["--trace"]);
            let trace = traces(&out).into_iter().find(|trace| parts.iter().all(|part| trace.contains(part)));
            trace.ok_or(out)
        })
    }

    /// Stops the exporter, so that it does not give up its poll, and waits until that is in a table of both ends.
    fn wait_for_call_of_stopped(&self, exporter: &Exporter, table: &str) {
        let in_progress = ["PerflibV2QueryCounterData", "DISPATCHED"];
        let is_shown = || {
            let trace = self.wait_for_trace(&in_progress);
            stop(exporter);
            let (out, _) = self.shown(&["--trace"]);
            let is_kept =
                traces(&out).iter().any(|trace| in_progress.iter().all(|part| trace.contains(part)));
            if !is_kept {
                exporter.signal("CONT");
            }
            is_kept.then_some(()).ok_or(trace)
        };
        wait(is_shown);
        assert!(self.shown(&[table]).0.contains("PerflibV2QueryCounterData"));
    }

    /// Waits for a row that is as it should be.
    fn wait_for_row(&self, table: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        wait(|| {
            let (out, _) = self.shown(&[table, "--format", "json"]);
            let rows: Vec<Value> = serde_json::from_str(&out).unwrap();
            rows.into_iter().find(&is_it).ok_or(out)
        })
    }
}

/// Stops a process, and waits until all of its threads stand still.
fn stop(exporter: &Exporter) {
    exporter.signal("STOP");
    wait(|| {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", exporter.pid())).unwrap();
        let states: Vec<String> = tasks
            // A thread may end meanwhile.
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok())
            .collect();
        let is_stopped = |stat: &String| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" T"));
        if states.iter().all(is_stopped) { Ok(()) } else { Err(states.concat()) }
    });
}

/// Asks until there is an answer.
fn wait<T>(ask: impl Fn() -> Result<T, String>) -> T {
    let begun = Instant::now();
    loop {
        match ask() {
            Ok(found) => return found,
            Err(seen) => assert!(begun.elapsed() < PATIENCE, "it never came:\n{seen}"),
        }
    }
}

/// Each begins with its client call; more lines are indented.
fn traces(text: &str) -> Vec<String> {
    let mut traces: Vec<String> = Vec::new();
    for line in text.lines() {
        match traces.last_mut() {
            Some(trace) if line.starts_with(' ') => *trace += &format!("\n{line}"),
            _ => traces.push(line.to_owned()),
        }
    }
    traces
}

#[test]
fn a_call_over_a_pipe_is_followed_into_the_host_that_executes_it() {
    let world = World::with_rule(POLLS_HANG);
    let exporter = world.start(&world.sim.config());
    let trace = world.wait_for_trace(&["PerflibV2.PerflibV2QueryCounterData", "DISPATCHED"]);
    let client = format!("process {} (pcq) makes call ", exporter.pid());
    let server = format!(r"→ process {} (windows-sim), endpoint \PIPE\winreg, call ", std::process::id());
    for part in [client.as_str(), r" of 127.0.0.1 at \PIPE\winreg", &server, "it is executed there"] {
        assert!(trace.contains(part), "{part}: {trace}");
    }
    let is_served =
        |row: &Value| row["status"] == "DISPATCHED" && row["method"] == "PerflibV2QueryCounterData";
    assert_eq!(world.wait_for_row("-c", is_served)["owner"], "windows-sim");
}

#[test]
fn a_call_of_an_object_over_tcp_is_followed_into_the_host_that_executes_it() {
    let world = World::with_rule("tracker/4=delay:60s");
    let exporter = world.start(&world.sim.config());
    let trace = world.wait_for_trace(&["IGetTrackingData.GetContainerData", "DISPATCHED"]);
    let client = format!("process {} (comt) makes call ", exporter.pid());
    let server = format!("→ process {} (windows-sim), endpoint ", std::process::id());
    for part in [client.as_str(), " of 127.0.0.1 at ", &server, "it is executed there"] {
        assert!(trace.contains(part), "{part}: {trace}");
    }
    let is_served = |row: &Value| row["status"] == "DISPATCHED" && row["method"] == "GetContainerData";
    assert_eq!(world.wait_for_row("-c", is_served)["interface"], "IGetTrackingData");
    let called = world.wait_for_row("-a", |row| row["method"] == "GetContainerData");
    assert!(called["causality_id"].is_string(), "{called}");
}

#[test]
fn a_call_back_of_a_host_is_shown_at_both_ends() {
    let world = World::new(RpcStateLevel::Full);
    let port = free_port();
    let exporter = world.start(&world.sim.config_of_events("events", port));
    let mut publisher = EventPublisher::new(Arc::clone(&world.sim.host), port);
    let begun = Instant::now();
    let is_told = |deliveries: &[Delivery]| matches!(deliveries, [Delivery { outcome: Ok(()), .. }]);
    while !is_told(&world.sim.runtime.block_on(publisher.publish())) {
        assert!(begun.elapsed() < PATIENCE, "no event is taken");
    }
    // The exporter cannot take the call before it goes on.
    stop(&exporter);
    let publishing = world.sim.runtime.spawn(async move { (publisher.publish().await, publisher) });
    let is_call_back = |row: &Value| row["interface"] == "IComTrackingInfoEvents";
    let called = world.wait_for_row("-a", is_call_back);
    assert_eq!((&called["owner"], &called["method"]), (&"windows-sim".into(), &"OnNewTrackingInfo".into()));
    let trace =
        world.wait_for_trace(&["(windows-sim) makes call", "IComTrackingInfoEvents.OnNewTrackingInfo"]);
    assert!(trace.contains("it has not arrived"), "{trace}");
    exporter.signal("CONT");
    let (deliveries, _connected) = world.sim.runtime.block_on(publishing).unwrap();
    assert!(is_told(&deliveries), "{deliveries:?}");
    // The connection keeps the cell of its last call.
    let served = world.wait_for_row("-c", |row| is_call_back(row) && row["call_id"] == called["call_id"]);
    assert_eq!((&served["owner"], &served["pid"]), (&"comt".into(), &exporter.pid().into()));
    assert_eq!(served["causality_id"], called["causality_id"]);
}

#[test]
fn an_exporter_that_was_killed_shows_its_last_call_until_the_next_start() {
    let world = World::with_rule(POLLS_HANG);
    let mut exporter = world.start(&world.sim.config());
    world.wait_for_call_of_stopped(&exporter, "-a");
    exporter.signal("KILL");
    exporter.wait();
    let ended = format!("process {} has ended; this is its last state", exporter.pid());
    let (out, err) = world.shown(&["-a"]);
    assert!(out.contains(" PerflibV2.PerflibV2QueryCounterData\n"), "{out}");
    assert!(err.contains(&ended), "{err}");
    let _second = world.start(&world.sim.config());
    let (_, err) = world.shown(&["-a"]);
    assert!(!err.contains("has ended"), "{err}");
}

/// A host in a process of its own, which is this test once more. It ends when this is dropped.
struct HostProcess {
    child: Child,
    ports: (u16, u16),
}

/// Where the host keeps its state; its process has this variable.
const HOST_STATE: &str = "TEST_HOST_STATE";

impl HostProcess {
    fn start(test: &str, state: &Path) -> Self {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", &format!("rpc_state_hosts::{test}"), "--nocapture"]).env(HOST_STATE, state);
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // The harness prints lines of its own.
        let ports = lines.find_map(|line| {
            let (_, ports) = line.split_once("host at ")?;
            let (smb, dcom) = ports.split_once(' ')?;
            Some((smb.parse().ok()?, dcom.parse().ok()?))
        });
        Self { child, ports: ports.unwrap() }
    }

    /// The process itself: it serves until its standard input ends.
    fn serve(state: &OsStr) {
        let state = RpcState::open(Path::new(state), RpcStateLevel::Server).unwrap();
        let sim = Sim::of(|host| host.observed_by(state.observers()));
        sim.host.change_behaviour(|behaviour| behaviour.rules = vec![POLLS_HANG.parse().unwrap()]);
        let (smb, dcom) = sim.ports();
        println!("host at {smb} {dcom}");
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_host_that_was_killed_shows_the_call_that_it_executed_until_the_next_start() {
    if let Some(state) = std::env::var_os(HOST_STATE) {
        return HostProcess::serve(&state);
    }
    let test = "a_host_that_was_killed_shows_the_call_that_it_executed_until_the_next_start";
    // The host of this process is not called.
    let world = World::new(RpcStateLevel::Server);
    let state = world.installed.folder.path("state");
    let mut first = HostProcess::start(test, &state);
    let exporter = world.start(&config_of(first.ports, ""));
    world.wait_for_call_of_stopped(&exporter, "-c");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let (out, err) = world.shown(&["-c"]);
    let row = out.lines().find(|line| line.ends_with(" PerflibV2.PerflibV2QueryCounterData")).unwrap_or(&out);
    let columns: Vec<&str> = row.split_whitespace().collect();
    let pid = first.child.id();
    assert_eq!((columns[0], columns[2]), (format!("{pid:04x}").as_str(), "02"), "dispatched: {out}");
    let ended = format!("process {pid} has ended; this is its last state");
    assert!(err.contains(&ended), "{err}");
    let _second = HostProcess::start(test, &state);
    let (_, err) = world.shown(&["-c"]);
    assert!(!err.contains("has ended"), "{err}");
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
