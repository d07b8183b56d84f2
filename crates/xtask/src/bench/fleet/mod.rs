//! A fleet: thousands of simulated hosts on loopback, one exporter, both on two processors.
//!
//! It runs twice: with healthy hosts only, and with some that never answer and some that answer late. What counts
//! are the durations of the healthy hosts' collections once everything is warm, as the exporter's own metrics tell
//! them for each target; every collection of the window is among them. Figures of processor time are the kernel's.
//!
//! On a machine that others use, processor time and memory still tell the truth and durations do not; the row
//! `others_cores` says how much of it others used. The factor between the two runs is fair there with
//! `--side-by-side`.

mod chart;
pub(super) mod idle;
mod watch;
mod world;

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use self::watch::{Measured, quantile};
use self::world::{Kind, World};
use super::row::{self, Row};
use crate::Result;
use crate::workspace::Workspace;

/// How large, for how long, and where the figures go.
#[derive(Args)]
pub(crate) struct Options {
    /// Simulated hosts
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    targets: u32,
    /// How long each run is measured, once every host is up
    #[arg(long, value_name = "S", default_value_t = 180, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Seconds between two collections of a host
    #[arg(long, value_name = "S", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=3600))]
    interval: u32,
    /// Leaves out the second run, which has faults
    #[arg(long)]
    no_faults: bool,
    /// Both runs at the same time, so that load of the machine affects both: for the factor between them
    #[arg(long, conflicts_with = "no_faults")]
    side_by_side: bool,
    /// Writes the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a chart of both runs
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<PathBuf>,
    /// Fails if a goal is missed
    #[arg(long)]
    check: bool,
}

/// What one run is made of.
#[derive(Clone, Copy, Debug)]
struct Fleet {
    targets: u32,
    has_faults: bool,
    seconds: u32,
    interval_s: u32,
}

impl Fleet {
    /// 1 % of a fleet with faults are dark, 5 % slow.
    fn count(self, kind: Kind) -> u32 {
        let faulty = |part: u32| if self.has_faults { (self.targets / part).max(1) } else { 0 };
        match kind {
            Kind::Dark => faulty(100),
            Kind::Slow => faulty(20),
            Kind::Healthy => self.targets.saturating_sub(faulty(100) + faulty(20)),
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load()?;
    workspace.build_programs()?;
    let Options { targets, seconds, interval, .. } = *options;
    make_room(targets)?;
    println!("{targets} hosts every {interval} s, measured for {seconds} s once all are up");
    let fleet = Fleet { targets, has_faults: false, seconds, interval_s: interval };
    let (clean, faulty) = measure_all(&workspace, fleet, options)?;
    let mut rows = rows("clean", &clean, targets, None);
    if let Some(faulty) = &faulty {
        rows.extend(self::rows("faults", faulty, targets, Some(&clean)));
    }
    println!();
    row::print(&rows);
    if let Some(file) = &options.json {
        row::write(&rows, file)?;
    }
    if let Some(file) = &options.chart {
        std::fs::write(file, chart::draw(&clean, faulty.as_ref(), targets))?;
    }
    let missed = row::missed(&rows);
    if missed.is_empty() {
        println!("\nall goals are met");
    } else {
        println!("\ngoals missed: {}", missed.join(", "));
    }
    if options.check && !missed.is_empty() { Err("goals are missed".into()) } else { Ok(()) }
}

/// The run without faults and, where it is wanted, the one with them.
fn measure_all(
    workspace: &Workspace,
    fleet: Fleet,
    options: &Options,
) -> Result<(Measured, Option<Measured>)> {
    const FAULTS: &str = "1 % of them black-holed and 5 % answering after 3 s";
    let faulty = Fleet { has_faults: true, ..fleet };
    if options.side_by_side {
        println!("beside them as many with {FAULTS}");
        let mut worlds = [World::start(workspace, fleet)?, World::start(workspace, faulty)?];
        let [one, other] = &mut worlds;
        let (clean, faulty) = std::thread::scope(|scope| {
            // An error cannot leave a thread as it is.
            let other = scope.spawn(|| watch::watch(other, faulty).map_err(|error| error.to_string()));
            (watch::watch(one, fleet), other.join())
        });
        let faulty = faulty.map_err(|_panic| "the second run panicked")??;
        worlds.into_iter().try_for_each(World::end)?;
        return Ok((clean?, Some(faulty)));
    }
    let clean = measure(workspace, fleet)?;
    if options.no_faults {
        return Ok((clean, None));
    }
    println!("once more, {FAULTS}");
    Ok((clean, Some(measure(workspace, faulty)?)))
}

fn measure(workspace: &Workspace, fleet: Fleet) -> Result<Measured> {
    let mut world = World::start(workspace, fleet)?;
    let measured = watch::watch(&mut world, fleet)?;
    world.end()?;
    Ok(measured)
}

/// What is measured runs on two processors, and each host takes descriptors at both ends. Children inherit both.
fn make_room(targets: u32) -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    enough_descriptors(targets, limit.maximum)?;
    let allowed = sched_getaffinity(None)?;
    let mut chosen = CpuSet::new();
    (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).take(PROCESSORS).for_each(|cpu| chosen.set(cpu));
    Ok(sched_setaffinity(None, &chosen)?)
}

/// Whether `limit` descriptors are enough for a process that has all the hosts.
fn enough_descriptors(targets: u32, limit: Option<u64>) -> Result<()> {
    let needed = DESCRIPTORS_PER_HOST * u64::from(targets) + OTHER_DESCRIPTORS;
    match limit.filter(|limit| *limit < needed) {
        None => Ok(()),
        Some(limit) => {
            let possible = limit.saturating_sub(OTHER_DESCRIPTORS) / DESCRIPTORS_PER_HOST;
            Err(format!(
                "{targets} hosts need {needed} descriptors in one process, and this machine allows {limit}: \
                 raise the hard limit (as root: `ulimit -n {needed}`, or LimitNOFILE= of the service), or take \
                 `--targets {possible}`"
            )
            .into())
        }
    }
}

/// The simulator listens for each host and accepts a connection.
const DESCRIPTORS_PER_HOST: u64 = 2;
const OTHER_DESCRIPTORS: u64 = 256;
const PROCESSORS: usize = 2;

const P99_MS_MAX: f64 = 100.0;
const RESIDENT_KB_MAX: f64 = 400.0;
const FAULTS_FACTOR_MAX: f64 = 1.2;
/// One call for each kind of counters, and a few more where instances came and a reply grew.
const CALLS_MAX: f64 = 2.01;

fn rows(run: &str, measured: &Measured, targets: u32, clean: Option<&Measured>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name: &str, unit, ours, goal, note: &str| {
        rows.push(Row { name: format!("fleet/{run}/{name}"), unit, ours, goal, note: note.to_owned() });
    };
    let ms = |part: f64| quantile(&measured.durations_s, part) * 1e3;
    let targets = f64::from(targets);
    let seen =
        format!("{} collections of healthy hosts, {:.0} unseen", measured.durations_s.len(), measured.unseen);
    add("missed_intervals", "intervals", measured.missed, Some(0.0), "");
    add("not_full", "collections", measured.not_full, Some(0.0), "");
    add("collection_p50", "ms", ms(0.5), None, &seen);
    add("collection_p99", "ms", ms(0.99), clean.is_none().then_some(P99_MS_MAX), "");
    if let Some(clean) = clean {
        let factor = ms(0.99) / (quantile(&clean.durations_s, 0.99) * 1e3);
        add("collection_p99_to_clean", "times", factor, Some(FAULTS_FACTOR_MAX), "");
    }
    add("collection_max", "ms", ms(1.0), None, "");
    let resident = measured.exporter.resident_bytes / targets / 1e3;
    add(
        "exporter_resident_per_target",
        "kB",
        resident,
        Some(RESIDENT_KB_MAX),
        "all of the process by targets",
    );
    let proportional = measured.exporter.proportional_bytes / targets / 1e3;
    add("exporter_pss_per_target", "kB", proportional, None, "");
    let simulated = measured.simulators.resident_bytes / targets / 1e3;
    add("simulator_resident_per_target", "kB", simulated, None, "for information");
    add("exporter_cores", "cores", measured.exporter.cpu_s / measured.window_s, None, "");
    add("simulator_cores", "cores", measured.simulators.cpu_s / measured.window_s, None, "");
    let looks = "for information: this program, reading the exporter's metrics";
    add("looks_cores", "cores", measured.looks_cpu_s / measured.window_s, None, looks);
    let others = "whatever else the machine did; durations are to be trusted where it is next to nothing";
    add("others_cores", "cores", measured.others_cpu_s / measured.window_s, None, others);
    let exporter_us = measured.exporter.cpu_s / measured.collections * 1e6;
    add("exporter_cpu_per_collection", "us", exporter_us, None, "looks at its metrics included");
    let simulator_us = measured.simulators.cpu_s / measured.collections * 1e6;
    add("simulator_cpu_per_collection", "us", simulator_us, None, "");
    add("calls_per_collection", "calls", measured.calls, Some(CALLS_MAX), "");
    let series = format!("{:.0} series a host", measured.series);
    add("received_per_collection", "bytes", measured.received_bytes, None, &series);
    add("sent_per_collection", "bytes", measured.sent_bytes, None, "");
    add("all_up_after", "s", measured.all_up_s, None, "");
    let logon_us = measured.all_up_cpu_s / targets * 1e6;
    add("exporter_cpu_until_up_per_target", "us", logon_us, None, "logons and first collections included");
    rows
}

// What the exporter's own metrics say of each target.

/// One target as a page shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TargetFigures {
    is_up: bool,
    series: f64,
    /// Of the last collection.
    seconds: f64,
    /// Collections that ended, successful or not.
    collections: f64,
    /// Those of them that did not bring everything.
    not_full: f64,
    calls: f64,
    received_bytes: f64,
    sent_bytes: f64,
}

/// A page of the exporter's own metrics.
#[derive(Clone, Debug, Default)]
struct Page {
    /// In the order of the names that were asked for.
    targets: Vec<TargetFigures>,
    /// Slots of the schedule that were skipped.
    skipped: f64,
}

impl Page {
    /// Reads a page. Of targets that are not in `places` it takes nothing.
    fn read(text: &str, places: &HashMap<String, usize>) -> Self {
        let mut page = Self { targets: vec![TargetFigures::default(); places.len()], skipped: 0.0 };
        for line in text.lines().filter_map(|line| line.strip_prefix("perfmon_exporter_")) {
            page.enter(line, places);
        }
        page
    }

    fn enter(&mut self, line: &str, places: &HashMap<String, usize>) -> Option<()> {
        if let Some((_, value)) =
            line.strip_prefix("intervals_missed_total{").and_then(|row| row.rsplit_once(' '))
        {
            self.skipped += value.parse::<f64>().ok()?;
        }
        let (family, rest) = line.split_once("{target=\"")?;
        let (target, rest) = rest.split_once('"')?;
        let (labels, value) = rest.rsplit_once(' ')?;
        let figures = &mut self.targets[*places.get(target)?];
        let value: f64 = value.parse().ok()?;
        match family {
            "target_up" => figures.is_up = value == 1.0,
            "target_series" => figures.series = value,
            "target_collection_seconds" => figures.seconds = value,
            "target_calls_total" => figures.calls = value,
            "target_received_bytes_total" => figures.received_bytes = value,
            "target_sent_bytes_total" => figures.sent_bytes = value,
            "collections_total" => {
                figures.collections += value;
                figures.not_full += if labels.contains("\"full\"") { 0.0 } else { value };
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ms: f64) -> Measured {
        Measured {
            durations_s: vec![ms / 1e3; 100],
            collections: 100.0,
            window_s: 1.0,
            calls: 1.0,
            ..Measured::default()
        }
    }

    #[test]
    fn a_limit_of_descriptors_that_is_too_low_is_told_before_anything_starts() {
        assert!(enough_descriptors(4000, None).is_ok());
        assert!(enough_descriptors(4000, Some(8256)).is_ok());
        let error = enough_descriptors(4000, Some(1024)).unwrap_err().to_string();
        assert!(error.contains("4000 hosts need 8256 descriptors"), "{error}");
        assert!(error.contains("allows 1024") && error.contains("--targets 384"), "{error}");
    }

    #[test]
    fn a_fleet_with_faults_has_as_many_hosts_as_one_without() {
        let clean = Fleet { targets: 4000, has_faults: false, seconds: 1, interval_s: 15 };
        let faulty = Fleet { has_faults: true, ..clean };
        let counts = |fleet: Fleet| [Kind::Healthy, Kind::Slow, Kind::Dark].map(|kind| fleet.count(kind));
        assert_eq!(counts(clean), [4000, 0, 0]);
        assert_eq!(counts(faulty), [3760, 200, 40]);
        assert_eq!(counts(Fleet { targets: 20, ..faulty }), [18, 1, 1]);
    }

    #[test]
    fn faults_may_cost_the_healthy_a_fifth_of_the_clean_run_and_no_more() {
        let missed = |ms| {
            let rows = rows("faults", &measured(ms), 10, Some(&measured(50.0)));
            row::missed(&rows).join(" ")
        };
        assert_eq!(missed(60.0), "");
        assert_eq!(missed(61.0), "fleet/faults/collection_p99_to_clean");
    }

    #[test]
    fn a_clean_run_has_a_hundred_milliseconds() {
        let missed = |ms| row::missed(&rows("clean", &measured(ms), 10, None)).join(" ");
        assert_eq!((missed(100.0), missed(101.0)), (String::new(), "fleet/clean/collection_p99".to_owned()));
    }

    #[test]
    fn a_page_is_read_by_target_and_what_others_say_is_left_out() {
        let text = "# HELP perfmon_exporter_target_up Whether …\n\
            perfmon_exporter_target_up{target=\"a\"} 1\n\
            perfmon_exporter_target_up{target=\"b\"} 0\n\
            perfmon_exporter_target_series{target=\"a\"} 500\n\
            perfmon_exporter_target_collection_seconds{target=\"a\"} 0.0125\n\
            perfmon_exporter_target_stage_seconds{target=\"a\",stage=\"query\"} 9\n\
            perfmon_exporter_target_calls_total{target=\"a\"} 21\n\
            perfmon_exporter_target_received_bytes_total{target=\"a\"} 4096\n\
            perfmon_exporter_target_sent_bytes_total{target=\"a\"} 128\n\
            perfmon_exporter_collections_total{target=\"a\",outcome=\"full\"} 5\n\
            perfmon_exporter_collections_total{target=\"a\",outcome=\"failed\"} 2\n\
            perfmon_exporter_intervals_missed_total{cause=\"busy\"} 1\n\
            perfmon_exporter_intervals_missed_total{cause=\"connecting\"} 2\n\
            perfmon_processor_information_seconds_total{target=\"a\"} 77\n\
            process_threads 9\n";
        let page = Page::read(text, &HashMap::from([("a".to_owned(), 0)]));
        let expected = TargetFigures {
            is_up: true,
            series: 500.0,
            seconds: 0.0125,
            collections: 7.0,
            not_full: 2.0,
            calls: 21.0,
            received_bytes: 4096.0,
            sent_bytes: 128.0,
        };
        assert_eq!((page.targets, page.skipped), (vec![expected], 3.0));
    }
}
