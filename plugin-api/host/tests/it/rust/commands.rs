//! Commands of a plugin.

use std::sync::Arc;

use plugin_host::CommandRequest;

use super::linked;
use crate::support::{CapturedOutput, wait_until};

#[test]
fn a_command_runs_with_its_arguments_and_can_be_cancelled() {
    let (_host, library) = linked(|_| {});
    let run = |command: &str, args: &[&str]| {
        let output = Arc::new(CapturedOutput::default());
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let request = CommandRequest { command: command.to_owned(), args, terminal_width: Some(80) };
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
