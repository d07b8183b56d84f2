//! Settings that a source refuses, and new ones for an instance that there is.

use plugin_host::InstanceConfig;
use plugin_host::testing::Value;
use serde_json::json;

use super::{collected, linked, made};
use crate::support::config;

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
