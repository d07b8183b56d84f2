//! `cargo xtask bench`: figures of whole programs. One benchmark a folder; without a name it lists them.

mod fleet;
mod pipeline;
mod row;
mod usage;

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
