//! `cargo xtask bench`: figures of whole programs. One benchmark a folder; without a name it lists them.

mod fleet;
mod pipeline;
mod row;

use std::fs;

use clap::{Args, Subcommand};

use crate::{Result, process};

/// Which benchmark.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    benchmark: Option<Benchmark>,
}

#[derive(Subcommand)]
enum Benchmark {
    /// A fleet of simulated hosts: durations, missed intervals, memory and processor time, without faults and with
    Fleet(fleet::Options),
    /// An idle exporter with 1,000 targets: processor time
    Idle(fleet::idle::Options),
    /// A million series: encoders, pushes, ingest and registration, beside memcpy and peers
    Pipeline(pipeline::Options),
}

pub(crate) fn run(options: &Options) -> Result<()> {
    // The programs of a benchmark end with it.
    process::end_children_on_signal()?;
    match &options.benchmark {
        Some(Benchmark::Fleet(options)) => fleet::run(options),
        Some(Benchmark::Idle(options)) => fleet::idle::run(options),
        Some(Benchmark::Pipeline(options)) => pipeline::run(options),
        None => {
            println!("fleet    a fleet of simulated hosts, polled by one exporter");
            println!("idle     an idle exporter with 1,000 targets");
            println!("pipeline a million series through the exporter, beside peers");
            println!("\n`cargo xtask bench NAME --help` lists the options.");
            Ok(())
        }
    }
}

// What a process uses, as the kernel counts it.

/// Processor time and memory of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Usage {
    /// User and system time.
    cpu_s: f64,
    resident_bytes: f64,
    /// Its share of what it has in common with others counted only.
    proportional_bytes: f64,
}

impl Usage {
    fn of(id: u32) -> Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
        let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
        Ok(Self {
            cpu_s: cpu_seconds(&stat).ok_or("no processor time in stat")?,
            resident_bytes: bytes(&rollup, "Rss:").ok_or("no Rss in smaps_rollup")?,
            proportional_bytes: bytes(&rollup, "Pss:").ok_or("no Pss in smaps_rollup")?,
        })
    }

    /// The processor time since `earlier`, and the memory of now.
    fn since(self, earlier: Self) -> Self {
        Self { cpu_s: self.cpu_s - earlier.cpu_s, ..self }
    }

    /// Several processes as one.
    fn of_all(ids: &[u32]) -> Result<Self> {
        let mut sum = Self::default();
        for id in ids {
            let usage = Self::of(*id)?;
            sum.cpu_s += usage.cpu_s;
            sum.resident_bytes += usage.resident_bytes;
            sum.proportional_bytes += usage.proportional_bytes;
        }
        Ok(sum)
    }
}

/// Processor time that the whole machine has spent on something.
fn machine_cpu_s() -> Result<f64> {
    let stat = fs::read_to_string("/proc/stat")?;
    Ok(busy_seconds(&stat).ok_or("no processor times in /proc/stat")?)
}

/// proc(5): the line `cpu` holds user, nice, system, idle, iowait, irq, softirq and steal, and then guests' times,
/// which are in the first ones already.
fn busy_seconds(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<f64> = line.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
    let idle: f64 = ticks.get(3..5)?.iter().sum();
    Some((ticks.iter().sum::<f64>() - idle) / ticks_a_second())
}

/// proc(5): after the name in parentheses, `utime` is field 14 of the line and `stime` field 15.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(14 - 3);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / ticks_a_second())
}

#[expect(clippy::cast_precision_loss, reason = "a hundred or so")]
fn ticks_a_second() -> f64 {
    rustix::param::clock_ticks_per_second().max(1) as f64
}

/// A line such as `Rss:     12345 kB`.
fn bytes(rollup: &str, name: &str) -> Option<f64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_time() {
        let usage = Usage::of(std::process::id()).unwrap();
        assert!(usage.resident_bytes > 100_000.0 && usage.proportional_bytes > 10_000.0, "{usage:?}");
        let twice = Usage::of_all(&[std::process::id(), std::process::id()]).unwrap();
        assert!(twice.resident_bytes > 1.5 * usage.resident_bytes, "{twice:?}");
    }

    #[test]
    fn a_program_name_with_parentheses_does_not_move_the_fields() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 9 0 100 2000000 512";
        assert_eq!(cpu_seconds(stat), Some(200.0 / ticks_a_second()));
        assert_eq!(bytes("Rss:  12 kB\nPss:   4 kB\n", "Pss:"), Some(4096.0));
    }
    #[test]
    fn a_machine_that_waits_is_not_busy() {
        let stat = "cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_seconds(stat), Some(171.0 / ticks_a_second()));
    }
}
