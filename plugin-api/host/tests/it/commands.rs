//! Commands of plugins in C.

use std::sync::Arc;

use expect_test::expect;
use plugin_abi::DropReason;
use plugin_host::{CommandRequest, ConfiguredModule, MetricNames, Violation};
use serde_json::json;

use crate::support::{CapturedOutput, World, config};

#[test]
fn names_of_metrics_are_told_within_the_room_that_there_is() {
    let world = World::new();
    let library = world.load("zoo/names.c");
    let module = |food: &str| {
        let settings = json!({"food": food});
        let config = plugin_host::InstanceConfig { settings, ..config("web1.example") };
        ConfiguredModule { source: "animal".to_owned(), config }
    };
    let names = MetricNames::new(|module, family| match module {
        Some(0) => Ok(format!("first_{}", family.item)),
        Some(_) => Err(DropReason::Rule),
        None => Ok(format!("{}_{}", family.object, family.item)),
    });
    let output = Arc::new(CapturedOutput::default());
    let request = CommandRequest {
        command: "names".to_owned(),
        configured: vec![module("hay"), module("fish")],
        metric_names: Some(names),
        ..CommandRequest::default()
    };
    let running = library.run(&request, Arc::<CapturedOutput>::clone(&output)).expect("the command runs");
    assert_eq!(running.wait(), 0);
    let expected = expect![[r#"
        source 0 of web1.example: {"food":"hay"}
        source 0 of web1.example: {"food":"fish"}
        of all: 0 10 Zoo_Number
        of the first: 0 12 first_Number
        dropped: 3 0 
        no room: 1 10 
        of none: 6 0 
    "#]];
    expected.assert_eq(&output.all());
    assert_eq!(world.log.wait_said("no family"), i64::from(plugin_abi::raw::INVALID));
    let violations = library.violations();
    assert_eq!((violations.of(Violation::IdOutOfRange), violations.of(Violation::NullPointer)), (1, 1));
}

#[test]
fn a_command_is_told_that_nobody_names_metrics() {
    let world = World::new();
    let library = world.load("zoo/names.c");
    let output = Arc::new(CapturedOutput::default());
    let request = CommandRequest { command: "names".to_owned(), ..CommandRequest::default() };
    let running = library.run(&request, Arc::<CapturedOutput>::clone(&output)).expect("the command runs");
    assert_eq!(running.wait(), 0);
    assert!(
        output.all().starts_with(&format!("of all: {} 0 \n", plugin_abi::raw::UNSUPPORTED)),
        "{}",
        output.all()
    );
}
