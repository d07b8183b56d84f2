//! What the tests share: a C compiler, a clock that stands still, a log that is kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use plugin_abi::{Level, LibraryLog, TargetInfo};
use plugin_host::testing::{Recorded, RecordingSink};
use plugin_host::{CommandOutput, Host, HostOptions, Instance, InstanceConfig, Library, Limits};

/// Compiles a plugin of `plugin-api/examples` into a file of its own: what is static in it is not shared.
pub(crate) fn compile(source: &str) -> PathBuf {
    compile_with(source, &[])
}

/// As [`compile`], with more for the compiler.
pub(crate) fn compile_with(source: &str, options: &[&str]) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the plugin");
    let stem = Path::new(source).file_stem().and_then(|stem| stem.to_str()).expect("a file name");
    let file = folder.join(format!("libplugin_{stem}.so"));
    test_support::plugin::compile(&examples.join(source), &file, &[&["-Wpedantic"], options].concat());
    file
}

/// A host whose clock stands still until it is told otherwise.
pub(crate) struct World {
    pub(crate) host: Host,
    pub(crate) log: Arc<KeptLog>,
    now_ns: Arc<AtomicU64>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut HostOptions)) -> Self {
        let now_ns = Arc::new(AtomicU64::new(1_000_000_000_000));
        let log = Arc::new(KeptLog::default());
        let clock = Arc::clone(&now_ns);
        let kept: Arc<dyn LibraryLog> = Arc::<KeptLog>::clone(&log);
        let mut options = HostOptions {
            log: Some(kept),
            clock: Arc::new(move || clock.load(Ordering::SeqCst)),
            ..HostOptions::default()
        };
        change(&mut options);
        Self { host: Host::new(options), log, now_ns }
    }

    pub(crate) fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        Self::with(|options| change(&mut options.limits))
    }

    pub(crate) fn load(&self, source: &str) -> Library {
        self.host.load(&compile(source)).expect("the plugin loads")
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::SeqCst)
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).expect("a short time");
        self.now_ns.fetch_add(by, Ordering::SeqCst);
    }

    pub(crate) fn poll(&self) {
        self.host.poll_deadlines(self.now_ns());
    }

    /// A deadline one second from now.
    pub(crate) fn deadline(&self) -> u64 {
        self.now_ns() + 1_000_000_000
    }
}

/// An instance of the library's first source, and its sink.
pub(crate) fn instance(library: &Library, host: &str) -> (Instance, Arc<RecordingSink>) {
    let sink = Arc::new(RecordingSink::default());
    let source = &library.info().sources[0].name;
    let created = library.create(source, &config(host), Arc::<RecordingSink>::clone(&sink));
    (created.expect("the instance is made"), sink)
}

pub(crate) fn config(host: &str) -> InstanceConfig {
    let target = TargetInfo {
        name: "web1".into(),
        host: host.into(),
        port: None,
        identity: "corp".into(),
        service_principal: None,
    };
    InstanceConfig { target, settings: serde_json::json!({}), ..InstanceConfig::default() }
}

/// Collects once and answers all that the sink has by then.
pub(crate) fn collect(world: &World, instance: &Instance, sink: &RecordingSink) -> Recorded {
    let before = sink.recorded().completions.len();
    instance.collect(world.deadline()).expect("the collection begins");
    sink.wait_completions(before + 1).expect("the collection ends")
}

/// The number that a plugin of the zoo said under `what`.
pub(crate) fn said(recorded: &Recorded, what: &str) -> i64 {
    number(recorded.logs.iter().map(|log| log.message.as_str()), what)
}

fn number<'a>(mut messages: impl Iterator<Item = &'a str>, what: &str) -> i64 {
    messages
        .find_map(|message| message.strip_prefix(what)?.strip_prefix(' ')?.parse().ok())
        .unwrap_or_else(|| panic!("the plugin did not say `{what}`"))
}

/// Looks until `condition` holds; fails after ten seconds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < until, "{what}: not within ten seconds");
        std::thread::yield_now();
    }
}

/// Keeps what a library says about no instance.
#[derive(Default)]
pub(crate) struct KeptLog(Mutex<Vec<String>>);

impl KeptLog {
    pub(crate) fn wait_said(&self, what: &str) -> i64 {
        let prefix = format!("{what} ");
        wait_until(what, || self.messages().iter().any(|message| message.starts_with(&prefix)));
        number(self.messages().iter().map(String::as_str), what)
    }

    /// How often something was said so far.
    pub(crate) fn count(&self, what: &str) -> usize {
        let prefix = format!("{what} ");
        self.messages().iter().filter(|message| message.starts_with(&prefix)).count()
    }

    /// The number of the last message that begins with `what`.
    pub(crate) fn last_said(&self, what: &str) -> i64 {
        number(self.messages().iter().rev().map(String::as_str), what)
    }

    fn messages(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

impl LibraryLog for KeptLog {
    fn log_enabled(&self, _plugin: &str, _level: Level) -> bool {
        true
    }

    fn log(&self, _plugin: &str, _level: Level, message: &str, _fields: &[(&str, &str)]) {
        self.0.lock().push(message.to_owned());
    }
}

/// Keeps what a command writes.
#[derive(Default)]
pub(crate) struct CapturedOutput(parking_lot::Mutex<String>);

impl CapturedOutput {
    pub(crate) fn all(&self) -> String {
        self.0.lock().clone()
    }

    fn add(&self, bytes: &[u8]) {
        self.0.lock().push_str(std::str::from_utf8(bytes).expect("text"));
    }
}

impl CommandOutput for CapturedOutput {
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
