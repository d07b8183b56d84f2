//! The project's own tool. `cargo xtask help` lists its commands; what each does stands in its module.

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
mod report;
mod scraped;
mod soak;
mod stage;
mod test;
mod third_party;
mod workspace;

use std::process::ExitCode;

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
    /// The architecture's rules: who may import whom, where unsafe may stand, how long a file may be
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
