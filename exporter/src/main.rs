//! `perfmon-exporter --config FILE`; see `--help`.
use std::process::ExitCode;

fn main() -> ExitCode {
    perfmon_exporter::process::main(std::env::args_os())
}
