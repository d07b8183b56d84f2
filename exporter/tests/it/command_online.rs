//! `check-config --online`: what a server would see, before it is one.

use crate::command_plugin::{Installed, Sim, config, told};
use crate::program::Folder;

/// The output without what differs from run to run: times and numbers of series.
fn steady(out: &str) -> String {
    let lines = out.lines().map(|line| match line.split_once(" series in ") {
        Some((before, after)) => {
            let before = before.rsplit_once(' ').map_or("", |(before, _number)| before);
            let after = after.split_once(" s").map_or("", |(_time, after)| after);
            format!("{before} N series{after}\n")
        }
        None => format!("{line}\n"),
    });
    lines.filter(|line| !line.contains(": warning: ")).collect()
}

#[test]
fn a_target_that_answers_is_up() {
    let (installed, sim) = (Installed::new(), Sim::new());
    installed.folder.write("perfmon.yml", &config(sim.port, ""));
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(
        steady(&out),
        "perfmon.yml: OK: targets 1, modules 1, identities 1, plugins pcq\n\
         web1: up, N series\n\
         1 target asked: 1 up, 0 partial, 0 down\n"
    );
}

#[test]
fn a_set_that_logs_to_files_is_asked_without_writing_any_by_a_check_and_by_a_probe() {
    let (installed, sim) = (Installed::with_plugins(&["pla"]), Sim::new());
    let files = installed.folder.path("files");
    let logs = r"{plugin: pla, sets: [{name: L, counters: ['\HTTP Service\CurrentUrisCached']}]}";
    let file = config(sim.port, "")
        .replace("[pcq]", "[pla]")
        .replace("{plugin: pcq, countersets: [{name: Process V2}]}", logs);
    let storage = format!("storage: {{directory: {}}}\n", files.display());
    installed.folder.write("perfmon.yml", &(storage.clone() + &file));
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("1 target asked: 1 up, 0 partial, 0 down\n"), "{out}");
    assert!(!files.join("web1").exists(), "a check writes nothing");

    let (modules, _) = file.split_once("targets:").unwrap();
    let web = "web: {listen: ['127.0.0.1:0']}\nprobe: {allow_targets: ['127.0.0.0/8']}\n";
    installed.folder.write("perfmon.yml", &(storage + web + modules + "targets: []\n"));
    let exporter = installed.folder.begin(&mut installed.command(&[]), &[]);
    let probed = exporter.get("/probe?target=127.0.0.1&module=os&identity=corp&transport=here");
    assert!(probed.body.contains("perfmon_probe_success 1\n"), "{}", probed.body);
    assert!(!files.join("127.0.0.1").exists(), "a probe writes nothing");
}

#[test]
fn a_counterset_that_the_host_does_not_have_is_shown_where_the_file_asks_for_it() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let file = config(sim.port, "").replace(
        "countersets: [{name: Process V2}]}",
        "countersets: [{name: Process V2}, {name: Procesor Information}]}",
    );
    installed.folder.write("perfmon.yml", &file);
    let (code, out, _) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!(code, 1);
    assert!(out.contains("web1: partial, "), "{out}");
    assert!(out.contains("  perfmon.yml:7:62: modules.os: query: not_found: "), "{out}");
    assert!(out.contains("no counterset `Procesor Information`"), "{out}");
}

#[test]
fn a_pattern_that_matches_nothing_is_shown_as_the_file_has_it() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let file = config(sim.port, "").replace(
        "{name: Process V2}",
        "{name: Process V2, counters: {include: [Handle Count, {wildcard: 'Memory*'}]}}",
    );
    installed.folder.write("perfmon.yml", &file);
    let (code, out, _) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    let warning =
        out.lines().find(|line| line.contains("No counter matches")).unwrap_or_else(|| panic!("{out}"));
    assert!(warning.contains(" counterset=`Process V2` pattern=`Memory*`"), "{warning}");
    assert_eq!(code, 0, "{out}");
}

#[test]
fn the_choice_of_a_host_and_what_it_lacks_are_noted_where_the_file_leaves_them_open() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let file = config(sim.port, "").replace(
        "{name: Process V2}",
        "{first_of: [Procs, Process V2, Process]}, {name: DHCP Server, optional: true}, {name: {wildcard: Hyper-V*}}",
    );
    installed.folder.write("perfmon.yml", &file);
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let notes: Vec<&str> = out.lines().filter(|line| line.contains(": note: ")).collect();
    assert_eq!(
        notes,
        [
            "  perfmon.yml:7:84: modules.os: note: Host lacks an optional counterset counterset=`DHCP Server` \
             reason=`the host does not offer the classic counter object `DHCP Server`: its provider may be disabled \
             (`lodctr /Q` on the host lists providers, and `lodctr /E:PROVIDER` enables one); no counterset of this \
             host comes near it`",
            "  perfmon.yml:7:132: modules.os: note: Host lacks an optional counterset counterset=`Hyper-V*` \
             reason=`the host has no counterset whose name matches `Hyper-V*``",
            "  perfmon.yml:7:54: modules.os: note: First counterset that the host has \
             first_of=`Procs, Process V2, Process` taken=`Process V2`",
        ]
    );
}

#[test]
fn a_target_that_is_down_says_stage_reason_and_next_step_and_the_others_are_asked() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = taken.local_addr().unwrap().port();
    drop(taken);
    let more = "  - {name: web2, host: 127.0.0.1, identity: corp, transport: closed, modules: [os, more]}\n";
    let file = config(sim.port, more)
        .replace("transports:\n", &format!("transports:\n  closed: {{smb: {{port: {closed}}}}}\n"))
        .replace("modules:\n", "modules:\n  more: {plugin: pcq, countersets: [{name: Counter Types}]}\n");
    installed.folder.write("perfmon.yml", &file);
    let (code, out, _) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!(code, 1);
    let out = steady(&out);
    assert!(
        out.contains(&format!(
            "\nweb1: up, N series\nweb2: down (127.0.0.1, port {closed})\n  module os, more: tcp: connection_refused: "
        )),
        "{out}"
    );
    assert_eq!(out.matches("  next: ").count(), 1, "{out}");
    assert_eq!(out.matches("  help: perfmon-exporter explain connection_refused\n").count(), 1, "{out}");
    assert!(out.ends_with("2 targets asked: 1 up, 0 partial, 1 down\n"), "{out}");
}

#[test]
fn a_file_that_is_wrong_is_not_tried() {
    let (installed, sim) = (Installed::new(), Sim::new());
    installed
        .folder
        .write("perfmon.yml", &config(sim.port, "").replace("name: Process V2", "nmae: Process V2"));
    let (code, out, err) = told(&installed.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("perfmon.yml:7:"), "{err}");
}

/// Two targets that need seven seconds for a collection: one has them, the other one has its interval.
const LATE: &str = "
web: {listen: ['127.0.0.1:0']}
plugins: {path: ., load: [late]}
modules: {all: {plugin: late}}
targets:
  - {host: short, modules: [all], interval: 5s}
  - {host: long, modules: [all], interval: 30s, deadline: 8s}
";

#[test]
fn a_check_gives_each_target_the_time_that_a_server_gives_it_and_both_say_what_was_too_short() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("late", "late.c").serve(LATE);
    let (code, out, _) = told(&folder.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!(code, 1);
    let next = "Check that the host is up and that no firewall drops packets; if it is only slow, it needs more time than 5s, the first collection more than the others: raise `deadline`, and `interval` if that is shorter.";
    let out = steady(&out);
    assert_eq!(
        out.split_once('\n').unwrap().1,
        format!(
            "short: down (short, port 445)\n  module all: query: timeout: only 5 s were given\n  next: {next}\n  \
             help: perfmon-exporter explain timeout\nlong: up, N series\n\
             2 targets asked: 1 up, 0 partial, 1 down\n"
        )
    );
    let line = exporter.wait_for_line("Target is down");
    assert!(line.contains("target=\"short\"") && line.contains("detail=\"only 5 s were given\""), "{line}");
    assert!(line.contains(&format!("next_step={next:?}")), "{line}");
    exporter.wait_for_page(|page| page.contains("perfmon_exporter_target_up{target=\"long\"} 1\n"));
}

#[test]
fn a_dead_module_beside_a_living_one_is_partial_here_in_the_log_on_pages_and_in_metrics() {
    let folder = Folder::new();
    let file = "
web: {listen: ['127.0.0.1:0']}
plugins: {path: ., load: [pulse, stall]}
modules: {beat: {plugin: pulse}, dead: {plugin: stall}}
targets:
  - {host: tomb, modules: [beat, dead], interval: 60s, deadline: 500ms}
";
    let mut exporter = folder.plugin("pulse", "pulse.c").plugin("stall", "stall.c").serve(file);
    let line = exporter.wait_for_line("Target is ");
    assert!(line.contains("WARN") && line.contains("Target is partial target=\"tomb\""), "{line}");
    assert!(
        line.contains("host=\"tomb\" port=445 module=\"dead\" stage=plugin reason=\"timeout\""),
        "{line}"
    );
    let page = exporter.get("/metrics").body;
    let has = |line: &str| assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    has("perfmon_exporter_target_up{target=\"tomb\"} 1");
    for (state, value) in [("down", 0), ("partial", 1), ("waiting", 0), ("up", 0)] {
        has(&format!("perfmon_exporter_target_state{{target=\"tomb\",state=\"{state}\"}} {value}"));
        has(&format!("perfmon_exporter_targets{{state=\"{state}\"}} {value}"));
    }
    let overview = exporter.get("/").body;
    assert!(overview.contains("<span class=\"state partial\">"), "{overview}");
    assert!(exporter.get("/?state=partial").body.contains("<bdi>tomb</bdi>"));
    let probe = exporter.get("/probe?target=tomb").body;
    assert!(probe.contains("perfmon_probe_success 1\n"), "{probe}");
    assert!(probe.contains("perfmon_probe_state{state=\"partial\"} 1\n"), "{probe}");
    let (code, out, _) = told(&folder.run(&["check-config", "perfmon.yml", "--online"]));
    assert_eq!(code, 1);
    assert!(
        out.contains("tomb: partial, 2 series in ") && out.contains(" (beat 2; dead 0, down)\n"),
        "{out}"
    );
    assert!(out.contains("  module dead: plugin: timeout: "), "{out}");
    assert!(out.ends_with("1 target asked: 0 up, 1 partial, 0 down\n"), "{out}");
}
