//! `cargo xtask compare OLD NEW`: whether two builds of the exporter say the same of one host, byte for byte.
//!
//! | module | job |
//! | --- | --- |
//! | `world` | the host, the exporter, and what is recorded of it |
//! | `receiver`, `protobuf` | what the exporter sends |
//! | `normal`, `own` | what two runs cannot have equal |
//! | `recording` | the difference |

mod normal;
mod own;
mod protobuf;
mod receiver;
mod recording;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use regex::Regex;

use self::recording::Comparison;
use self::world::World;
use crate::{Result, process};

/// The longest difference that is printed whole.
const DIFF_LINES_MAX: usize = 200;

const EXAMPLES: &str = "\
Examples:
  A release before and after a change, each with its plugins beside it:
    cargo xtask compare ../before/target/release target/release
  HELP texts of one family may differ, and all that a file of patterns names:
    cargo xtask compare OLD NEW --allow '^# HELP perfmon_memory_' --allow-file release-notes.allow
  The earlier exporter needs another configuration; both recordings are kept:
    cargo xtask compare OLD NEW --old-config crates/xtask/src/compare/perfmon.yml --keep /tmp/recordings

A folder has perfmon-exporter, libplugin_pcq.so, libplugin_comt.so, libplugin_rpc_state.so and libplugin_pla.so; NEW has
windows-sim, too, unless --simulator says where it is. Databases are read with sqlite3.

Exit codes:
  0  nothing differs
  1  something does, which is shown; or a program failed";

/// Which builds are compared, and what may differ.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// The folder of the earlier programs
    old: PathBuf,
    /// The folder of the later programs
    new: PathBuf,
    /// The simulated host of both [default: windows-sim of NEW]
    #[arg(long, value_name = "FILE")]
    simulator: Option<PathBuf>,
    /// The configuration of both, with words such as %WEB% for ports and folders [default: crates/xtask/src/compare/perfmon.yml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The configuration of OLD alone
    #[arg(long, value_name = "FILE")]
    old_config: Option<PathBuf>,
    /// Lines that match this may differ
    #[arg(long, value_name = "REGEX")]
    allow: Vec<Regex>,
    /// Lines that match a line of this file may differ; empty lines and those with # at their start say nothing
    #[arg(long, value_name = "FILE")]
    allow_file: Option<PathBuf>,
    /// Keeps both recordings, as they were compared, in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    process::end_children_on_signal()?;
    let mut allowed = options.allow.clone();
    if let Some(file) = &options.allow_file {
        allowed.extend(patterns(&read(file)?).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    let config = options.config.as_deref().map_or_else(|| Ok(CONFIGURATION.to_owned()), read)?;
    let old_config = options.old_config.as_deref().map_or_else(|| Ok(config.clone()), read)?;
    let simulator = options.simulator.clone().unwrap_or_else(|| options.new.join("windows-sim"));
    let folder = tempfile::Builder::new().prefix("perfmon-compare-").tempdir()?;
    let kept = options.keep.clone().unwrap_or_else(|| folder.path().join("recordings"));
    let world = World::new(folder.path(), &simulator)?;
    let comparison = compare(&world, (&options.old, &old_config), (&options.new, &config), &allowed, &kept)?;
    println!("Not compared, because no two runs have it the same:");
    let normalised = normal::TABLE.iter().map(|normalisation| normalisation.what);
    let varying = own::VARYING.iter().map(|varying| varying.what);
    for what in normalised.chain(varying).chain(OTHERS) {
        println!("  {what}");
    }
    let Comparison { diff, lines, allowed } = comparison;
    println!("{lines} lines of both were compared, {allowed} that may differ were not");
    if diff.is_empty() {
        println!("Nothing differs.");
        return Ok(());
    }
    diff.lines().take(DIFF_LINES_MAX).for_each(|line| println!("{line}"));
    let more = diff.lines().count().saturating_sub(DIFF_LINES_MAX);
    if more > 0 {
        println!("… {more} more lines; --keep DIR keeps both recordings, for `diff -r`");
    }
    Err("the two differ; what a release changes on purpose is passed by --allow".into())
}

/// What is left out elsewhere than in the two tables.
const OTHERS: [&str; 6] = [
    "the version that each program says of itself, wherever it stands",
    "the port of the host's objects, which the system chooses; all others are the same for both",
    "the order of lines of the log, of samples that have none, and of what is sent by protobuf",
    "whether a plugin was slow, as far as a metric says so",
    "records of logs after the third, and how often each message of the log and each request came",
    "durations in the log, and the HTTP headers Date, Content-Length and ETag",
];

/// What both are started with.
const CONFIGURATION: &str = include_str!("perfmon.yml");

fn compare(
    world: &World<'_>,
    old: (&Path, &str),
    new: (&Path, &str),
    allowed: &[Regex],
    kept: &Path,
) -> Result<Comparison> {
    let record = |(programs, configuration): (&Path, &str), name: &str| {
        println!("recording {name}: {}", programs.display());
        world.record(programs, configuration).map_err(|error| format!("{}: {error}", programs.display()))
    };
    let (old, new) = (record(old, "OLD")?, record(new, "NEW")?);
    old.compare(&new, allowed, kept)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()).into())
}

fn patterns(text: &str) -> Result<Vec<Regex>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|line| Ok(Regex::new(line)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_patterns_has_one_in_each_line_and_may_have_comments() {
        let read = patterns("# 0.2: memory\n\n^# HELP perfmon_memory_\n").unwrap();
        assert_eq!(read.iter().map(Regex::as_str).collect::<Vec<_>>(), ["^# HELP perfmon_memory_"]);
        assert!(patterns("(").is_err());
    }
}
