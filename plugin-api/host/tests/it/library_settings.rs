//! Settings of a library as a whole.

use std::sync::atomic::Ordering;

use plugin_host::ConfigureError;
use serde_json::json;

use crate::rust::linked;
use crate::rust::plugin::PORT;
use crate::support::{World, instance};

#[test]
fn a_library_gets_its_settings_once_and_before_its_instances() {
    let world = World::new();
    let library = world.load("zoo/library_settings.c");
    assert!(library.info().has_settings);
    library.configure(&json!({"food": "hay"})).expect("they are accepted");
    assert_eq!(world.log.wait_said("configured as"), i64::from(plugin_abi::raw::SOURCE_LIBRARY));
    library.configure(&json!({"food": "hay"})).expect("they are the same");
    instance(&library, "a");
    assert_eq!(world.log.count("configured as"), 1);
    let other = library.configure(&json!({})).expect_err("they are others");
    assert!(matches!(other, ConfigureError::OtherSettings { .. }), "{other}");
    assert_eq!(library.settings(), Some(json!({"food": "hay"})));
}

#[test]
fn a_library_that_got_no_settings_has_empty_ones_before_its_first_instance() {
    let world = World::new();
    let library = world.load("zoo/library_settings.c");
    instance(&library, "a");
    instance(&library, "b");
    assert_eq!(world.log.count("configured as"), 1);
    assert_eq!(library.settings(), Some(json!({})));
}

#[test]
fn without_settings_that_it_accepts_a_library_makes_no_instance() {
    let world = World::new();
    let library = world.load("zoo/library_settings.c");
    let problems = library.validate_settings(&json!({"sick": true})).expect("it answers");
    assert_eq!((problems.len(), problems[0].pointer.as_str()), (1, "/sick"));
    assert_eq!(world.log.count("configured as"), 0, "to ask is not to give");
    let error = library.configure(&json!({"sick": true})).expect_err("they are not accepted");
    assert!(matches!(error, ConfigureError::Problems(problems) if problems.len() == 1));
    library.configure(&json!({})).expect("it may be tried again");
}

#[test]
fn a_library_without_settings_is_given_none() {
    let library = World::new().load("pulse.c");
    assert!(!library.info().has_settings);
    assert_eq!(library.validate_settings(&json!({})).expect("it is not asked"), []);
    let problems = library.validate_settings(&json!({"a": 1})).expect("it is not asked");
    assert_eq!(problems[0].to_string(), "the settings: the plugin takes no settings; leave them out");
}

#[test]
fn a_library_made_with_the_sdk_reads_its_settings() {
    let (_host, library) = linked(|_| {});
    let problems = |settings| {
        let problems = library.validate_settings(&settings).expect("it answers");
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(problems(json!({"port": 4711})), [""; 0]);
    assert_eq!(problems(json!({"port": 80})), ["the settings at `/port`: ports below 1024 are the system's"]);
    assert_eq!(
        problems(json!({"prot": 80})),
        ["the settings at `/prot`: unknown key `prot`; did you mean `port`?"]
    );
    let error = library.configure(&json!({"port": 80})).expect_err("it is not accepted");
    assert!(matches!(error, ConfigureError::Problems(_)), "{error}");
    library.configure(&json!({"port": 4711})).expect("it is accepted");
    assert_eq!(PORT.load(Ordering::SeqCst), 4_711);
}
