//! `perfmon-exporter --config FILE`; see `--help`.
use std::process::ExitCode;

/// The C library's allocator keeps an arena for each thread, and each keeps what its largest page or push once needed:
/// in ten minutes of `cargo xtask soak` it held 137 MiB and rose, where this one holds 71 and is flat. (mimalloc: 87; the
/// C library's with one arena: 80, flat.) Plugins have their own.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    perfmon_exporter::process::main(std::env::args_os())
}
