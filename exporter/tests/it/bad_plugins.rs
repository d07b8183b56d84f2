//! Plugins that hang, crash or end the process.

use crate::program::{Exporter, Folder};

fn config(plugins: &str, more: &str) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}\nplugins: {{path: ., load: [{plugins}]}}\n{more}"
    )
}

fn begin(folder: &Folder, plugin: &str) -> Exporter {
    folder.write("perfmon.yml", &config(plugin, ""));
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_perfmon-exporter"));
    program.current_dir(folder.path("")).args(["--config", "perfmon.yml"]);
    let child = program.stderr(std::process::Stdio::piped()).spawn().unwrap();
    Exporter::of(child, std::net::SocketAddr::from(([127, 0, 0, 1], 0)))
}

#[test]
fn sigterm_ends_a_start_that_hangs_in_a_plugins_constructor() {
    let folder = Folder::new();
    folder.plugin("hangs", "hanging_constructor.c");
    let mut exporter = begin(&folder, "hangs");
    exporter.wait_for_line("Loading plugin");
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
    assert!(exporter.rest_of_log().contains("Stopped before it was ready"));
}

#[test]
fn a_reload_refuses_plugins_that_hang_crash_or_exit_and_the_exporter_goes_on() {
    let folder = Folder::new();
    folder
        .plugin("hangs", "hanging_constructor.c")
        .plugin("crashes", "crashing_constructor.c")
        .plugin("leaves", "exiting_constructor.c")
        .plugin("pulse", "pulse.c");
    let exporter = folder.serve(&config("pulse", ""));
    for (plugin, outcome) in [
        ("crashes", "its process was ended by SIGSEGV"),
        ("leaves", "it ended its process with exit status 0"),
        ("hangs", "it was not loaded within 10 s"),
    ] {
        folder.write("perfmon.yml", &config(&format!("pulse, {plugin}"), ""));
        let answer = exporter.reload();
        assert_eq!(answer.status, 500, "{plugin}: {}", answer.body);
        assert!(answer.body.contains(outcome), "{plugin}: {}", answer.body);
    }
    folder.write("perfmon.yml", &config("pulse", ""));
    assert_eq!(exporter.reload().status, 200);
}

#[test]
fn a_truncated_plugin_is_refused_by_a_reload_and_the_exporter_goes_on() {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c").plugin("half", "pulse.c");
    let exporter = folder.serve(&config("pulse", ""));
    let half = folder.path("libplugin_half.so");
    let whole = std::fs::read(&half).unwrap();
    std::fs::write(&half, &whole[..whole.len() / 2]).unwrap();
    folder.write("perfmon.yml", &config("pulse, half", ""));
    let answer = exporter.reload();
    assert_eq!(answer.status, 500);
    assert!(answer.body.contains("the file is truncated"), "{}", answer.body);
    assert_eq!(exporter.get("/-/healthy").status, 200);
}

#[test]
fn a_plugin_that_ends_the_process_does_not_make_it_look_as_if_that_was_asked_for() {
    let folder = Folder::new();
    folder.plugin("leaves", "exits.c");
    let more =
        "modules: {zoo: {plugin: leaves}}\ntargets: [{host: a.example, modules: [zoo], interval: 1s}]\n";
    let mut exporter = folder.serve(&config("leaves", more));
    assert_eq!(exporter.wait().code(), Some(70));
    let log = exporter.rest_of_log();
    assert!(log.contains("A plugin ended the process: it called exit() in thread `zoo-call`"), "{log}");
}
