//! A drill: every source of every plugin goes through every kind of fault of a host, and is afterwards as after a fresh start.
//!
//! A row is a source: a target with one module. A column is a fault: what happens, what is right during it, and how it
//! ends. For each fault one exporter runs with a target for each source, all on one simulated host. A new source gets its
//! cells by one row.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{panic, thread};

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::model::{Change, Host, HostOptions, ValueSource};
use windows_sim::{Account, AccountState, Accounts, ActivationMode, Behaviour, WindowsHost, server};
use wire::FileTime;

use crate::command_plugin::{Installed, PASSWORD};
use crate::program::Exporter;

/// A source of a plugin, as a module of a target of its own.
struct Row {
    name: &'static str,
    /// What its module says besides the plugin. `STATE` is where the exporter keeps the state of its calls.
    module: &'static str,
    plugin: &'static str,
    /// What its module says instead, with one thing more that the host lacks; empty where there is no such thing.
    lacking: &'static str,
    /// What it reads of a host.
    reads: Reads,
    /// Beginnings of metrics that come back later than the others, by an interval of their own. On a machine with much to do some
    /// are read after the fault only, so that no more is compared than that what was there is there again.
    slow: &'static [&'static str],
    /// Beginnings of metrics whose series change by themselves, so that they are not compared: states of alerts, which follow
    /// the host's values, and calls that wait.
    varying: &'static [&'static str],
}

impl Row {
    /// Whether what it shows comes and goes by itself.
    fn comes_and_goes(&self) -> bool {
        self.reads == Reads::Nothing || self.plugin == "comt"
    }

    /// What of a series is the same in all pages: connections and processes come and go, and their metrics stay.
    fn named(&self, series: &str) -> String {
        match series.split_once('{') {
            Some((metric, _)) if self.comes_and_goes() => metric.to_owned(),
            _ => series.replace("env=\"b\"", "env=\"a\""),
        }
    }
}

/// What of a host a source reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Countersets of version 2, over SMB.
    Version2,
    /// Classic objects, over SMB.
    Classic,
    Objects,
    /// The endpoint map, without a logon.
    EndpointMap,
    /// Nothing of a host.
    Nothing,
}

const VERSION_2: &str = "Processor Information";
const CLASSIC: &str = "Memory";

const ROWS: [Row; 12] = [
    Row {
        name: "counters",
        plugin: "pcq",
        lacking: "countersets: [{name: Processor Information}, {name: No Such Counterset}]",
        module: "countersets: [{name: Processor Information}]",
        reads: Reads::Version2,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "classic",
        plugin: "pcq",
        lacking: "countersets: [{name: Memory}, {name: No Such Counterset}]",
        module: "countersets: [{name: Memory}]",
        reads: Reads::Classic,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "facts",
        plugin: "pcq",
        lacking: "",
        module: "host_info: true, countersets: [{name: Processor Information}]",
        reads: Reads::Version2,
        slow: &["perfmon_host_", "perfmon_pcq_host_info_"],
        varying: &[],
    },
    Row {
        name: "alerts",
        plugin: "pla",
        lacking: r"sets: [{name: S, alerts: [{name: Busy, counter: '\Processor Information(0,0)\% Processor Time', above: -1, sample_interval: 1s}, {name: Lacking, counter: '\Memory\No Such Counter', above: 1, sample_interval: 1s}]}]",
        module: r"sets: [{name: S, alerts: [{name: Busy, counter: '\Processor Information(0,0)\% Processor Time', above: -1, sample_interval: 1s}]}]",
        reads: Reads::Version2,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "classic_alerts",
        plugin: "pla",
        lacking: r"sets: [{name: S, alerts: [{name: Low, counter: '\Memory\Available Bytes', above: 1, sample_interval: 1s}, {name: Lacking, counter: '\Memory\No Such Counter', above: 1, sample_interval: 1s}]}]",
        module: r"sets: [{name: S, alerts: [{name: Low, counter: '\Memory\Available Bytes', above: 1, sample_interval: 1s}]}]",
        reads: Reads::Classic,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "logs",
        plugin: "pla",
        lacking: r"sets: [{name: L, counters: ['\Processor Information(0,0)\% Processor Time', '\Memory\No Such Counter'], sample_interval: 1s, log_format: csv}]",
        module: r"sets: [{name: L, counters: ['\Processor Information(0,0)\% Processor Time'], sample_interval: 1s, log_format: csv}]",
        reads: Reads::Version2,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "classic_logs",
        plugin: "pla",
        lacking: r"sets: [{name: L, counters: ['\Memory\Available Bytes', '\Memory\No Such Counter'], sample_interval: 1s, log_format: csv}]",
        module: r"sets: [{name: L, counters: ['\Memory\Available Bytes'], sample_interval: 1s, log_format: csv}]",
        reads: Reads::Classic,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "sets",
        plugin: "pla",
        lacking: "",
        module: "sets: [{host: ['*']}]",
        reads: Reads::Objects,
        slow: &["perfmon_pla_set_next_start_"],
        varying: &["perfmon_pla_alert_"],
    },
    Row {
        name: "com_plus",
        plugin: "comt",
        lacking: "",
        module: "mode: poll",
        reads: Reads::Objects,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "com_plus_events",
        plugin: "comt",
        lacking: "",
        module: "mode: events, events_max_age: 5s",
        reads: Reads::Objects,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "endpoints",
        plugin: "rpc_state",
        lacking: "",
        module: "source: rpc_endpoints",
        reads: Reads::EndpointMap,
        slow: &[],
        varying: &[],
    },
    Row {
        name: "own",
        plugin: "rpc_state",
        lacking: "",
        module: "directories: [STATE]",
        reads: Reads::Nothing,
        slow: &[],
        varying: &["perfmon_rpc_operation_"],
    },
];

/// What is right for a target during a fault.
enum During {
    /// It is down, for one of these reasons from the first failure to the last, and has no series of the host.
    Down(&'static [&'static str]),
    /// It is partial, for one of these reasons from the first failure to the last.
    Partial(&'static [&'static str]),
    /// It stays up, and fails once at most.
    Up,
}

/// What befalls a host, or the exporter.
struct Fault {
    name: &'static str,
    begin: fn(&mut World),
    during: fn(&Row) -> During,
    end: fn(&mut World),
    /// Whether the host counts from zero afterwards.
    resets: bool,
}

const CUT: &[&str] = &["connection_refused", "connection_reset"];
const AWAY: During = During::Down(CUT);

static FAULTS: [Fault; 12] = [
    Fault {
        name: "host ends and returns",
        begin: |world| world.machine.end(),
        during: |row| if row.reads == Reads::Nothing { During::Up } else { AWAY },
        end: |world| world.machine.start(),
        resets: false,
    },
    Fault {
        name: "host restarts with new clocks and counters",
        begin: |world| world.machine.end(),
        during: |row| if row.reads == Reads::Nothing { During::Up } else { AWAY },
        end: |world| {
            world.machine.boot = now();
            world.machine.start();
        },
        resets: true,
    },
    Fault {
        name: "connections close",
        begin: |world| {
            world.machine.end();
            world.machine.start();
        },
        during: |_| During::Up,
        end: |_| {},
        resets: false,
    },
    Fault {
        name: "pipes close",
        begin: |world| world.machine.host().stop_service(),
        during: |_| During::Up,
        end: |_| {},
        resets: false,
    },
    Fault {
        name: "sessions expire",
        begin: |world| world.machine.behave(|behaviour| behaviour.session_expires_after = Some(60)),
        during: |_| During::Up,
        end: |world| world.machine.behave(|behaviour| behaviour.session_expires_after = None),
        resets: false,
    },
    Fault {
        name: "provider goes and returns",
        begin: |world| world.machine.without(&[VERSION_2, CLASSIC]),
        during: |row| match row.reads {
            Reads::Version2 | Reads::Classic if row.plugin == "pcq" => During::Down(&["not_found"]),
            _ => During::Up,
        },
        end: |world| world.machine.without(&[]),
        resets: false,
    },
    Fault {
        name: "rights are taken and given back",
        begin: |world| {
            world.machine.change_account(|account| account.may_read_counters = false);
            world.machine.end();
            world.machine.start();
            world.machine.behave(|behaviour| behaviour.activation = ActivationMode::AccessDenied);
        },
        during: |row| match row.reads {
            // Its sets are shown without values.
            Reads::Classic if row.plugin == "pla" => During::Partial(&["access_denied"]),
            Reads::Version2 | Reads::Classic => During::Down(&["access_denied"]),
            Reads::Objects if row.plugin == "pla" => During::Partial(&["access_denied", "pla_access_denied"]),
            Reads::Objects => During::Down(&[
                "access_denied",
                "com_access_denied",
                "pla_access_denied",
                "event_system_denied",
            ]),
            Reads::EndpointMap | Reads::Nothing => During::Up,
        },
        end: |world| {
            world.machine.change_account(|account| account.may_read_counters = true);
            world.machine.behave(|behaviour| behaviour.activation = ActivationMode::Open);
        },
        resets: false,
    },
    Fault {
        name: "account is locked and unlocked",
        begin: |world| {
            world.machine.change_account(|account| account.state = AccountState::Locked);
            world.machine.end();
            world.machine.start();
        },
        during: |row| match row.reads {
            Reads::Nothing => During::Up,
            Reads::Version2 | Reads::Classic => During::Down(&["account_locked"]),
            // RPC over TCP has no word for it, unless another source was told over SMB.
            Reads::Objects | Reads::EndpointMap => During::Down(&[
                "account_locked",
                "access_denied",
                "com_access_denied",
                "pla_access_denied",
                "wrong_credentials",
            ]),
        },
        end: |world| {
            world.machine.change_account(|account| account.state = AccountState::Active);
            // The administrator says so; without a reload the exporter waits some minutes.
            world.reload("a");
        },
        resets: false,
    },
    Fault {
        name: "name moves to another host",
        begin: |world| {
            world.machine.end();
            world.machine.boot =
                FileTime(world.machine.boot.0 - 30 * 86_400 * FileTime::INTERVALS_PER_SECOND);
            world.machine.start();
        },
        during: |_| During::Up,
        end: |_| {},
        resets: true,
    },
    Fault {
        name: "something is lacking",
        begin: |world| world.reload(LACKING),
        during: |row| if row.lacking.is_empty() { During::Up } else { During::Partial(&["not_found"]) },
        end: |world| world.reload("a"),
        resets: false,
    },
    Fault {
        name: "reloads in the middle of collections",
        begin: |world| {
            world.machine.behave(|behaviour| behaviour.rules = vec!["*=delay:20ms".parse().unwrap()]);
            ["b", "a", "b"].iter().for_each(|label| world.reload(label));
        },
        during: |_| During::Up,
        end: |world| {
            world.machine.behave(|behaviour| behaviour.rules.clear());
            world.reload("a");
        },
        resets: false,
    },
    Fault {
        name: "reload changes a label",
        begin: |world| world.reload("b"),
        during: |_| During::Up,
        end: |world| world.reload("a"),
        resets: false,
    },
];

/// Instead of a label: modules want something that the host lacks.
const LACKING: &str = "lacking";
/// The ports of a host, and that at which the exporter takes its call-backs.
const SMB: u16 = 4450;
const MAPPER: u16 = 1350;
const OBJECTS: u16 = 1351;
const EVENTS: u16 = 1352;
/// The time between two collections.
const INTERVAL: Duration = Duration::from_secs(2);
/// Nothing here takes long; a drill that waits for what never comes ends.
const PATIENCE: Duration = Duration::from_secs(150);
/// Worlds that live at a time: more would be slow enough for collections to run out of time.
const AT_ONCE: usize = 6;
/// Collections after the end of a fault until all is as it was.
const COLLECTIONS_AFTER: f64 = 2.0;

fn now() -> FileTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    FileTime::from_unix_nanos(since.as_nanos().try_into().unwrap())
}

/// A simulated host at an address of its own, which can be ended and started again: nothing else takes its ports meanwhile.
struct Machine {
    runtime: Runtime,
    accounts: Arc<Accounts>,
    address: Ipv4Addr,
    boot: FileTime,
    running: Option<Running>,
}

struct Running {
    host: Arc<WindowsHost>,
    source: Arc<Host>,
    tasks: Vec<JoinHandle<()>>,
}

impl Machine {
    fn new(address: Ipv4Addr) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let accounts = Arc::new(Accounts::new(vec![Account::new("CORP", "svc", ssp::Secret::new(PASSWORD))]));
        let boot = FileTime(now().0 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);
        let mut machine = Self { runtime, accounts, address, boot, running: None };
        machine.start();
        machine
    }

    fn start(&mut self) {
        let options = HostOptions { boot: Some(self.boot), slots: 0, ..HostOptions::default() };
        let source = Arc::new(Host::new(options));
        let values: Arc<dyn ValueSource> = Arc::<Host>::clone(&source);
        let host = Arc::new(WindowsHost::new("web1", values, Arc::clone(&self.accounts)));
        let listen = |port| {
            let address = SocketAddr::from((self.address, port));
            self.runtime.block_on(TcpListener::bind(address)).unwrap()
        };
        let [smb, mapper, objects] = [SMB, MAPPER, OBJECTS].map(listen);
        let limits = server::Limits::default();
        let mut publisher = server::EventPublisher::new(Arc::clone(&host), EVENTS);
        let of_objects = Arc::clone(&host);
        let tasks = vec![
            self.runtime.spawn(server::listen_smb(Arc::clone(&host), smb, limits)),
            self.runtime.spawn(async move {
                server::listen_dcom(of_objects, mapper, objects, limits).await.unwrap();
            }),
            self.runtime.spawn(async move {
                loop {
                    publisher.publish().await;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }),
        ];
        self.running = Some(Running { host, source, tasks });
    }

    /// All connections end, and nobody listens any more.
    fn end(&mut self) {
        let Some(running) = self.running.take() else { return };
        for task in running.tasks {
            task.abort();
            // It ends with that it was aborted.
            let _ = self.runtime.block_on(task);
        }
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("a host that was started")
    }

    fn host(&self) -> &WindowsHost {
        &self.running().host
    }

    fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        self.host().change_behaviour(change);
    }

    fn change_account(&self, change: impl FnOnce(&mut Account)) {
        self.accounts.change(|accounts| change(&mut accounts[0]));
    }

    /// From now on these countersets and objects are absent, and no others.
    fn without(&self, names: &[&str]) {
        let changes = names.iter().map(|name| format!("{name}=absent").parse::<Change>().unwrap());
        self.running().source.replace_changes(changes.collect());
    }
}

/// A host and an exporter that has a target for each source.
struct World {
    machine: Machine,
    installed: Installed,
    exporter: Option<Exporter>,
}

impl World {
    /// Each number has an address of its own.
    fn new(number: u8) -> Self {
        let process = std::process::id().to_be_bytes();
        let address = Ipv4Addr::new(127, 64 + process[2] % 64, process[3], number);
        let installed = Installed::with_plugins(&["pcq", "comt", "pla", "rpc_state"]);
        std::fs::create_dir(installed.folder.path("files")).unwrap();
        let mut world = Self { machine: Machine::new(address), installed, exporter: None };
        world.installed.folder.write("perfmon.yml", &world.configuration("a"));
        let mut exporter = world.installed.folder.begin(&mut world.installed.command(&[]), &[]);
        drop(exporter.read_log());
        world.exporter = Some(exporter);
        world
    }

    fn configuration(&self, label: &str) -> String {
        let host = self.machine.address;
        let [files, state] = ["files", "state"].map(|folder| self.installed.folder.path(folder));
        let (mut modules, mut targets) = (String::new(), String::new());
        let env = if label == LACKING { "a" } else { label };
        for Row { name, plugin, module, lacking, .. } in ROWS {
            let module = if label == LACKING && !lacking.is_empty() { lacking } else { module };
            let module = module.replace("STATE", &state.display().to_string());
            modules += &format!("  {name}: {{plugin: {plugin}, {module}}}\n");
            targets +=
                &format!("  - {{name: {name}, host: {host}, modules: [{name}], labels: {{env: {env}}}}}\n");
        }
        format!(
            "plugins: {{load: [pcq, comt, pla, rpc_state], settings: {{comt: {{events: {{listen: ['{host}:{EVENTS}'], advertise: {host}}}}}}}}}
storage: {{directory: {files}}}
rpc_state: {{directory: state}}
web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}
scrape: {{interval: {interval}s}}
transports:
  here: {{connect_timeout: 500ms, smb: {{port: {SMB}}}, dcom: {{port: {MAPPER}}}, tcp: {{port: {MAPPER}}}}}
identities:
  corp: {{kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: [{host}]}}
target_defaults: {{identity: corp, transport: here}}
modules:
{modules}targets:
{targets}",
            interval = INTERVAL.as_secs(),
            files = files.display(),
        )
    }

    /// Takes the configuration again, with this label at all targets.
    fn reload(&mut self, label: &str) {
        self.installed.folder.write("perfmon.yml", &self.configuration(label));
        let answer = self.exporter().reload();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    fn exporter(&self) -> &Exporter {
        self.exporter.as_ref().expect("an exporter that was started")
    }

    fn page(&self) -> Page {
        let request = "GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
                       Accept: application/openmetrics-text;version=1.0.0\r\n\r\n";
        Page::of(&self.exporter().ask(request).body)
    }

    /// Reads pages until nothing is wrong with one: only pages show the series of all sources, and nothing tells beside them
    /// that a collection of each was published; answers the last page, and what is wrong with it.
    fn wait(&self, wrong: impl Fn(&Page) -> Vec<String>) -> (Page, Vec<String>) {
        let began = Instant::now();
        loop {
            let page = self.page();
            let found = wrong(&page);
            if found.is_empty() || began.elapsed() > PATIENCE {
                return (page, found);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Samples by their series.
struct Page(BTreeMap<String, f64>);

impl Page {
    fn of(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            Some((series.to_owned(), value.parse().ok()?))
        });
        Self(samples.collect())
    }

    /// The value of a metric of the exporter about a target.
    fn own(&self, metric: &str, target: &str, more: &str) -> f64 {
        let series = format!("perfmon_exporter_{metric}{{target=\"{target}\"{more}}}");
        self.0.get(&series).copied().unwrap_or(0.0)
    }

    fn is(&self, target: &str, state: &str) -> bool {
        self.own("target_state", target, &format!(",state=\"{state}\"")) == 1.0
    }

    fn collections(&self, target: &str) -> f64 {
        ["full", "partial", "failed"]
            .map(|outcome| self.own("collections_total", target, &format!(",outcome=\"{outcome}\"")))
            .iter()
            .sum()
    }

    /// How often collections of a target failed, by reason.
    fn failures(&self, target: &str) -> BTreeMap<String, f64> {
        let prefix = format!("perfmon_exporter_failures_total{{target=\"{target}\"");
        let failures = self.0.iter().filter(|(series, _)| series.starts_with(&prefix));
        let reason = |series: &str| series.split("reason=\"").nth(1)?.split('"').next().map(str::to_owned);
        failures.filter_map(|(series, count)| Some((reason(series)?, *count))).collect()
    }

    /// The series of a source, without the label that reloads change and without start times.
    fn series(&self, row: &Row) -> BTreeSet<String> {
        let label = format!("target=\"{}\"", row.name);
        let all = self.0.keys().filter(|series| series.contains(&label));
        let of_source = all.filter(|series| {
            let others = ["perfmon_exporter_", "perfmon_pla_run_last_compile_"];
            !others.iter().chain(row.slow).chain(row.varying).any(|name| series.starts_with(name))
                && !series.contains("_created{")
        });
        of_source.map(|series| row.named(series)).collect()
    }

    /// The same of the metrics that come back later than the others, but for what was not read.
    fn slow_series(&self, row: &Row) -> BTreeSet<String> {
        let label = format!("target=\"{}\"", row.name);
        let of_source = self.0.keys().filter(|series| {
            row.slow.iter().any(|name| series.starts_with(name))
                && series.contains(&label)
                && !series.contains("_missing{")
                && !series.contains("_created{")
        });
        of_source.map(|series| row.named(series)).collect()
    }

    /// When the series of a target's host began.
    fn starts(&self, target: &str) -> BTreeMap<String, f64> {
        let label = format!("target=\"{target}\"");
        let all = self.0.iter().filter(|(series, _)| series.contains(&label) && series.contains("_created{"));
        let of_host = all.filter(|(series, _)| !series.starts_with("perfmon_exporter_"));
        of_host.map(|(series, start)| (series.replace("env=\"b\"", "env=\"a\""), *start)).collect()
    }

    fn alerts_open(&self) -> f64 {
        self.0.get("perfmon_exporter_alerts_open").copied().unwrap_or(0.0)
    }
}

/// What is wrong in the cells of a fault.
fn drilled(fault: &Fault, number: u8) -> Vec<String> {
    let mut world = World::new(number);
    let (before, wrong) = world.wait(|page| {
        let mut wrong = cells(|row| match page.series(row).is_empty() {
            true => Err("no series".to_owned()),
            false => is_up(page, row, 5.0),
        });
        if !page.0.keys().any(|series| series.starts_with("perfmon_host_os_info{")) {
            wrong.push("facts: none of the registry".to_owned());
        }
        for target in ["alerts", "classic_alerts"] {
            let firing = format!("perfmon_pla_alert_firing{{target=\"{target}\"");
            if !page.0.iter().any(|(series, value)| series.starts_with(&firing) && *value == 1.0) {
                wrong.push(format!("{target}: none fires"));
            }
        }
        wrong
    });
    if !wrong.is_empty() {
        return wrong;
    }
    (fault.begin)(&mut world);
    let (_, mut wrong) = world.wait(|page| cells(|row| during(&before, page, row, &(fault.during)(row))));
    wrong.iter_mut().for_each(|cell| cell.insert_str(0, "during: "));
    (fault.end)(&mut world);
    let ended = world.page();
    let enough = |row: &Row| ended.collections(row.name) + COLLECTIONS_AFTER;
    let is_back = |page: &Page, row: &Row| {
        is_up(page, row, enough(row))?;
        // Facts are read one by one, and a host calls with events after the subscription was stored.
        as_before(&before, page, row, fault.resets)
    };
    let (after, not_back) = world.wait(|page| cells(|row| is_back(page, row)));
    let mut add = |when: &str, cells: Vec<String>| {
        wrong.extend(cells.into_iter().map(|cell| format!("{when}: {cell}")));
    };
    add("after", not_back);
    if after.alerts_open() != before.alerts_open() {
        add("after", vec![format!("{} alerts are open, {} were", after.alerts_open(), before.alerts_open())]);
    }
    // And it stays so.
    let enough = |row: &Row| after.collections(row.name) + 5.0;
    let stays = |page: &Page, row: &Row| {
        is_up(page, row, enough(row))?;
        as_before(&after, page, row, false)
    };
    add("later", world.wait(|page| cells(|row| stays(page, row))).1);
    wrong
}

/// What is wrong with each source.
fn cells(check: impl Fn(&Row) -> Result<(), String>) -> Vec<String> {
    let named = |row: &Row| check(row).err().map(|problem| format!("{}: {problem}", row.name));
    ROWS.iter().filter_map(named).collect()
}

/// A target is up, after this many collections in all.
fn is_up(page: &Page, row: &Row, collections: f64) -> Result<(), String> {
    if page.is(row.name, "up") && page.collections(row.name) >= collections {
        return Ok(());
    }
    Err(format!("not up: {} collections, {:?}", page.collections(row.name), page.failures(row.name)))
}

/// What is right during a fault: three collections that say it, and one reason all the time.
fn during(before: &Page, page: &Page, row: &Row, right: &During) -> Result<(), String> {
    let name = row.name;
    let known = before.failures(name);
    let mut failures = page.failures(name);
    // No fault here makes a host slow; a machine with too much to do does.
    failures.retain(|reason, count| {
        known.get(reason) != Some(count) && !["timeout", "busy"].contains(&reason.as_str())
    });
    let failed: f64 = failures.values().sum();
    let (state, reasons) = match right {
        During::Down(reasons) => ("down", *reasons),
        During::Partial(reasons) => ("partial", *reasons),
        During::Up if failed > 1.0 => return Err(format!("it fails: {failures:?}")),
        During::Up => return is_up(page, row, before.collections(name) + 5.0),
    };
    // A collection may have been cut off as the fault began.
    let is_cut = |reason: &str, count: f64| count <= 1.0 && CUT.contains(&reason);
    let is_right = |reason: &str, count: f64| reasons.contains(&reason) || is_cut(reason, count);
    if let Some((reason, _)) = failures.iter().find(|(reason, count)| !is_right(reason, **count)) {
        return Err(format!("the reason is {reason}, right is {}", reasons.join(" or ")));
    }
    if !page.is(name, state) || failed < 3.0 {
        return Err(format!("not {state} with three failures: {failures:?}"));
    }
    if state == "down" && !page.series(row).is_empty() {
        return Err(format!("it is down, and has {} series", page.series(row).len()));
    }
    Ok(())
}

/// All of a target is as before: its series, and their starts, which are others if the host counts from zero.
fn as_before(before: &Page, after: &Page, row: &Row, resets: bool) -> Result<(), String> {
    let (was, is) = (before.series(row), after.series(row));
    if was != is {
        let difference: Vec<_> = was.symmetric_difference(&is).take(3).collect();
        return Err(format!("{} series, {} before; {difference:?}", is.len(), was.len()));
    }
    let (was, is) = (before.slow_series(row), after.slow_series(row));
    if !was.is_subset(&is) {
        let lost: Vec<_> = was.difference(&is).take(3).collect();
        return Err(format!("{} of the slow series, {} before; {lost:?}", is.len(), was.len()));
    }
    let (was, is) = (before.starts(row.name), after.starts(row.name));
    // A counter of 32 bits may have gone round before it was seen first; of one that began again, the start is known.
    if !was.keys().all(|series| is.contains_key(series)) || !resets && is.len() > was.len() {
        return Err(format!("{} start times, {} before", is.len(), was.len()));
    }
    let moved = was.iter().filter(|(series, start)| (is[*series] - **start).abs() > 60.0).count();
    let of_host = matches!(row.reads, Reads::Version2 | Reads::Classic) && row.plugin == "pcq";
    if of_host && moved != if resets { was.len() } else { 0 } {
        return Err(format!("{moved} of {} start times moved", was.len()));
    }
    Ok(())
}

#[test]
fn every_source_lives_through_every_fault() {
    let faults = Mutex::new(FAULTS.iter().zip(1..));
    let drill = || {
        let next = || faults.lock().next();
        let cells = std::iter::from_fn(next).flat_map(|(fault, number)| {
            let cells = panic::catch_unwind(|| drilled(fault, number));
            let cells = cells.unwrap_or_else(|_| vec!["the drill panicked".to_owned()]);
            cells.into_iter().map(|cell| format!("{}: {cell}", fault.name))
        });
        cells.collect::<Vec<_>>()
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let drills: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(drill)).collect();
        drills.into_iter().flat_map(|drill| drill.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} cells are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
