//! `perfmon-tool compat FILE…`; see `--help`.
use std::process::ExitCode;

fn main() -> ExitCode {
    perfmon_tool::main(std::env::args_os())
}
