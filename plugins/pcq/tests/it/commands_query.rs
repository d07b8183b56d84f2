//! What `query` shows: values that are cooked, in the form that was asked for, over losses and restarts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use windows_sim::model::{
    self, Clock, Counterset, Data, Moment, NameIndexes, PerfObject, Sample, ValueSource,
};
use wire::{FileTime, Guid};

use crate::commands::{Ran, line, run, run_and, without_disks};
use crate::world::{BOOT, NOON, Plugin, SimHost};

/// The model, whose clock moves by a second for each reply, as if samples were taken a second apart.
struct Ticking {
    hosts: Vec<model::Host>,
    clock: Clock,
    replies: AtomicU64,
    /// From this reply on it is the second host, which was restarted.
    restart_at: u64,
}

impl Ticking {
    fn host(&self) -> &model::Host {
        let is_anew = self.replies.load(Ordering::Relaxed) >= self.restart_at;
        &self.hosts[usize::from(is_anew)]
    }
}

impl ValueSource for Ticking {
    fn countersets(&self) -> Vec<&'static Counterset> {
        self.host().countersets()
    }

    fn moment(&self) -> Moment {
        self.replies.fetch_add(1, Ordering::Relaxed);
        self.clock.advance(Duration::from_secs(1));
        self.host().moment()
    }

    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>> {
        self.host().sample(counterset, at)
    }

    fn objects(&self) -> Vec<&'static PerfObject> {
        self.host().objects()
    }

    fn object_data(&self, object: &PerfObject, at: &Moment) -> Option<Data> {
        self.host().object_data(object, at)
    }

    fn name_indexes(&self) -> NameIndexes {
        self.host().name_indexes()
    }
}

/// The model with an instance whose name would command a terminal.
struct Hostile(model::Host);

const HOSTILE: &str = "Night\u{1b}[2J\u{202e}gpj:4711";

impl ValueSource for Hostile {
    fn countersets(&self) -> Vec<&'static Counterset> {
        self.0.countersets()
    }

    fn moment(&self) -> Moment {
        self.0.moment()
    }

    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>> {
        let mut samples = self.0.sample(counterset, at)?;
        samples.truncate(1);
        samples.iter_mut().for_each(|sample| sample.instance.name = HOSTILE.to_owned());
        Some(samples)
    }
}

#[test]
fn what_a_host_calls_its_instances_cannot_command_a_terminal() {
    let clock = Clock::manual(NOON);
    let source = Hostile(model::Host::new(model::HostOptions { clock: clock.clone(), ..Default::default() }));
    let sim = SimHost::with_source(Arc::new(source), clock);
    for path in [r"\Process V2(*)\Working Set", r"\Process V2(*)\*"] {
        let Ran { code, out, err, .. } = run(&Plugin::new(), &sim, "query", &[path, "--count", "1"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains(r"\u{202e}gpj"), "{out:?}");
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out:?}");
    }
}

/// A host whose replies are a second apart.
fn ticking() -> SimHost {
    restarting(u64::MAX).0
}

/// One that is restarted, before it makes this reply.
fn restarting(restart_at: u64) -> (SimHost, Arc<Ticking>) {
    let clock = Clock::manual(NOON);
    let started = |boot| {
        let options = model::HostOptions { clock: clock.clone(), boot: Some(boot), ..Default::default() };
        model::Host::new(options)
    };
    let hosts = vec![started(BOOT), started(FileTime(NOON.0 + 1))];
    let source = Arc::new(Ticking { hosts, clock: clock.clone(), replies: AtomicU64::new(0), restart_at });
    (SimHost::with_source(Arc::<Ticking>::clone(&source), clock), source)
}

/// The rows of CSV after the first line, without quotes.
fn rows(csv: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim_matches('"').split("\",\"").map(str::to_owned).collect();
    csv.lines().skip(1).map(cells).collect()
}

const QUICKLY: [&str; 2] = ["--interval", "1ms"];

#[test]
fn values_are_what_the_closed_formulas_of_their_types_say() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let paths = [
        r"\Counter Types(1)\Counter",
        r"\Counter Types(1)\Timer",
        r"\Counter Types(1)\Average Bulk",
        r"\Counter Types(1)\Raw Fraction",
        r"\Counter Types(1)\Large Raw Count Hex",
        r"\Counter Types(1)\Text",
    ];
    let args = [&QUICKLY[..], &["--count", "2"], &paths].concat();
    let ran = run(&plugin, &sim, "query", &args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let last: Vec<&str> = ran.out.lines().last().unwrap().split_whitespace().skip(1).collect();
    assert_eq!(last, ["100", "10", "512", "12.5", "0xfeedc0de00000001", "text", "1"], "{}", ran.out);
    // One query, and one call for each sample: the first row takes two.
    assert_eq!(sim.calls(6), 3);
    assert_eq!(sim.calls(4), 1, "the query is closed");
}

#[test]
fn a_momentary_value_does_not_wait_for_a_second_sample() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "query", &["--count", "1", r"\Counter Types(2)\Raw Count"]);
    assert_eq!((ran.code, sim.calls(6)), (0, 1), "{}", ran.err);
}

#[test]
fn csv_is_what_typeperf_writes() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let args = ["--count", "2", "--format", "csv", r"\counter types(*)\bulk count", r"\Counter Types(1)\T*r"];
    let ran = run(&plugin, &sim, "query", &[&QUICKLY[..], &args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let head = ran.out.lines().next().unwrap();
    let expected = concat!(
        r#""(PDH-CSV 4.0) (Coordinated Universal Time)(0)","#,
        r#""\\127.0.0.1\Counter Types(1)\Bulk Count","\\127.0.0.1\Counter Types(2)\Bulk Count","#,
        r#""\\127.0.0.1\Counter Types(3)\Bulk Count","\\127.0.0.1\Counter Types(4)\Bulk Count","#,
        r#""\\127.0.0.1\Counter Types(1)\Timer""#,
    );
    assert_eq!(head, expected);
    let rows = rows(&ran.out);
    assert_eq!(rows.len(), 2);
    assert!(rows[0][0].starts_with("01/01/2026 00:00:"), "{:?}", rows[0]);
    assert_eq!(rows[0][1..], rows[1][1..], "rates are steady");
    assert_eq!((rows[0][1].as_str(), rows[0][5].as_str()), ("100000.000000", "10.000000"));
}

// typeperf writes `\Memory\Commit Limit`, whose scale is -7, in bytes.
#[test]
fn a_scale_is_for_graphs_and_changes_no_number() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let path = r"\Oddities(odd)\Scale*";
    let args = |format| [&QUICKLY[..], &["--count", "1", "--format", format, path]].concat();
    let csv = run(&plugin, &sim, "query", &args("csv"));
    let numbers = [2001, 2101, 2201, 2301, 2401, 2501, 2601].map(|number| format!("{number}.000000"));
    assert_eq!(rows(&csv.out)[0][1..], numbers, "{}", csv.err);
    let table = run(&plugin, &sim, "query", &args("table"));
    assert!(["2,001", "2,601"].iter().all(|number| table.out.contains(number)), "{}", table.out);
}

#[test]
fn json_has_what_another_client_needs_to_compare() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let args = ["--count", "1", "--format", "json", r"\Counter Types(*)\Average Timer"];
    let ran = run(&plugin, &sim, "query", &[&QUICKLY[..], &args].concat());
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(all["time"].as_str().unwrap().starts_with("2026-01-01T00:00:"), "{all}");
    assert_eq!(all["perf_freq"], 10_000_000);
    // Two days after the start, and as many seconds as replies were made.
    let since_noon = all["time_100ns"].as_u64().unwrap() - NOON.0;
    assert_eq!(all["perf_time"].as_u64().unwrap(), NOON.0 - BOOT.0 + since_noon);
    let values = all["values"].as_array().unwrap();
    let value = &values[1];
    assert_eq!(values.len(), 4);
    assert_eq!(value["path"], r"\Counter Types(2)\Average Timer");
    assert_eq!((&value["counterset"], &value["instance"]), (&"Counter Types".into(), &"2".into()));
    assert_eq!(value["type"], "PERF_AVERAGE_TIMER");
    assert!(value["instance_id"].is_u64() && value["raw"].is_u64() && value["base"].is_u64(), "{value}");
    assert!(value["value"].is_f64(), "{value}");
}

#[test]
fn a_path_that_does_not_parse_shows_where() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let ran = run(&plugin, &sim, "query", &[r"\Processor Information(0,*\% User Time"]);
    assert_eq!(ran.code, 2);
    let mut lines = ran.err.lines().skip_while(|line| !line.contains(r"\Processor Information(0,*\"));
    let (path, caret) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(&path[..=caret.find('^').unwrap()], r"  \Processor Information(0,*\");
    assert_eq!(sim.connections(), 0, "nobody was asked");
}

#[test]
fn what_the_host_does_not_have_names_the_nearest() {
    let (plugin, sim) = (Plugin::new(), without_disks());
    for (path, part) in [
        (
            r"\Procesor Information(*)\% User Time",
            "no counterset `Procesor Information`; did you mean `Processor Information`?",
        ),
        (r"\Memmory\Available Bytes", "no counterset `Memmory`; did you mean `Memory`?"),
        (r"\Procesor(_Total)\% Processor Time", "no counterset `Procesor`; did you mean `Processor`?"),
        (r"\Processor Information(*)\% Usr Time", "no counter `% Usr Time`; did you mean `% User Time`?"),
        (r"\LogicalDisk(C:)\% Free Space", "does not offer the classic counter object `LogicalDisk`"),
        (r"\Processor Information\% User Time", r"write \Processor Information(*)\% User Time"),
    ] {
        let ran = run(&plugin, &sim, "query", &[path]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{path}");
        assert!(ran.err.contains(part), "{path}: {}", ran.err);
    }
}

#[test]
fn an_instance_that_is_not_there_is_no_reason_to_end() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let args = ["--count", "2", r"\Processor Information(0,00)\Parking Status"];
    let ran = run(&plugin, &sim, "query", &[&QUICKLY[..], &args].concat());
    assert_eq!(ran.code, 0);
    assert_eq!(ran.err.matches("no such instance now").count(), 1, "told once: {}", ran.err);
    assert!(ran.err.contains("did you mean `0,0`?"), "{}", ran.err);
}

#[test]
fn only_the_wanted_countersets_and_instances_are_fetched() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let args = ["--count", "1", "--format", "json", r"\Counter Types(3)\Timer"];
    run(&plugin, &sim, "query", &[&QUICKLY[..], &args].concat());
    let small = sim.calls(7);
    assert_eq!(small, 1, "one call adds everything");
}

#[test]
fn a_host_that_was_started_anew_leaves_a_gap_and_no_garbage() {
    let plugin = Plugin::new();
    let path = r"\Counter Types(1)\Counter";
    let args = |count| [&QUICKLY[..], &["--count", count, "--format", "csv", path]].concat();
    // How many replies there are before the third sample of four is the same in each run.
    let replies = |count| {
        let (whole, source) = restarting(u64::MAX);
        run(&plugin, &whole, "query", &args(count));
        source.replies.load(Ordering::Relaxed)
    };
    let after_three_samples = replies("2");
    let of_one_sample = replies("3") - after_three_samples;
    let (sim, _source) = restarting(after_three_samples - of_one_sample + 1);
    let ran = run(&plugin, &sim, "query", &args("3"));
    let values: Vec<String> = rows(&ran.out).into_iter().map(|mut row| row.remove(1)).collect();
    assert_eq!(values, ["100.000000", " ", "100.000000"], "{}", ran.out);
}

#[test]
fn a_connection_that_is_lost_is_made_again() {
    let (plugin, sim) = (Plugin::new(), Arc::new(ticking()));
    let cut = Arc::clone(&sim);
    let is_first = std::sync::Once::new();
    let args = ["--count", "3", r"\Counter Types(1)\Timer"];
    let ran = run_and(&plugin, &sim, "query", &[&QUICKLY[..], &args].concat(), move |_, _| {
        // On a thread that is no run time's, since the listener is opened again.
        let cut = Arc::clone(&cut);
        is_first.call_once(|| std::thread::spawn(move || cut.cut()).join().unwrap());
    });
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(line(&ran.err, "connecting again").starts_with("query: connection_reset: "), "{}", ran.err);
    assert!(ran.err.contains("connected again\n"), "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.ends_with(" 10")).count(), 3, "{}", ran.out);
    assert_eq!(sim.connections(), 2);
}

#[test]
fn a_command_that_is_cancelled_ends_with_130() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let args = ["--interval", "1h", r"\Counter Types(1)\Raw Count"];
    let ran = run_and(&plugin, &sim, "query", &args, |_, cancel| cancel());
    assert_eq!(ran.code, 130);
    assert!(!ran.out.is_empty());
}

#[test]
fn instances_that_share_a_name_are_told_apart() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let args = ["--count", "1", "--format", "json", r"\Process V2(svchost:*)\Process ID"];
    let ran = run(&plugin, &sim, "query", &args);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let paths: Vec<&str> =
        all["values"].as_array().unwrap().iter().filter_map(|v| v["path"].as_str()).collect();
    let mut distinct = paths.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(paths.len() > 1, "{all}");
    assert_eq!(distinct.len(), paths.len(), "{paths:?}");
}

#[test]
fn a_path_may_name_the_machine_that_is_asked() {
    let (plugin, sim) = (Plugin::new(), SimHost::new());
    let path = |machine: &str| format!(r"\\{machine}\Processor Information(0,0)\Parking Status");
    let query = |machine: &str| {
        let path = path(machine);
        run(&plugin, &sim, "query", &["--target-name", "web1", "--count", "1", "--format", "json", &path])
    };
    for machine in ["WEB1", "127.0.0.1"] {
        let ran = query(machine);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{machine}");
        let object: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(object["host"], "127.0.0.1");
    }
    // A part of an address is no name.
    for machine in ["web2", "127"] {
        let ran = query(machine);
        assert_eq!(ran.code, 2, "{machine}");
        let expected = format!(
            "{}: the path is of another host than --target, which is `web1` (`127.0.0.1`); leave `\\\\{machine}` out",
            path(machine)
        );
        assert!(ran.err.contains(&expected), "{}", ran.err);
    }
}

#[test]
fn classic_objects_and_countersets_are_shown_together() {
    let (plugin, sim) = (Plugin::new(), ticking());
    let paths = [
        r"\LogicalDisk(C:)\% Free Space",
        r"\Memory\Available MBytes",
        r"\Thermal Zone Information(\_TZ.TZ00)\Temperature",
        r"\LogicalDisk(D:)\% Idle Time",
    ];
    let ran =
        run(&plugin, &sim, "query", &[&paths[..], &["--count", "1", "--format", "csv"], &QUICKLY].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = &rows(&ran.out)[0][1..];
    let number = |index: usize| shown[index].parse::<f64>().unwrap();
    assert!((0.0..100.0).contains(&number(0)), "{shown:?}");
    assert!((1_000.0..16_384.0).contains(&number(1)), "{shown:?}");
    assert!((273.0..400.0).contains(&number(2)), "{shown:?}");
    assert!((0.0..=100.0).contains(&number(3)), "{shown:?}");
}
