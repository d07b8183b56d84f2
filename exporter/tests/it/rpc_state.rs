//! The state of RPC calls: where the program lets plugins keep it, and what is said if it cannot.

use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use rpc_cells::{Cell, Level, ReadLimits, Snapshot, read_directory};

use crate::program::{Exporter, Folder, exporter};

/// A configuration with a plugin that keeps an endpoint, and this section.
fn config(rpc_state: &str) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}\nplugins: {{path: ., load: [cells]}}\n\
         modules: {{ends: {{plugin: cells}}}}\ntargets: [{{host: a.example, modules: [ends], interval: 1s}}]\n\
         rpc_state: {{{rpc_state}}}\n"
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.plugin("cells", "cells.c");
    folder
}

/// All files of a directory, as another process reads them.
fn snapshots(directory: &Path) -> Vec<Snapshot> {
    let files = read_directory(directory, &ReadLimits::default()).unwrap();
    files.into_iter().map(|file| file.snapshot.unwrap()).collect()
}

/// The program with this configuration; its log is read from the first line on.
fn start(folder: &Folder, config: &str) -> Exporter {
    folder.write("perfmon.yml", config);
    let mut program = exporter();
    program.current_dir(folder.path("")).args(["--config", "perfmon.yml"]).stderr(Stdio::piped());
    Exporter::of(program.spawn().unwrap(), SocketAddr::from(([127, 0, 0, 1], 0)))
}

fn own(exporter: &Exporter, name: &str) -> String {
    let page = exporter.get("/metrics").body;
    let line = page.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("{name} is not on the page:\n{page}")).to_owned()
}

const SECTIONS: &str = "perfmon_exporter_plugin_rpc_state_sections";

#[test]
fn the_state_of_a_process_is_read_while_it_runs_and_after_it_was_killed_and_goes_with_the_next_start() {
    let folder = folder();
    let state = folder.path("state");
    let mut first = folder.serve(&config("directory: state"));
    first.wait_for_line("Target is up");
    // The process that tried the plugin before left nothing.
    let [running] = &*snapshots(&state) else { panic!("one file for the plugin") };
    assert_eq!((running.header.name.as_str(), running.header.level), ("zoo", Level::FULL));
    assert_eq!(running.header.process.pid, first.pid());
    assert!(running.header.process.is_running());
    let [(_, Cell::Endpoint(_))] = &*running.cells else { panic!("an endpoint, not {:?}", running.cells) };

    first.signal("KILL");
    first.wait();
    let [left] = &*snapshots(&state) else { panic!("it could not remove its file") };
    assert_eq!(left.header, running.header);
    assert!(!left.header.process.is_running());
    assert_eq!(left.cells.len(), 1, "{:?}", left.problems);

    let mut second = folder.serve(&config("directory: state"));
    second.wait_for_line("Target is up");
    let [only] = &*snapshots(&state) else { panic!("the file of the dead process is gone") };
    assert_eq!(only.header.process.pid, second.pid());
    assert!(!own(&second, SECTIONS).ends_with(" 0"));

    second.terminate();
    assert!(second.wait().success());
    assert_eq!(snapshots(&state), [], "nothing is left after a clean end");
}

#[test]
fn a_level_below_full_is_in_the_file_and_none_makes_no_directory() {
    let folder = folder();
    let mut server = folder.serve(&config("level: server, directory: state"));
    server.wait_for_line("Target is up");
    assert_eq!(snapshots(&folder.path("state"))[0].header.level, Level::SERVER);
    drop(server);

    let mut none = folder.serve(&config("level: none, directory: other"));
    none.wait_for_line("Target is up");
    assert!(!folder.path("other").exists());
    assert!(own(&none, SECTIONS).ends_with("{plugin=\"cells\"} 0"));
}

#[test]
fn the_service_managers_directory_is_the_default() {
    let folder = folder();
    std::fs::create_dir(folder.path("run")).unwrap();
    folder.write("perfmon.yml", &config(""));
    let mut exporter = folder.begin(exporter().env("RUNTIME_DIRECTORY", folder.path("run")), &[]);
    exporter.wait_for_line("Target is up");
    assert_eq!(snapshots(&folder.path("run/rpc-state")).len(), 1);
}

#[test]
fn the_exporter_shows_its_own_state_as_metrics_of_a_target_without_identity_and_transport() {
    let folder = folder();
    folder.built_plugin("rpc_state");
    std::fs::create_dir(folder.path("run")).unwrap();
    let text = |settings: &str| {
        format!(
            "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{path: ., load: [cells, rpc_state]}}\n\
             modules: {{ends: {{plugin: cells}}, rpc: {{plugin: rpc_state{settings}}}}}\n\
             targets:\n  - {{host: a.example, modules: [ends], interval: 1s}}\n  \
             - {{name: self, host: localhost, modules: [rpc], interval: 1s}}\n"
        )
    };
    folder.write("perfmon.yml", &text(""));
    let exporter = folder.begin(exporter().env("RUNTIME_DIRECTORY", folder.path("run")), &[]);
    let endpoints = format!(
        "perfmon_rpc_process_endpoints{{target=\"self\",owner=\"zoo\",process_id=\"{}\",status=\"active\"}} 1\n",
        exporter.pid()
    );
    exporter.wait_for_page(|page| page.contains(&endpoints));
    drop(exporter);

    // Without a directory there is nothing to read, and the next step says what to do.
    let mut without = start(&folder, &text(""));
    let line = without.wait_for_line("Target is down");
    assert!(line.contains("run_directory_missing") && line.contains("list one in `directories`"), "{line}");
    let away = folder.path("away");
    let mut away = start(&folder, &text(&format!(", directories: ['{}']", away.display())));
    let line = away.wait_for_line("Target is down");
    assert!(line.contains("run_directory_missing") && line.contains("rpc_state.directory"), "{line}");

    // Before the first start a check says what will make it.
    for settings in [String::new(), format!(", directories: ['{}']", folder.path("away").display())] {
        folder.write("perfmon.yml", &text(&settings));
        let mut check = crate::program::exporter();
        check.current_dir(folder.path("")).args(["check-config", "perfmon.yml", "--online"]);
        let checked = check.output().unwrap();
        let out = String::from_utf8(checked.stdout).unwrap();
        assert!(checked.status.success() && out.contains("self: up, "), "{settings}: {out}");
        let line =
            out.lines().find(|line| line.contains("warning: Directory with the state")).expect("it is told");
        assert!(line.contains("is not there yet") && line.contains("when it starts"), "{line}");
    }
}

#[test]
fn without_a_directory_it_says_once_what_to_set() {
    let folder = folder();
    let mut exporter = start(&folder, &config(""));
    let line = exporter.wait_for_line("RPC state not kept");
    assert!(line.contains("INFO") && line.contains("set `rpc_state.directory`"), "{line}");
    exporter.wait_for_line("Target is up");
    exporter.terminate();
    exporter.wait();
    assert!(!exporter.rest_of_log().contains("RPC state"), "it is said once");
}

#[test]
fn a_directory_that_is_refused_costs_the_state_and_nothing_else() {
    let folder = folder();
    std::fs::create_dir(folder.path("real")).unwrap();
    symlink(folder.path("real"), folder.path("link")).unwrap();
    std::fs::create_dir(folder.path("open")).unwrap();
    std::fs::set_permissions(folder.path("open"), PermissionsExt::from_mode(0o777)).unwrap();
    folder.write("file", "");
    for (directory, why) in [
        ("link", "it is a symbolic link"),
        ("open", "other users can write it"),
        ("file", "it is not a directory"),
        ("missing/state", "No such file or directory"),
    ] {
        let mut exporter = start(&folder, &config(&format!("directory: {directory}")));
        let line = exporter.wait_for_line("RPC state not kept");
        assert!(line.contains("WARN") && line.contains(why), "{directory}: {line}");
        assert!(line.contains("correct `rpc_state.directory`"), "{line}");
        exporter.wait_for_line("Target is up");
    }
    assert_eq!(std::fs::read_dir(folder.path("real")).unwrap().count(), 0);
}

#[test]
fn a_change_of_the_section_needs_a_restart() {
    let folder = folder();
    let exporter = folder.serve(&config("directory: state"));
    folder.write("perfmon.yml", &config("directory: state, level: none"));
    let answer = exporter.reload();
    assert!(answer.body.ends_with("needs a restart: `rpc_state`\n"), "{}", answer.body);
}

#[test]
fn a_command_keeps_its_calls_where_the_exporter_keeps_them_and_makes_no_directory_itself() {
    let folder = folder();
    folder.write("perfmon.yml", &config("directory: state"));
    let said = || {
        let output = folder.run(&["--config", "perfmon.yml", "zoo", "memory"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(said(), format!("memory {}\n", plugin_sdk::plugin_abi::raw::NOT_FOUND));
    assert!(!folder.path("state").exists());
    std::fs::DirBuilder::new().mode(0o700).create(folder.path("state")).unwrap();
    assert_eq!(said(), format!("memory {}\n", plugin_sdk::plugin_abi::raw::OK));
    assert_eq!(snapshots(&folder.path("state")), [], "its file went with it");
}
