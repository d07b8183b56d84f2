//! A plugin in Rust, linked into this program: what the SDK and the host do together.

use std::sync::Arc;
use std::time::Duration;

use plugin_host::sink::{Level, StartTimeKind};
use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink, Value};
use plugin_host::{
    CommandOutput, CommandRequest, Host, HostOptions, Instance, InstanceConfig, InstanceState, Library,
    QuarantineCause, Violation, monotonic_ns,
};
use plugin_sdk::{
    BlockingSource, Collection, Command, CommandEntry, CommandOption, Coverage, DeclaredReason, Display,
    Exit, Failure, Family, GeneralReason, Kind, Output, Problem, Reason, Run, Series, SeriesId, Setup,
    Source, SourceEntry, Stage, Start, Target, ValueKind,
};
use serde_json::json;

use crate::support::{config, wait_until};

/// What the settings of all sources here are.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    #[serde(default)]
    start: u64,
    #[serde(default)]
    deed: Deed,
    #[serde(default, rename = "modules")]
    _modules: Vec<Module>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    #[serde(rename = "name")]
    _name: String,
}

/// What a source does when it collects.
#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Deed {
    #[default]
    Count,
    Panic,
    Wait,
    Refuse,
    Borrow,
    Forget,
    Partial,
}

pub(crate) struct Counting {
    settings: Settings,
    next: u64,
    series: Option<SeriesId>,
}

impl Source for Counting {
    const NAME: &'static str = "counting";
    const HELP: &'static str = "Counts its collections";
    const REASONS: &'static [DeclaredReason] =
        &[DeclaredReason { word: "asleep", sentence: "The target sleeps.", next_step: "Wake it." }];
    type Settings = Settings;

    fn check(settings: &Settings, _target: &Target) -> Vec<Problem> {
        if settings.start < 1_000 {
            Vec::new()
        } else {
            vec![Problem::new("/start", "too large").suggest("below 1000")]
        }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        assert!(setup.settings.start != 13, "thirteen brings bad luck");
        Ok(Self { next: setup.settings.start, settings: setup.settings, series: None })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.next = settings.start;
        self.settings = settings;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        collection.enter(Stage::Tcp);
        collection.stages().add(1, 200, 100);
        match self.settings.deed {
            Deed::Count => {}
            Deed::Panic => panic!("the counter fell off"),
            Deed::Wait => std::future::pending().await,
            Deed::Refuse => return Err(Failure::new(Stage::Query, Reason::Declared(0), "snoring")),
            Deed::Borrow => {
                collection.enter(Stage::Auth);
                let credential = collection.credential().await?;
                tracing::info!(user = credential.username(), "Borrowed");
                if credential.password() == "right" { credential.accepted() } else { credential.rejected() }
            }
            Deed::Forget => drop(collection.credential().await?),
            Deed::Partial => {
                let families =
                    collection.output().register_families(&[FAMILY]).into_iter().flatten().collect();
                let failure = Failure::new(Stage::Decode, GeneralReason::MalformedReply, "half of it");
                return Ok(Coverage::Partial { families, failure: Some(failure) });
            }
        }
        collection.enter(Stage::Decode);
        self.series = self.series.or_else(|| register(collection.output()));
        if let Some(id) = self.series {
            collection.output().push_u64(id, self.next);
        }
        self.next += 1;
        Ok(Coverage::Full)
    }
}

const FAMILY: Family<'static> = Family {
    namespace: "",
    object: "Counting",
    item: "Collections",
    part: "",
    kind: Kind::Counter,
    unit: "",
    help: "Collections so far.",
    origin: "",
    value: ValueKind::U64,
    display: Display::NONE,
};

fn register(output: &mut Output) -> Option<SeriesId> {
    let family = output.register_families(&[FAMILY])[0]?;
    let labels = [("counter_instance", "one")];
    output.register_series(&[Series {
        family,
        labels: &labels,
        start: Some(Start { unix_nanos: 5, is_inferred: true }),
    }])[0]
}

/// The same, blocking.
pub(crate) struct Blocking(Counting);

impl BlockingSource for Blocking {
    const NAME: &'static str = "blocking";
    const HELP: &'static str = "Counts on a thread of the host's";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        Counting::create(setup).map(Self)
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.0.reconfigure(settings);
    }

    fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        collection.enter(Stage::Query);
        match self.0.settings.deed {
            Deed::Panic => panic!("the blocking counter fell off"),
            Deed::Wait => {
                while !collection.is_cancelled() {
                    std::thread::yield_now();
                }
                return Err(Failure::new(Stage::Query, GeneralReason::Cancelled, ""));
            }
            Deed::Borrow => collection.credential_blocking()?.accepted(),
            _ => {}
        }
        if let Some(id) = register(collection.output()) {
            collection.output().push_u64(id, self.0.next);
        }
        Ok(Coverage::Full)
    }
}

/// Says its arguments, or waits until it is cancelled.
struct Echo;

impl Command for Echo {
    const NAME: &'static str = "echo";
    const HELP: &'static str = "Says its arguments";
    const ALIASES: &'static [&'static str] = &["say"];
    const OPTIONS: &'static [CommandOption] = &[CommandOption {
        name: "",
        value_name: "WORD",
        help: "What to say",
        required: true,
        repeated: true,
    }];

    async fn run(run: Run) -> Exit {
        match run.args() {
            [] => {
                run.err("nothing to say\n");
                Exit::Usage
            }
            [word] if word == "wait" => {
                run.progress("waiting");
                std::future::pending().await
            }
            [word] if word == "panic" => panic!("lost for words"),
            words => {
                run.out(&format!("{} ({:?})\n", words.join(" "), run.terminal_width()));
                Exit::Success
            }
        }
    }
}

plugin_sdk::export_plugin! {
    name: "rust",
    version: "0.1",
    description: "In Rust",
    sources: [SourceEntry::of::<Counting>(), SourceEntry::blocking::<Blocking>()],
    commands: [CommandEntry::of::<Echo>()],
}

/// The plugin in a host with the real clock.
pub(crate) fn linked(change: impl FnOnce(&mut HostOptions)) -> (Host, Library) {
    let mut options = HostOptions::default();
    change(&mut options);
    let host = Host::new(options);
    let library = host.link("rust", entry).expect("the plugin is linked");
    (host, library)
}

pub(crate) fn made(
    library: &Library,
    source: &str,
    settings: serde_json::Value,
) -> (Instance, Arc<RecordingSink>) {
    let sink = Arc::new(RecordingSink::default());
    let config = InstanceConfig { settings, ..config("web1.example") };
    let instance = library.create(source, &config, Arc::<RecordingSink>::clone(&sink));
    (instance.expect("the instance is made"), sink)
}

/// Collects with a deadline far away.
pub(crate) fn collected(instance: &Instance, sink: &RecordingSink) -> Recorded {
    let before = sink.recorded().completions.len();
    instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    sink.wait_completions(before + 1).expect("the collection ends")
}

fn failure(recorded: &Recorded) -> String {
    match &recorded.completions.last().expect("a completion").outcome {
        RecordedOutcome::Failed(failure) => failure.to_string(),
        other => panic!("it did not fail: {other:?}"),
    }
}

#[test]
fn a_source_in_rust_registers_once_and_sends_values_with_the_cost_of_its_stages() {
    let (host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"start": 41}));
    collected(&instance, &sink);
    let recorded = collected(&instance, &sink);
    assert_eq!(recorded.families.len(), 1);
    assert_eq!(recorded.series.len(), 1);
    assert_eq!(recorded.series[0].value, Some(Value::U64(42)));
    assert_eq!(recorded.series[0].start_time_unix_nanos, Some(5));
    assert_eq!(recorded.series[0].start_time_kind, StartTimeKind::Inferred);
    let stages: Vec<_> =
        recorded.completions[0].stages.iter().map(|r| (r.stage, r.calls, r.bytes_in)).collect();
    assert_eq!(stages, [(Stage::Tcp, 1, 200), (Stage::Decode, 0, 0)]);
    drop(instance);
    assert_eq!(host.wait_destroyed(Duration::from_secs(10)), 0);
}

#[test]
fn a_panic_poisons_the_instance_alone_which_starts_anew_after_a_pause() {
    let (_host, library) = linked(|options| options.limits.quarantine_s = 0);
    let (other, other_sink) = made(&library, "counting", json!({}));
    for source in ["counting", "blocking"] {
        let (instance, sink) = made(&library, source, json!({"deed": "panic"}));
        let recorded = collected(&instance, &sink);
        assert!(failure(&recorded).starts_with("plugin: panicked: the "), "{}", failure(&recorded));
        assert!(
            recorded.logs.iter().any(|log| log.message == "Collection panicked" && log.level == Level::Error)
        );
        let harmless = InstanceConfig { settings: json!({"start": 7}), ..config("web1.example") };
        instance.reconfigure(&harmless).expect("new settings are accepted");
        let recorded = collected(&instance, &sink);
        assert_eq!((recorded.resets, recorded.series[0].value), (1, Some(Value::U64(7))));
        assert_eq!(
            collected(&other, &other_sink).completions.last().map(|c| &c.outcome),
            Some(&RecordedOutcome::Full)
        );
    }
}

#[test]
fn a_panic_costs_a_pause() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"deed": "panic"}));
    collected(&instance, &sink);
    let InstanceState::Quarantined { why, .. } = instance.state() else { panic!("it goes on") };
    assert_eq!(why, QuarantineCause::Panicked);
}

#[test]
fn a_panic_while_an_instance_is_made_is_answered() {
    let (_host, library) = linked(|_| {});
    let config = InstanceConfig { settings: json!({"start": 13}), ..config("web1.example") };
    let error =
        library.create("counting", &config, Arc::new(RecordingSink::default())).expect_err("it panics");
    let error = error.to_string();
    assert!(
        error.starts_with("rust: create failed with status PANICKED: thirteen brings bad luck (at "),
        "{error}"
    );
    assert_eq!(library.violations().of(Violation::Panic), 1);
}

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
fn a_collection_that_passes_its_deadline_fails_at_the_stage_that_it_was_in() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"deed": "wait"}));
    instance.collect(monotonic_ns() + 20_000_000).expect("the collection begins");
    let recorded = sink.wait_completions(1).expect("the SDK keeps the deadline");
    assert_eq!(failure(&recorded), "tcp: timeout: the deadline passed");
    assert_eq!(recorded.completions[0].stages[0].bytes_out, 100, "what it cost is told all the same");
}

#[test]
fn a_collection_that_is_cancelled_ends_once() {
    let (_host, library) = linked(|_| {});
    for (source, expected) in [("counting", "tcp: cancelled"), ("blocking", "query: cancelled")] {
        let (instance, sink) = made(&library, source, json!({"deed": "wait"}));
        let collection = instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
        // Cancelling a collection that has not begun does nothing, so that it is asked for until it has.
        wait_until("the collection ends", || {
            instance.cancel(collection);
            !sink.recorded().completions.is_empty()
        });
        instance.cancel(collection);
        assert_eq!(failure(&sink.recorded()), expected);
        assert_eq!(sink.recorded().completions.len(), 1);
    }
}

#[test]
fn a_reason_of_the_sources_own_arrives_with_its_sentence_and_next_step() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"deed": "refuse"}));
    let recorded = collected(&instance, &sink);
    let RecordedOutcome::Failed(failure) = &recorded.completions[0].outcome else { panic!("it fails") };
    assert_eq!(failure.to_string(), "query: asleep: snoring");
    assert_eq!((failure.reason.sentence(), failure.reason.next_step()), ("The target sleeps.", "Wake it."));
}

#[test]
fn a_partial_collection_names_its_families_and_the_reason() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"deed": "partial"}));
    let recorded = collected(&instance, &sink);
    let RecordedOutcome::Partial(families, Some(failure)) = &recorded.completions[0].outcome else {
        panic!("partial")
    };
    assert_eq!(
        (families.as_slice(), failure.to_string().as_str()),
        ([0].as_slice(), "decode: malformed_reply: half of it")
    );
}

#[test]
fn new_settings_hold_from_the_next_collection_on_and_bad_ones_change_nothing() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"start": 1}));
    collected(&instance, &sink);
    let with = |settings| InstanceConfig { settings, ..config("web1.example") };
    instance.reconfigure(&with(json!({"start": 100}))).expect("accepted");
    instance.reconfigure(&with(json!({"start": 5000}))).expect_err("too large");
    assert_eq!(collected(&instance, &sink).series[0].value, Some(Value::U64(100)));
}

#[test]
fn a_command_runs_with_its_arguments_and_can_be_cancelled() {
    let (_host, library) = linked(|_| {});
    let run = |command: &str, args: &[&str]| {
        let output = Arc::new(Said::default());
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let request = CommandRequest { command: command.to_owned(), args, terminal_width: Some(80) };
        let running = library.run(&request, Arc::<Said>::clone(&output)).expect("there is such a command");
        (running, output)
    };
    let (running, output) = run("say", &["two", "words"]);
    assert_eq!((running.wait(), output.all()), (0, "two words (Some(80))\n".to_owned()));
    let (running, output) = run("echo", &[]);
    assert_eq!((running.wait(), output.all()), (2, "nothing to say\n".to_owned()));
    let (running, output) = run("echo", &["panic"]);
    assert_eq!(running.wait(), 1);
    assert!(output.all().starts_with("the command panicked: lost for words (at "), "{}", output.all());
    let (running, output) = run("echo", &["wait"]);
    wait_until("it is at work", || output.all() == "waiting");
    running.cancel.cancel();
    assert_eq!(running.wait(), 130);
    let unknown = CommandRequest { command: "sing".to_owned(), ..CommandRequest::default() };
    let error = library.run(&unknown, Arc::new(Said::default())).expect_err("there is no such command");
    assert_eq!(error.to_string(), "plugin rust has no command `sing`; it has echo");
}

#[test]
fn threads_of_the_run_time_take_no_signals() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({}));
    collected(&instance, &sink);
    let mut seen = 0;
    for task in std::fs::read_dir("/proc/self/task").expect("this is Linux").flatten() {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        if field("Name:") == "plugin-rust" {
            seen += 1;
            let blocked = u64::from_str_radix(field("SigBlk:"), 16).expect("a mask");
            let term_and_hup = 1 << (15 - 1) | 1 << (1 - 1);
            assert_eq!(blocked & term_and_hup, term_and_hup, "{status}");
        }
    }
    assert!(seen > 0, "the run time has threads");
}

#[test]
fn stopping_the_host_ends_everything() {
    let (host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"deed": "wait"}));
    instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    host.stop();
    assert_eq!(failure(&sink.recorded()), "plugin: cancelled: destroyed");
    assert_eq!(host.wait_destroyed(Duration::from_secs(10)), 0);
    assert_eq!(instance.state(), InstanceState::Stopped);
    let config = config("web1.example");
    library.create("counting", &config, Arc::new(RecordingSink::default())).expect_err("no more are made");
}

#[test]
fn a_hundred_instances_collect_side_by_side() {
    let (_host, library) = linked(|_| {});
    let all: Vec<_> = (0..100)
        .map(|number| {
            let sink = Arc::new(RecordingSink::default());
            let settings = json!({"start": 100 + number});
            let config = InstanceConfig { settings, ..config(&format!("host{number}")) };
            let made = library.create("counting", &config, Arc::<RecordingSink>::clone(&sink));
            (made.expect("the instance is made"), sink, number)
        })
        .collect();
    for (instance, ..) in &all {
        instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    }
    for (_, sink, number) in &all {
        let recorded = sink.wait_completions(1).expect("the collection ends");
        assert_eq!(recorded.series[0].value, Some(Value::U64(100 + *number)));
    }
}

/// Keeps what a command writes.
#[derive(Default)]
struct Said(std::sync::Mutex<String>);

impl Said {
    fn all(&self) -> String {
        self.0.lock().expect("nobody panicked").clone()
    }

    fn add(&self, bytes: &[u8]) {
        self.0.lock().expect("nobody panicked").push_str(std::str::from_utf8(bytes).expect("text"));
    }
}

impl CommandOutput for Said {
    fn out(&self, bytes: &[u8]) {
        self.add(bytes);
    }

    fn err(&self, bytes: &[u8]) {
        self.add(bytes);
    }

    fn progress(&self, line: &str) {
        self.add(line.as_bytes());
    }
}
