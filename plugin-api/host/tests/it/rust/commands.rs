//! Commands of a plugin.

use std::sync::Arc;

use plugin_abi::DropReason;
use plugin_host::{CommandRequest, ConfiguredModule, MetricNames};
use serde_json::json;

use super::linked;
use crate::support::{CapturedOutput, config, wait_until};

#[test]
fn a_command_runs_with_its_arguments_and_can_be_cancelled() {
    let (_host, library) = linked(|_| {});
    let run = |command: &str, args: &[&str]| {
        let output = Arc::new(CapturedOutput::default());
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let request = CommandRequest {
            command: command.to_owned(),
            args,
            terminal_width: Some(80),
            ..CommandRequest::default()
        };
        let running =
            library.run(&request, Arc::<CapturedOutput>::clone(&output)).expect("there is such a command");
        (running, output)
    };
    let (running, output) = run("say", &["two", "words"]);
    assert_eq!((running.wait(), output.all()), (0, "two words (Some(80))\n".to_owned()));
    let (running, output) = run("echo", &[]);
    assert_eq!((running.wait(), output.all()), (2, "a WORD is missing: What to say\n".to_owned()));
    let (running, output) = run("echo", &["panic"]);
    assert_eq!(running.wait(), 1);
    assert!(output.all().starts_with("the command panicked: lost for words (at "), "{}", output.all());
    let (running, output) = run("echo", &["wait"]);
    wait_until("it is at work", || output.all() == "waiting");
    running.cancel.cancel();
    assert_eq!(running.wait(), 130);
    let unknown = CommandRequest { command: "sing".to_owned(), ..CommandRequest::default() };
    let error =
        library.run(&unknown, Arc::new(CapturedOutput::default())).expect_err("there is no such command");
    assert_eq!(error.to_string(), "plugin rust has no command `sing`; it has echo");
}

#[test]
fn a_command_sees_what_is_configured_for_its_target_and_the_names_of_its_metrics() {
    let (_host, library) = linked(|_| {});
    let configured = ["blocking", "counting"].map(|source| {
        let settings = json!({"start": source.len()});
        let config = plugin_host::InstanceConfig { settings, ..config("web1.example") };
        ConfiguredModule { source: source.to_owned(), config }
    });
    let names = MetricNames::new(|module, family| match module {
        Some(0) => Ok(format!("{}_{}", family.object, family.item)),
        Some(_) => Err(DropReason::Rule),
        None => Ok("a".repeat(1_000)),
    });
    let output = Arc::new(CapturedOutput::default());
    let request = CommandRequest {
        command: "echo".to_owned(),
        args: vec!["configured".to_owned()],
        configured: configured.to_vec(),
        metric_names: Some(names),
        ..CommandRequest::default()
    };
    let running = library.run(&request, Arc::<CapturedOutput>::clone(&output)).expect("the command runs");
    assert_eq!(running.wait(), 0);
    let expected = "1 web1.example {\"start\":8} Some(\"Counting_Collections\")\n\
                    0 web1.example {\"start\":8} None\n1000 bytes\n";
    assert_eq!(output.all(), expected);
}
