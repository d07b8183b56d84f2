//! The simulated Windows host as a program; `--help` tells how to use it.

mod cli;
mod run;
mod sets;
mod share;
mod stats;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::cli::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result =
        runtime.map_err(|source| run::Error::Io { doing: "start the async runtime".to_owned(), source });
    match result.and_then(|runtime| runtime.block_on(run::run(options))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windows-sim: {error}");
            ExitCode::from(2)
        }
    }
}
