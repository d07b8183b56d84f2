//! `discover` and `query` as the program runs them: what they say, and how they end. Here: how a command is run, and
//! what `discover` finds.

use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::DropReason;
use plugin_host::{CommandCancel, CommandOutput, CommandRequest, MetricNames};
use serde_json::{Value, json};
use windows_sim::model::ValueSource as _;

use crate::world::{PASSWORD, Plugin, SimHost};

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) progress: Vec<String>,
}

/// Keeps what is printed, and does something at each piece of it.
struct Kept {
    ran: Mutex<Ran>,
    cancel: Mutex<Option<CommandCancel>>,
    at_output: AtOutput,
}

/// Called with each piece of output and with what cancels the run.
type AtOutput = Box<dyn Fn(&str, &dyn Fn()) + Send + Sync>;

impl CommandOutput for Kept {
    fn out(&self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        self.ran.lock().out += text;
        (self.at_output)(text, &|| {
            if let Some(cancel) = &*self.cancel.lock() {
                cancel.cancel();
            }
        });
    }

    fn err(&self, bytes: &[u8]) {
        self.ran.lock().err += std::str::from_utf8(bytes).unwrap();
    }

    fn progress(&self, line: &str) {
        self.ran.lock().progress.push(line.to_owned());
    }
}

/// Runs a command against a simulated host.
pub(crate) fn run(plugin: &Plugin, sim: &SimHost, command: &str, args: &[&str]) -> Ran {
    run_and(plugin, sim, command, args, |_, _| {})
}

/// Runs it, and calls `at_output` with each piece of output and with what cancels the run.
pub(crate) fn run_and(
    plugin: &Plugin,
    sim: &SimHost,
    command: &str,
    args: &[&str],
    at_output: impl Fn(&str, &dyn Fn()) + Send + Sync + 'static,
) -> Ran {
    let port = sim.port.to_string();
    let place = ["--target", "127.0.0.1", "--identity", "corp", "--port", &port];
    let args = place.iter().chain(args).map(|word| (*word).to_owned()).collect();
    let names = MetricNames::new(|module, family| match (module, family.part) {
        (None, "") => Ok(format!("named_{}_{}", family.object, family.item).replace(' ', "_")),
        _ => Err(DropReason::Rule),
    });
    let request = CommandRequest {
        command: command.to_owned(),
        args,
        metric_names: Some(names),
        ..CommandRequest::default()
    };
    let ran = Ran { code: 0, out: String::new(), err: String::new(), progress: Vec::new() };
    let kept =
        Arc::new(Kept { ran: Mutex::new(ran), cancel: Mutex::default(), at_output: Box::new(at_output) });
    // Held until the handle is there, so that what is printed at once can cancel, too.
    let mut cancel = kept.cancel.lock();
    let running = plugin.library.run(&request, Arc::clone(&kept) as Arc<dyn CommandOutput>).unwrap();
    *cancel = Some(running.cancel.clone());
    drop(cancel);
    let code = running.wait();
    let mut ran = kept.ran.lock();
    let (out, err) = (std::mem::take(&mut ran.out), std::mem::take(&mut ran.err));
    assert!(!out.contains(PASSWORD) && !err.contains(PASSWORD));
    Ran { code, out, err, progress: std::mem::take(&mut ran.progress) }
}

/// The line that holds `part`.
#[track_caller]
pub(crate) fn line<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no `{part}` in:\n{text}"))
}

#[test]
fn discover_writes_countersets_with_types_instances_and_first_sentences() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "discover", &["--counterset", "processor i*"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("modules:\n  discovered:\n    plugin: pcq\n    countersets:\n"), "{}", ran.out);
    assert!(line(&ran.out, "- name").ends_with("- name: Processor Information"), "{}", ran.out);
    assert_eq!(line(&ran.out, "totals"), "        totals: drop");
    assert_eq!(
        line(&ran.out, "instances:"),
        "        # 6 instances: 0,0 | 0,1 | 0,2 | 0,3 | 0,_Total | _Total"
    );
    let privileged = line(&ran.out, "# % Privileged Time");
    assert!(privileged.contains("  PERF_100NSEC_TIMER  "), "{privileged}");
    assert!(!ran.out.contains("PERF_AVERAGE_BASE"), "bases are of no use to a reader:\n{}", ran.out);
}

#[test]
fn discover_shows_how_far_it_is() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "discover", &["--format", "json"]);
    let total = version_2(&ran);
    let last = ran.progress.iter().rev().find(|line| !line.is_empty()).unwrap();
    assert!(last.starts_with(&format!("{total} of {total} countersets: ")), "{last}");
    assert_eq!(ran.progress.last().map(String::as_str), Some(""), "the line is cleared");
}

#[test]
fn discover_for_programs_has_everything() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "discover", &["--counterset", "Counter Types", "--format", "json"]);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let set = &all["countersets"][0];
    assert_eq!(set["instances"].as_array().unwrap().len(), 4);
    let counters = set["counters"].as_array().unwrap();
    let of = |name: &str| counters.iter().find(|counter| counter["name"] == name).unwrap();
    assert_eq!(of("Average Timer")["type"], "PERF_AVERAGE_TIMER");
    assert_eq!(of("Average Timer")["is_helper"], false);
    let helper = counters.iter().find(|counter| counter["type"] == "PERF_AVERAGE_BASE").unwrap();
    assert_eq!(helper["is_helper"], true);
    assert_eq!(of("Average Timer")["metrics"], json!(["named_Counter_Types_Average_Timer"]));
    let ran = run(&plugin, &sim, "discover", &["--counterset", "Workers", "--format", "json"]);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let counters = all["countersets"][0]["counters"].as_array().unwrap();
    let functions = ["Queue Length", "Version"]
        .map(|name| &counters.iter().find(|counter| counter["name"] == name).unwrap()["aggregate"]);
    assert_eq!(functions, ["TOTAL", "UNDEFINED"]);
}

#[test]
fn a_counterset_that_is_not_there_names_the_nearest() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "discover", &["--counterset", "Procesor Information"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("did you mean `Processor Information`?"), "{}", ran.err);
    let ran = run(&plugin, &without_disks(), "discover", &["--counterset", "LogicalDisk"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("the host does not offer the classic counter object"), "{}", ran.err);
}

/// A host whose provider of the classic disks is disabled.
pub(crate) fn without_disks() -> SimHost {
    SimHost::with_options(|options| {
        options.changes = vec!["LogicalDisk=absent".parse().expect("a change")];
    })
}

#[test]
fn discover_lists_classic_objects_with_their_instances() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "discover", &["--counterset", "*Disk*", "--format", "json"]);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let sets = all["countersets"].as_array().unwrap();
    let names: Vec<Value> = sets.iter().map(|set| json!([set["name"], set["provider"]])).collect();
    let expected = [["FileSystem Disk Activity", "v2"], ["LogicalDisk", "v1"], ["PhysicalDisk", "v1"]];
    assert_eq!(json!(names), json!(expected));
    assert_eq!(sets[1]["object"], 236);
    let names: Vec<&str> =
        sets[1]["instances"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["HarddiskVolume1", "C:", "D:", "_Total"]);
    let yaml = run(&plugin, &sim, "discover", &["--counterset", "LogicalDisk"]).out;
    assert!(yaml.contains("      - name: LogicalDisk\n        totals: drop\n"), "{yaml}");
}

#[test]
fn a_counterset_that_the_host_does_not_tell_of_is_left_out_and_named() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    // Nobody can make sense of the first registration, nor of its counters' names.
    let sets = windows_sim::model::Host::new(crate::world::at_noon(&sim.clock)).countersets().len();
    sim.rules(&["1.1x1=corrupt:out-size", "1.10x1=corrupt:string-offset", "1.5x1=corrupt:string-offset"]);
    let ran = run(&plugin, &sim, "discover", &["--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let left_out = all["left_out"][0].as_str().unwrap();
    assert!(left_out.contains("query counterset registration info"), "{left_out}");
    assert_eq!(version_2(&ran), sets - 1);
}

/// How many version 2 countersets `discover` found.
fn version_2(ran: &Ran) -> usize {
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    all["countersets"].as_array().unwrap().iter().filter(|set| set["provider"] == "v2").count()
}

#[test]
fn a_wrong_password_ends_with_stage_reason_and_next_step() {
    let sim = SimHost::new();
    let plugin = Plugin::new();
    plugin.lender.change_password("not it");
    let ran = run(&plugin, &sim, "discover", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("auth: wrong_credentials: "), "{}", ran.err);
    assert!(ran.err.contains("\nnext: "), "{}", ran.err);
    assert_eq!(plugin.lender.verdicts(), [plugin_abi::CredentialVerdict::Rejected]);
}

#[test]
fn words_that_make_no_sense_end_with_2() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    for (args, part) in [
        (&["--formt", "json"][..], "did you mean `--format`?"),
        (&["--format", "xml"], "write one of yaml, table, json"),
        (&["--lcid", "German"], "write a whole number"),
        (&["--counterset"], "--counterset needs a value"),
        (&["extra"], "`extra` belongs to no option"),
    ] {
        let ran = run(&plugin, &sim, "discover", args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(part), "{args:?}: {}", ran.err);
    }
    assert_eq!(sim.connections(), 0, "nobody was asked");
}
