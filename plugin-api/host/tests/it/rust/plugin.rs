//! The plugin: two sources and a command.

use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use plugin_sdk::{
    Alert, AlertState, BlockingSource, Collection, Command, CommandEntry, Comparison, Configured, Coverage,
    DeclaredReason, Display, End, Evaluation, Event, Exit, Failure, FamilyDef, FamilyKey, GeneralReason,
    Kind, Level, LibrarySettings, Output, Problem, Reason, Run, Selects, SeriesDef, SeriesId, Setting,
    SettingKind, SettingsEntry, Setup, Source, SourceEntry, Stage, Start, Target, Transport, ValueKind,
};

/// What the settings of all sources here are.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    #[serde(default)]
    start: u64,
    #[serde(default)]
    action: Action,
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
enum Action {
    #[default]
    Count,
    Panic,
    Wait,
    Refuse,
    Borrow,
    Forget,
    Partial,
    /// Keeps its thread until [`let_go`].
    Occupy,
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
    const SHOWN: &'static [&'static str] = &["start", "action"];
    const KEEPS_FILES: bool = true;
    const TRANSPORTS: &'static [Transport] = &[Transport {
        kind: "line",
        help: "Over a line",
        settings: &[
            setting("host_key", SettingKind::Text, ""),
            setting("mode", SettingKind::Word(&["loud", "quiet"]), "\"loud\""),
            setting("tries", SettingKind::Integer { min: -1, max: 5 }, "-1"),
            setting("is_fast", SettingKind::Bool, "true"),
            setting("pause", SettingKind::Duration { min_ms: 1, max_ms: 9_000 }, "250"),
            setting("port", SettingKind::Port, ""),
        ],
    }];
    type Settings = Settings;

    fn check(settings: &Settings, _target: &Target) -> Vec<Problem> {
        if settings.start < 1_000 {
            Vec::new()
        } else {
            vec![Problem::new("/start", "too large").suggest("below 1000")]
        }
    }

    fn selects(_settings: &Settings, family: &FamilyKey) -> Selects {
        match (family.object.as_str(), family.item.as_str()) {
            ("Start", "Collections") => Selects::Yes,
            _ => Selects::No(vec![Problem::new("/action", "let it wait").suggest("wait")]),
        }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        assert!(setup.settings.start != 13, "thirteen brings bad luck");
        setup.handle.min_interval(Duration::from_secs(setup.settings.start));
        if setup.target.is_on_demand {
            tracing::info!("Made on demand");
        }
        Ok(Self { next: setup.settings.start, settings: setup.settings, series: None })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.next = settings.start;
        self.settings = settings;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        collection.enter(Stage::Tcp);
        collection.stages().add(1, 200, 100);
        let _ = collection.handle().report(&Event {
            name: "counting.began",
            level: Level::Info,
            time_unix_nanos: None,
            body: "It counts.",
            fields: &[("since", "now")],
            alert: (self.settings.start == 7).then_some(Alert {
                evaluation: Some(SEVEN),
                ..Alert::new("seven", AlertState::Opened, &[("number", "7")])
            }),
        });
        match self.settings.action {
            Action::Count => {}
            Action::Panic => panic!("the counter fell off"),
            Action::Wait => std::future::pending().await,
            Action::Occupy => occupy(),
            Action::Refuse => {
                let failure = Failure::new(Stage::Query, Reason::Declared(0), "snoring");
                return Err(failure.with_retry_after(Duration::from_micros(1)));
            }
            Action::Borrow => {
                collection.enter(Stage::Auth);
                let credential = collection.credential().await?;
                tracing::info!(user = credential.username(), "Borrowed");
                if credential.secret() == "right" { credential.accepted() } else { credential.rejected() }
            }
            Action::Forget => drop(collection.credential().await?),
            Action::Partial => {
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

    async fn end(self, end: End) {
        std::future::ready(()).await;
        leave(end);
    }
}

/// How many threads are occupied.
static OCCUPIED: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

fn occupy() {
    let mut count = OCCUPIED.0.lock();
    *count += 1;
    OCCUPIED.1.notify_all();
    while *count > 0 {
        OCCUPIED.1.wait(&mut count);
    }
}

/// Waits until so many threads are occupied.
pub(crate) fn wait_occupied(threads: usize) {
    let mut count = OCCUPIED.0.lock();
    while *count < threads {
        OCCUPIED.1.wait(&mut count);
    }
}

/// Lets all threads go that are occupied.
pub(crate) fn let_go() {
    *OCCUPIED.0.lock() = 0;
    OCCUPIED.1.notify_all();
}

/// Says that it leaves, as [`Source::end`] does.
fn leave(end: End) {
    tracing::info!(reason = ?end.reason, "Leaving");
}

const fn setting(key: &'static str, kind: SettingKind, default: &'static str) -> Setting {
    Setting { key, help: "A setting", kind, default, is_shown: matches!(kind, SettingKind::Port) }
}

/// What the alert of this plugin compares.
pub(super) const SEVEN: Evaluation =
    Evaluation { value: Some(7.0), comparison: Comparison::Above, threshold: 6.5 };

const FAMILY: FamilyDef<'static> = FamilyDef {
    namespace: "",
    object: "Counting",
    item: "Collections",
    part: "",
    kind: Kind::Counter,
    unit: "",
    help: "Collections so far.",
    origin: "",
    value: ValueKind::U64,
    bounds: &[],
    display: Display::NONE,
};

fn register(output: &mut Output) -> Option<SeriesId> {
    let family = output.register_families(&[FAMILY])[0]?;
    let labels = [("counter_instance", "one")];
    output.register_series(&[SeriesDef {
        family,
        labels: &labels,
        start: Some(Start { unix_nanos: 5, is_inferred: true }),
    }])[0]
}

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
        match self.0.settings.action {
            Action::Panic => panic!("the blocking counter fell off"),
            Action::Wait => {
                while !collection.is_cancelled() {
                    std::thread::yield_now();
                }
                return Err(Failure::new(Stage::Query, GeneralReason::Cancelled, ""));
            }
            Action::Borrow => collection.credential_blocking()?.accepted(),
            _ => {}
        }
        if let Some(id) = register(collection.output()) {
            collection.output().push_u64(id, self.0.next);
        }
        Ok(Coverage::Full)
    }

    fn end(self, end: End) {
        leave(end);
    }
}

/// Says its arguments, or waits until it is cancelled.
struct Echo;

#[derive(clap::Args)]
struct Words {
    /// What to say
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
}

impl Command for Echo {
    const NAME: &'static str = "echo";
    const HELP: &'static str = "Says its arguments";
    const ALIASES: &'static [&'static str] = &["say"];
    type Arguments = Words;

    async fn run(run: Run, Words { words }: Words) -> Exit {
        match &words[..] {
            [word] if word == "wait" => {
                run.progress("waiting");
                std::future::pending().await
            }
            [word] if word == "panic" => panic!("lost for words"),
            [word] if word == "configured" => {
                for (index, configured) in run.configured().iter().enumerate() {
                    let Configured { source, target, settings } = configured;
                    let name = run.metric_name(Some(index), &FAMILY);
                    run.out(&format!("{source} {} {settings} {name:?}\n", target.host));
                }
                let name = run.metric_name(None, &FAMILY).unwrap_or_default();
                run.out(&format!("{} bytes\n", name.len()));
                Exit::Success
            }
            words => {
                run.out(&format!("{} ({:?})\n", words.join(" "), run.terminal_width()));
                Exit::Success
            }
        }
    }
}

/// What the library as a whole is told.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    #[serde(default = "default_port")]
    port: u16,
}

fn default_port() -> u16 {
    5_000
}

/// The port of the last host that configured the library; the tests link it into one process many times.
pub(crate) static PORT: AtomicU16 = AtomicU16::new(0);

impl LibrarySettings for Shared {
    fn check(&self) -> Vec<Problem> {
        let is_low = self.port < 1_024;
        is_low.then(|| Problem::new("/port", "ports below 1024 are the system's")).into_iter().collect()
    }

    fn configure(self) -> Result<(), Vec<Problem>> {
        if self.port != default_port() {
            PORT.store(self.port, Ordering::SeqCst);
        }
        Ok(())
    }
}

plugin_sdk::export_plugin! {
    name: "rust",
    version: "0.1",
    description: "In Rust",
    sources: [SourceEntry::of::<Counting>(), SourceEntry::blocking::<Blocking>()],
    commands: [CommandEntry::of::<Echo>()],
    settings: SettingsEntry::of::<Shared>(),
}
