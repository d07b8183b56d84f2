//! Settings that a source refuses, and new ones for an instance that there is.

use std::sync::Arc;

use plugin_host::testing::{RecordedOutcome, RecordingSink, Value};
use plugin_host::{InstanceConfig, Violation};
use serde_json::json;

use super::{collected, linked, made};
use crate::support::{World, collect, compile_with, config, instance};

#[test]
fn what_serde_and_the_source_refuse_comes_back_with_its_place() {
    let (_host, library) = linked(|_| {});
    let problems = |settings: serde_json::Value| {
        let config = InstanceConfig { settings, ..config("web1.example") };
        let problems = library.validate("counting", &config).expect("the source answers");
        problems
            .into_iter()
            .map(|p| format!("{}: {} {}", p.pointer, p.message, p.suggestion))
            .collect::<Vec<_>>()
    };
    assert_eq!(problems(json!({"start": 3})), Vec::<String>::new());
    assert_eq!(problems(json!({"start": 5000})), ["/start: too large below 1000"]);
    assert_eq!(
        problems(json!({"modules": [{"name": "a"}, {"name": "b", "nam": 1}]})),
        ["/modules/1/nam: unknown key `nam` did you mean `name`?"]
    );
    assert_eq!(problems(json!({"start": "x"})), ["/start: expected a whole number, found text "]);
    assert_eq!(problems(json!({"modules": [{}]})), ["/modules/0: `name` is missing "]);
}

#[test]
fn new_settings_hold_from_the_next_collection_on_and_bad_ones_change_nothing() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"start": 1}));
    assert_eq!(instance.min_interval(), Some(std::time::Duration::from_secs(1)));
    collected(&instance, &sink);
    let with = |settings| InstanceConfig { settings, ..config("web1.example") };
    instance.reconfigure(&with(json!({"start": 100}))).expect("accepted");
    instance.reconfigure(&with(json!({"start": 5000}))).expect_err("too large");
    assert_eq!(collected(&instance, &sink).series[0].value, Some(Value::U64(100)));
}

#[test]
fn a_blocking_source_gets_new_settings_after_the_collection_that_runs() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "blocking", json!({"action": "wait"}));
    let running = instance.collect(plugin_host::monotonic_ns() + 60_000_000_000).expect("it begins");
    let with = |settings| InstanceConfig { settings, ..config("web1.example") };
    instance.reconfigure(&with(json!({"start": "x"}))).expect_err("no number, which is known at once");
    instance.reconfigure(&with(json!({"start": 100}))).expect("accepted while it collects");
    instance.cancel(running);
    assert_eq!(sink.wait_completions(1).expect("it ends").resets, 0);
    assert_eq!(collected(&instance, &sink).series[0].value, Some(Value::U64(100)));
}

#[test]
fn an_instance_that_does_not_take_settings_when_it_gets_them_is_made_anew_with_them() {
    let world = World::new();
    let file = compile_with("zoo/stubborn.c", &["-DMODE=PERFMON_MODE_BLOCKING"]);
    let library = world.host.load(&file).expect("the plugin loads");
    let (instance, sink) = instance(&library, "web1.example");
    collect(&world, &instance, &sink);
    let new = InstanceConfig { settings: json!({"a": 1}), ..config("web1.example") };
    instance.reconfigure(&new).expect("it finds nothing wrong with them");
    let recorded = collect(&world, &instance, &sink);
    let said: Vec<&str> = recorded.logs.iter().map(|log| log.message.as_str()).collect();
    assert_eq!(said, ["Made of 2", "Instance does not take other settings; it is made again", "Made of 7"]);
    assert!(recorded.logs[1].fields[0].1.ends_with("as I am, or not at all"), "{:?}", recorded.logs[1]);
    assert_eq!((recorded.resets, &recorded.completions[1].outcome), (1, &RecordedOutcome::Full));
    assert_eq!(collect(&world, &instance, &sink).resets, 1, "once");
}

#[test]
fn a_source_need_not_take_other_settings() {
    let world = World::new();
    let library =
        world.host.load(&compile_with("zoo/stubborn.c", &["-DRECONFIGURE=NULL"])).expect("the plugin loads");
    let (instance, _sink) = instance(&library, "web1.example");
    let error = instance.reconfigure(&config("web1.example")).expect_err("it cannot");
    assert_eq!(error.to_string(), "plugin zoo does not support reconfigure");
    assert_eq!(library.violations().of(Violation::FailedCall), 0, "it need not");
}

#[test]
fn an_instance_on_demand_is_told_so() {
    let (_host, library) = linked(|_| {});
    let with = |is_on_demand| InstanceConfig { is_on_demand, ..config("web1.example") };
    for is_on_demand in [false, true] {
        let sink = Arc::new(RecordingSink::default());
        let instance = library.create("counting", &with(is_on_demand), Arc::<RecordingSink>::clone(&sink));
        collected(&instance.expect("the instance is made"), &sink);
        let is_told = sink.recorded().logs.iter().any(|log| log.message == "Made on demand");
        assert_eq!(is_told, is_on_demand);
    }
}
