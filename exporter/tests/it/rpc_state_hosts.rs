//! Calls between the whole program and a simulated host that keeps its own state, as `rpc-state` shows them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use windows_sim::server::{Delivery, EventPublisher};
use windows_sim::{RpcState, RpcStateLevel};

use crate::com_plus::{Sim, free_port};
use crate::command_plugin::{Installed, told};
use crate::program::Exporter;

/// Nothing here takes long; a test that waits for what never comes ends.
const PATIENCE: Duration = Duration::from_secs(60);

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

    /// Waits for a row that is as it should be.
    fn wait_for_row(&self, table: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        wait(|| {
            let (out, _) = self.shown(&[table, "--format", "json"]);
            let rows: Vec<Value> = serde_json::from_str(&out).unwrap();
            rows.into_iter().find(&is_it).ok_or(out)
        })
    }
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
    let world = World::with_rule("pcq/6=delay:60s");
    let exporter = world.start(&world.sim.config());
    let trace = world.wait_for_trace(&["PerflibV2.PerflibV2QueryCounterData", "DISPATCHED"]);
    let client = format!("process {} (pcq) makes call ", exporter.pid());
    let server = format!(r"→ process {} (windows-sim), endpoint \PIPE\winreg, call ", std::process::id());
    for part in [client.as_str(), r" of 127.0.0.1 at \PIPE\winreg", &server, "it is executed there"] {
        assert!(trace.contains(part), "{part}: {trace}");
    }
    let served = world.wait_for_row("-c", |row| row["status"] == "DISPATCHED");
    assert_eq!(
        (&served["method"], &served["owner"]),
        (&"PerflibV2QueryCounterData".into(), &"windows-sim".into())
    );
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
    let served = world.wait_for_row("-c", |row| row["status"] == "DISPATCHED");
    assert_eq!(served["interface"], "IGetTrackingData");
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
    while !exporter.get("/metrics").body.contains("perfmon_complus_events_up{target=\"web1\"} 1") {
        world.sim.runtime.block_on(publisher.publish());
        assert!(begun.elapsed() < PATIENCE, "no event is taken");
    }
    // The exporter cannot take the call before it goes on.
    exporter.signal("STOP");
    let publishing = world.sim.runtime.spawn(async move { (publisher.publish().await, publisher) });
    let is_call_back = |row: &Value| row["interface"] == "IComTrackingInfoEvents";
    let called = world.wait_for_row("-a", is_call_back);
    assert_eq!((&called["owner"], &called["method"]), (&"windows-sim".into(), &"OnNewTrackingInfo".into()));
    let trace =
        world.wait_for_trace(&["(windows-sim) makes call", "IComTrackingInfoEvents.OnNewTrackingInfo"]);
    assert!(trace.contains("it has not arrived"), "{trace}");
    exporter.signal("CONT");
    let (deliveries, _connected) = world.sim.runtime.block_on(publishing).unwrap();
    assert!(matches!(&deliveries[..], [Delivery { outcome: Ok(()), .. }]), "{deliveries:?}");
    // The connection keeps the cell of its last call.
    let served = world.wait_for_row("-c", |row| is_call_back(row) && row["call_id"] == called["call_id"]);
    assert_eq!((&served["owner"], &served["pid"]), (&"comt".into(), &exporter.pid().into()));
    assert_eq!(served["causality_id"], called["causality_id"]);
}

#[test]
fn an_exporter_that_was_killed_shows_its_last_call_until_the_next_start() {
    let world = World::with_rule("pcq/6=delay:60s");
    let mut exporter = world.start(&world.sim.config());
    world.wait_for_trace(&["PerflibV2QueryCounterData", "DISPATCHED"]);
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
