//! The project's own tool. `cargo xtask help` lists its commands; what each does is in its module.

mod bench;
mod check;
mod compare;
mod conformance;
mod demo;
mod fuzz;
mod group;
mod http;
mod peers;
mod process;
mod quick;
mod scraped;
mod soak;
mod stage;
mod test;
mod third_party;
mod workspace;

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};

use crate::conformance::dashboards::public::files as public_dashboards;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Checks, tests and shows perfmon-exporter")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The architecture's rules: who may import whom, where unsafe may be, how long a file may be
    Check(check::Options),
    /// Everything: rules, format, lints, tests, documents, and conformance checks with peers
    Test(test::Options),
    /// A simulated Windows host and the exporter on loopback, until ended
    Demo(demo::Options),
    /// Which queries of dashboards that others made have series, with windows_exporter's names
    PublicDashboards(public_dashboards::Options),
    /// Whether two builds of the exporter say the same of one host, byte for byte
    Compare(compare::Options),
    /// Figures of whole programs; without a name, which there are
    Bench(bench::Options),
    /// The exporter under load for a while, with faults all around it: whether what it holds stays flat
    Soak(soak::Options),
    /// Each fuzz target for some seconds, and what was found
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Demo(options) => demo::run(&options),
        Command::PublicDashboards(options) => public_dashboards::run(&options),
        Command::Compare(options) => compare::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Soak(options) => soak::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What became of one check.
pub(crate) enum Outcome {
    /// It ran and holds; the sentence is the figure or fact that it found.
    Ran(String),
    /// It did not run: why, and how to get what it needs.
    Skipped(String),
}

/// Collects outcomes. A failing check does not hide those behind it.
#[derive(Default)]
pub(crate) struct Report {
    ran: usize,
    skipped: Vec<String>,
    failed: Vec<String>,
}

impl Report {
    /// Runs one check and prints a line about it.
    pub(crate) fn check(&mut self, name: &str, run: impl FnOnce() -> Result<Outcome>) {
        println!("check: {name}");
        let begun = Instant::now();
        let outcome = run();
        let seconds = begun.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Ran(found)) => {
                self.ran += 1;
                println!("ran: {name}{} ({seconds:.1} s)", prefixed(&found));
            }
            Ok(Outcome::Skipped(why)) => {
                println!("skipped: {name}: {why}");
                self.skipped.push(name.to_owned());
            }
            Err(error) => {
                println!("failed: {name}: {error}");
                self.failed.push(name.to_owned());
            }
        }
    }

    /// The last line. `require` makes a skipped check an error.
    pub(crate) fn finish(self, require: bool) -> Result<()> {
        let Self { ran, skipped, failed } = self;
        if require && !skipped.is_empty() {
            println!("required but skipped: {}", skipped.join(", "));
        }
        if !failed.is_empty() {
            println!("failed: {}", failed.join(", "));
        }
        println!("{ran} checks ran, {} skipped, {} failed", skipped.len(), failed.len());
        if failed.is_empty() && (skipped.is_empty() || !require) {
            Ok(())
        } else {
            Err("not everything holds".into())
        }
    }
}

fn prefixed(found: &str) -> String {
    if found.is_empty() { String::new() } else { format!(": {found}") }
}
