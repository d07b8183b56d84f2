//! `cargo xtask soak`: the exporter under load for a while, with everything around it going wrong in turn, and whether
//! what it holds stays as it is.
//!
//! Hosts fall silent, answer late, send corrupt data, stop and start; the collector closes connections, throttles or
//! falls silent; many readers scrape at once, stop reading and disconnect; the configuration is reloaded, valid and
//! invalid. Every two seconds the memory, descriptors and threads of the exporter are read from `/proc`. After a warm-up
//! of a quarter of the time, ten minutes at most, they must be flat: their Theil-Sen line may not rise by more than
//! [`Allowed`] until the end. And collections of healthy hosts must not be missed or fail.

pub(crate) mod collector;
mod storm;
mod trend;
mod world;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use self::collector::MODES;
use self::trend::{At, Trend};
use self::world::{HEALTHY_TARGETS, World};
use crate::process::{end_children_on_signal, poll};
use crate::scraped::Page;
use crate::workspace::Workspace;
use crate::{Outcome, Result, http};

/// How long, and how much.
#[derive(Args)]
pub(crate) struct Options {
    /// How long the load lasts
    #[arg(long, value_name = "N", default_value_t = 30.0)]
    minutes: f64,
    /// Healthy hosts; two fifths as many faulty ones are added
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=2_000))]
    targets: u32,
    /// Writes the figures and every sample as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const INTERVAL_S: u32 = 5;
const SAMPLE_STEP: Duration = Duration::from_secs(2);
/// Samples between two disturbances.
const SAMPLES_AN_ACT: usize = 2;
const READERS: usize = 16;
/// The statuses that a reader gets while too many others read.
const CROWDED: [u16; 2] = [429, 503];
const START_TIMEOUT: Duration = Duration::from_secs(60);
const WARM_UP_MAX: Duration = Duration::from_secs(600);
const MEBIBYTE: f64 = 1_048_576.0;
/// This share of the collections of healthy hosts may be missing: other programs use this machine, too.
const MISSED_SHARE_MAX: f64 = 0.01;
/// And this many in any case.
const MISSED_MAX: f64 = 2.0;

/// How much figures may rise from the end of the warm-up to the end.
struct Allowed {
    resident: fn(Trend) -> f64,
    descriptors: f64,
    threads: f64,
}

/// Memory: 2 MiB and 3 %.
const ALLOWED: Allowed =
    Allowed { resident: |trend| 2.0 * MEBIBYTE + 0.03 * trend.median, descriptors: 6.0, threads: 2.0 };

pub(crate) fn run(options: &Options) -> Result<()> {
    end_children_on_signal()?;
    let workspace = Workspace::load()?;
    workspace.build_programs()?;
    let length = Duration::from_secs_f64(options.minutes.clamp(0.5, 24.0 * 60.0) * 60.0);
    let soaked = soak(&workspace, options.targets, length)?;
    println!("{}", soaked.sentence());
    if let Some(file) = &options.json {
        fs::write(file, format!("{:#}\n", soaked.as_json()))?;
    }
    let problems = [soaked.not_flat(), soaked.unhealthy()].concat();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ").into()) }
}

/// A soak of one minute, as a check: too short for memory to become flat, long enough for each disturbance three times.
pub(crate) fn minute(workspace: &Workspace) -> Result<Outcome> {
    let soaked = soak(workspace, 10, Duration::from_secs(60))?;
    let problems = soaked.unhealthy();
    if problems.is_empty() { Ok(Outcome::Ran(soaked.sentence())) } else { Err(problems.join("; ").into()) }
}

/// What a soak found out.
struct Soaked {
    samples: Vec<(f64, Usage)>,
    warm_up_s: f64,
    /// Of the healthy hosts, after the warm-up.
    collections: f64,
    missed: f64,
    failed: f64,
    done: Done,
}

/// How often each disturbance happened.
#[derive(Debug, Default)]
struct Done {
    scrapes: usize,
    scraped_bytes: u64,
    reloads: usize,
    refused_reloads: usize,
    comings_and_goings: usize,
    collector_modes: usize,
    collector_accepted: u64,
}

fn soak(workspace: &Workspace, targets: u32, length: Duration) -> Result<Soaked> {
    let mut world = World::start(workspace, targets, INTERVAL_S)?;
    let up = poll("all healthy hosts are up", START_TIMEOUT, || {
        Ok((HealthyHosts::look(world.address)?.up >= f64::from(targets)).then_some(()))
    });
    up.map_err(|error| world.exporter.complaint(&error.to_string()))?;
    let begun = Instant::now();
    let warm_up = (length / 4).min(WARM_UP_MAX);
    let (mut samples, mut done, mut readers) = (Vec::new(), Done::default(), Vec::new());
    let mut first = None;
    while begun.elapsed() < length {
        std::thread::sleep(SAMPLE_STEP);
        samples.push((begun.elapsed().as_secs_f64(), Usage::of(world.exporter.id())?));
        if samples.len().is_multiple_of(SAMPLES_AN_ACT) {
            act(&mut world, samples.len() / SAMPLES_AN_ACT, &mut done, &mut readers)
                .map_err(|error| world.exporter.complaint(&error.to_string()))?;
        }
        if first.is_none() && begun.elapsed() >= warm_up {
            first = Some((HealthyHosts::look(world.address)?, Instant::now()));
        }
    }
    let (before, since) = first.ok_or("too short for a warm-up")?;
    let after = HealthyHosts::look(world.address)?;
    let intervals = (since.elapsed().as_secs_f64() / f64::from(INTERVAL_S)).floor() - 1.0;
    let collections = after.full - before.full;
    done.collector_accepted = world.collector.accepted();
    done.scraped_bytes += readers.into_iter().filter_map(|reader| reader.join().ok()).sum::<u64>();
    let status = world.exporter.end()?;
    if !status.success() {
        return Err(format!("the exporter ended with {status}").into());
    }
    Ok(Soaked {
        samples,
        warm_up_s: warm_up.as_secs_f64(),
        collections,
        missed: (intervals * f64::from(targets) - collections).max(0.0),
        failed: after.failed - before.failed,
        done,
    })
}

/// Makes the next disturbance.
fn act(
    world: &mut World<'_>,
    number: usize,
    done: &mut Done,
    readers: &mut Vec<JoinHandle<u64>>,
) -> Result<()> {
    match number % 5 {
        0 => {
            done.collector_modes += 1;
            world.collector.set_mode(MODES[done.collector_modes % MODES.len()]);
        }
        1 => {
            for reader in readers.extract_if(.., |reader| reader.is_finished()) {
                done.scraped_bytes += reader.join().unwrap_or(0);
            }
            done.scrapes += READERS;
            readers.extend(storm::scrape(world.address, READERS));
        }
        2 => {
            done.comings_and_goings += 1;
            world.come_or_go()?;
        }
        3 => {
            world.write(INTERVAL_S, done.reloads.is_multiple_of(2))?;
            done.reloads += 1;
            reload(world.address, true)?;
        }
        _ => {
            world.write_broken()?;
            done.refused_reloads += 1;
            reload(world.address, false)?;
        }
    }
    Ok(())
}

/// Asks for a reload, which must succeed where `is_good` and be refused otherwise.
fn reload(exporter: SocketAddr, is_good: bool) -> Result<()> {
    // While many readers are connected, others are turned away.
    let response = poll("a reload", START_TIMEOUT, || {
        let response = http::post(exporter, "/-/reload")?;
        Ok((!CROWDED.contains(&response.status)).then_some(response))
    })?;
    if (response.status == 200) == is_good {
        Ok(())
    } else {
        Err(format!("a reload was answered {}: {}", response.status, response.body).into())
    }
}

/// What the page says of the healthy hosts.
#[derive(Clone, Copy, Debug, Default)]
struct HealthyHosts {
    up: f64,
    full: f64,
    failed: f64,
}

impl HealthyHosts {
    fn look(exporter: SocketAddr) -> Result<Self> {
        let page = poll("a page", START_TIMEOUT, || {
            let response = http::get(exporter, "/metrics", "text/plain;version=0.0.4")?;
            Ok((response.status == 200).then_some(response.body))
        })?;
        let page = Page::read(&page)?;
        let mut healthy = Self::default();
        for sample in page.samples.iter().filter(|sample| sample.label("target").starts_with(HEALTHY_TARGETS))
        {
            match (sample.name.as_str(), sample.label("outcome")) {
                ("perfmon_exporter_target_up", _) => healthy.up += sample.value,
                ("perfmon_exporter_collections_total", "full" | "partial") => healthy.full += sample.value,
                ("perfmon_exporter_collections_total", _) => healthy.failed += sample.value,
                _ => {}
            }
        }
        Ok(healthy)
    }
}

impl Soaked {
    fn trend(&self, figure: impl Fn(&Usage) -> f64) -> Option<Trend> {
        let after = self.samples.iter().filter(|(seconds, _)| *seconds >= self.warm_up_s);
        let series: Vec<At> =
            after.map(|(seconds, usage)| At { seconds: *seconds, figure: figure(usage) }).collect();
        Trend::of(&series)
    }

    /// The figures, in one sentence.
    fn sentence(&self) -> String {
        let show = |trend: Option<Trend>, unit: f64| {
            trend.map_or_else(String::new, |trend| {
                format!("{:.1} ({:+.1})", trend.median / unit, trend.rise() / unit)
            })
        };
        let Done { scrapes, reloads, refused_reloads, comings_and_goings, collector_modes, .. } = self.done;
        let accepted = self.done.collector_accepted;
        format!(
            "{:.1} minutes; resident {} MiB, descriptors {}, threads {}: median, and rise after {:.0} s; \
             {} collections of healthy hosts, {} missed, {} failed; {scrapes} scrapes of {:.0} MiB, {reloads} reloads and \
             {refused_reloads} refused ones, {comings_and_goings} starts and stops of hosts, {collector_modes} collector \
             failure modes, {accepted} requests accepted by the collector",
            self.samples.last().map_or(0.0, |(seconds, _)| seconds / 60.0),
            show(self.trend(|usage| usage.resident_bytes), MEBIBYTE),
            show(self.trend(|usage| usage.descriptors), 1.0),
            show(self.trend(|usage| usage.threads), 1.0),
            self.warm_up_s,
            self.collections,
            self.missed,
            self.failed,
            self.scraped_mebibytes(),
        )
    }

    #[expect(clippy::cast_precision_loss, reason = "for people")]
    fn scraped_mebibytes(&self) -> f64 {
        self.done.scraped_bytes as f64 / MEBIBYTE
    }

    fn as_json(&self) -> Value {
        let trend = |trend: Option<Trend>| {
            trend.map(|trend| json!({"median": trend.median, "first": trend.first, "last": trend.last}))
        };
        let row = |(seconds, usage): &(f64, Usage)| {
            json!([seconds, usage.resident_bytes, usage.descriptors, usage.threads])
        };
        json!({
            "warm_up_s": self.warm_up_s,
            "resident_bytes": trend(self.trend(|usage| usage.resident_bytes)),
            "descriptors": trend(self.trend(|usage| usage.descriptors)),
            "threads": trend(self.trend(|usage| usage.threads)),
            "collections": self.collections,
            "missed": self.missed,
            "failed": self.failed,
            "scrapes": self.done.scrapes,
            "scraped_bytes": self.done.scraped_bytes,
            "reloads": self.done.reloads,
            "refused_reloads": self.done.refused_reloads,
            "comings_and_goings": self.done.comings_and_goings,
            "collector_requests": self.done.collector_accepted,
            "samples": {
                "columns": ["seconds", "resident_bytes", "descriptors", "threads"],
                "rows": self.samples.iter().map(row).collect::<Vec<_>>(),
            },
        })
    }

    /// What is not flat.
    fn not_flat(&self) -> Vec<String> {
        let resident = self.trend(|usage| usage.resident_bytes);
        let rows = [
            ("resident bytes", resident, resident.map_or(0.0, ALLOWED.resident)),
            ("descriptors", self.trend(|usage| usage.descriptors), ALLOWED.descriptors),
            ("threads", self.trend(|usage| usage.threads), ALLOWED.threads),
        ];
        let rose = |(what, trend, allowed): (&str, Option<Trend>, f64)| {
            let rise = trend.map_or(f64::INFINITY, Trend::rise);
            (rise > allowed).then(|| format!("{what} rose by {rise:.0}, and {allowed:.0} are allowed"))
        };
        rows.into_iter().filter_map(rose).collect()
    }

    /// What failed on healthy hosts because of the others.
    fn unhealthy(&self) -> Vec<String> {
        let Self { collections, missed, failed, .. } = self;
        let noticed = missed + failed > (MISSED_SHARE_MAX * collections).max(MISSED_MAX);
        let problem = || {
            format!("of {collections} collections of healthy hosts {missed} were missed and {failed} failed")
        };
        noticed.then(problem).into_iter().collect()
    }
}

// What a process holds, as the kernel counts it.

#[derive(Clone, Copy, Debug, PartialEq)]
struct Usage {
    resident_bytes: f64,
    threads: f64,
    descriptors: f64,
}

impl Usage {
    fn of(id: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let entry = |name: &str| -> Option<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches("kB").trim().parse().ok()
        };
        let resident = entry("VmRSS:").ok_or("no VmRSS: the process has ended")?;
        #[expect(clippy::cast_precision_loss, reason = "a few thousand at most")]
        Ok(Self {
            resident_bytes: resident * 1024.0,
            threads: entry("Threads:").ok_or("no Threads in status")?,
            descriptors: fs::read_dir(format!("/proc/{id}/fd"))?.count() as f64,
        })
    }
}
