//! `cargo xtask fuzz`: each fuzz target for some seconds, one after another, and a table of what they found.
//!
//! cargo-fuzz builds all targets once; then their programs run directly, so that ending one leaves no cargo behind.
//! New inputs go to `fuzz/corpus/TARGET`, findings to `fuzz/artifacts/TARGET`; git ignores both.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::Result;
use crate::group::{self, Ended};
use crate::process::end_on_signal;
use crate::workspace::{Workspace, capture, cargo, run as run_here};

/// How long, and which targets.
#[derive(Args)]
pub(crate) struct Options {
    /// How long each target is fuzzed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seconds: u32,
    /// Only the targets whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Processes that fuzz one target at the same time (libFuzzer's -fork)
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: u32,
}

/// Limits that are part of what is proved.
const LIMITS: [&str; 3] = ["-rss_limit_mb=1024", "-malloc_limit_mb=64", "-timeout=5"];
/// A target that is this much later than asked has a fuzzer that hangs.
const LATENESS_MAX: Duration = Duration::from_secs(120);
/// Where the seeds are, a folder for each target.
const SEEDS: &str = "crates/testing/oracles/tests/data";

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load()?;
    let folder = workspace.root.join("fuzz");
    let targets = targets(&folder, &options.only)?;
    if targets.is_empty() {
        return Err(format!("no target of fuzz/Cargo.toml contains `{}`", options.only).into());
    }
    let ended = end_on_signal()?;
    let compiler = Compiler::find();
    ensure_cargo_fuzz()?;
    build(&compiler, &folder, &targets, &options.only, &ended)?;
    println!("{} targets, {} s each, {} process(es) a target", targets.len(), options.seconds, options.jobs);
    let mut rows = Vec::new();
    for target in &targets {
        let plan = Plan::new(&workspace.root, &target.name)?;
        let row = fuzz(&plan, options, &ended)?;
        let is_last = row.verdict == Verdict::Interrupted;
        println!("{}", row.line());
        rows.push(row);
        if is_last {
            break;
        }
    }
    finish(&rows, targets.len())
}

/// A binary of `fuzz/Cargo.toml`.
struct Target {
    name: String,
    /// Whether it needs the default features, with which the whole exporter is built.
    needs_exporter: bool,
}

fn targets(folder: &Path, only: &str) -> Result<Vec<Target>> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
    let metadata: Value = serde_json::from_str(&capture(cargo().current_dir(folder).args(arguments))?)?;
    let targets = metadata["packages"][0]["targets"].as_array().cloned().unwrap_or_default();
    let programs = targets.iter().filter(|target| target["kind"][0] == "bin").map(|target| Target {
        name: target["name"].as_str().unwrap_or_default().to_owned(),
        needs_exporter: target["required-features"].as_array().is_some_and(|features| !features.is_empty()),
    });
    Ok(programs.filter(|target| target.name.contains(only)).collect())
}

/// The compiler of the targets. libFuzzer needs unstable options, which a stable compiler takes if it is told to.
enum Compiler {
    /// A toolchain of rustup.
    Nightly(String),
    Stable,
}

impl Compiler {
    fn find() -> Self {
        let installed = capture(Command::new("rustup").args(["toolchain", "list"])).unwrap_or_default();
        let nightly = installed.lines().filter_map(|line| line.split_whitespace().next());
        match nightly.into_iter().find(|name| name.starts_with("nightly")) {
            Some(name) => Self::Nightly(name.to_owned()),
            None => Self::Stable,
        }
    }

    fn cargo(&self) -> Command {
        match self {
            Self::Nightly(name) => {
                let mut command = Command::new("rustup");
                command.args(["run", name, "cargo"]);
                command
            }
            Self::Stable => {
                let mut command = cargo();
                command.env("RUSTC_BOOTSTRAP", "1");
                command
            }
        }
    }
}

/// Installs cargo-fuzz where it is missing.
fn ensure_cargo_fuzz() -> Result<()> {
    if capture(cargo().args(["fuzz", "--version"])).is_ok() {
        return Ok(());
    }
    println!("cargo-fuzz is missing: `cargo install cargo-fuzz --locked`");
    run_here(cargo().args(["install", "cargo-fuzz", "--locked"]))
}

fn build(
    compiler: &Compiler,
    folder: &Path,
    targets: &[Target],
    only: &str,
    ended: &AtomicBool,
) -> Result<()> {
    // Without a name cargo-fuzz builds all of them at once.
    let names: Vec<Option<&str>> = if only.is_empty() {
        vec![None]
    } else {
        targets.iter().map(|target| Some(target.name.as_str())).collect()
    };
    // One set of features for all of them: another one builds everything again.
    let features =
        if targets.iter().any(|target| target.needs_exporter) { None } else { Some("--no-default-features") };
    for name in names {
        let mut command = compiler.cargo();
        command.current_dir(folder).args(["fuzz", "build", "--fuzz-dir", "."]).args(features).args(name);
        command.arg("--target-dir").arg(folder.join("target"));
        match group::run(&mut command, None, ended)? {
            Ended::Itself(status) if status.success() => {}
            Ended::Itself(status) => return Err(format!("cargo fuzz build: {status}").into()),
            Ended::Interrupted | Ended::Late => return Err("interrupted while building".into()),
        }
    }
    Ok(())
}

/// What one target reads, runs and writes.
struct Plan<'a> {
    root: &'a Path,
    target: &'a str,
    program: PathBuf,
    corpus: PathBuf,
    artifacts: PathBuf,
    seeds: PathBuf,
}

impl<'a> Plan<'a> {
    fn new(root: &'a Path, target: &'a str) -> Result<Self> {
        let seeds = root.join(SEEDS).join(target);
        if !seeds.is_dir() {
            return Err(format!("{target}: no seeds in {SEEDS}/{target}").into());
        }
        let fuzz = root.join("fuzz");
        let plan = Self {
            root,
            target,
            program: fuzz.join("target/x86_64-unknown-linux-gnu/release").join(target),
            corpus: fuzz.join("corpus").join(target),
            artifacts: fuzz.join("artifacts").join(target),
            seeds,
        };
        fs::create_dir_all(&plan.corpus)?;
        fs::create_dir_all(&plan.artifacts)?;
        Ok(plan)
    }

    fn command(&self, options: &Options) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.root).args(LIMITS).arg("-print_final_stats=1");
        command.arg(format!("-max_total_time={}", options.seconds));
        command.arg(format!("-artifact_prefix={}/", self.artifacts.display()));
        if options.jobs > 1 {
            command.arg(format!("-fork={}", options.jobs));
        }
        command.arg(&self.corpus).arg(&self.seeds);
        // As cargo-fuzz sets it: Rust's own symbols are defined once, in spite of what the sanitizer sees.
        command.env("ASAN_OPTIONS", "detect_odr_violation=0");
        command
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Ok,
    /// The inputs that were written, and the fuzzer's output.
    Finding(Vec<PathBuf>, String),
    Interrupted,
}

/// A line of the table.
struct Row {
    target: String,
    seconds: f64,
    executions: u64,
    corpus: usize,
    verdict: Verdict,
    how_to_keep: String,
}

impl Row {
    fn line(&self) -> String {
        let verdict = match &self.verdict {
            Verdict::Ok => "ok".to_owned(),
            Verdict::Finding(..) => "FINDING".to_owned(),
            Verdict::Interrupted => "interrupted".to_owned(),
        };
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let rate = if self.seconds > 0.0 { self.executions as f64 / self.seconds } else { 0.0 };
        format!(
            "{:<18} {:>8.0} {:>13} {:>10.0} {:>8}  {verdict}",
            self.target, self.seconds, self.executions, rate, self.corpus
        )
    }
}

fn fuzz(plan: &Plan<'_>, options: &Options, ended: &AtomicBool) -> Result<Row> {
    let mut output = Output::default();
    let limit = Duration::from_secs(options.seconds.into()) + LATENESS_MAX;
    let begun = std::time::Instant::now();
    let how = group::run_reading(&mut plan.command(options), limit, ended, |line| output.read(line))?;
    let seconds = begun.elapsed().as_secs_f64();
    let verdict = match how {
        Ended::Interrupted => Verdict::Interrupted,
        Ended::Itself(status) if status.success() && output.artifacts.is_empty() => Verdict::Ok,
        Ended::Itself(status) => {
            Verdict::Finding(output.artifacts.clone(), format!("{status}\n{}", output.last_lines()))
        }
        Ended::Late => {
            let late =
                format!("the fuzzer did not end within {} s\n{}", limit.as_secs(), output.last_lines());
            Verdict::Finding(output.artifacts.clone(), late)
        }
    };
    Ok(Row {
        target: plan.target.to_owned(),
        seconds,
        executions: output.executions(),
        corpus: fs::read_dir(&plan.corpus)?.count(),
        verdict,
        how_to_keep: format!(
            "cp ARTIFACT {}/NAME, mend it, and `cargo test -p oracles` replays it; smaller: `cargo fuzz tmin {} ARTIFACT` in fuzz/",
            plan.seeds.strip_prefix(plan.root).unwrap_or(&plan.seeds).display(),
            plan.target
        ),
    })
}

/// Prints the table, and fails where something was found or not everything ran.
fn finish(rows: &[Row], wanted: usize) -> Result<()> {
    println!(
        "\n{:<18} {:>8} {:>13} {:>10} {:>8}  verdict",
        "target", "seconds", "executions", "per second", "corpus"
    );
    rows.iter().for_each(|row| println!("{}", row.line()));
    let mut findings = 0;
    for row in rows {
        if let Verdict::Finding(artifacts, said) = &row.verdict {
            findings += 1;
            println!("\nfinding: {}: {said}", row.target);
            artifacts.iter().for_each(|path| println!("  input: {}", path.display()));
            println!("  to keep it: {}", row.how_to_keep);
        }
    }
    let executions: u64 = rows.iter().map(|row| row.executions).sum();
    let done = rows.iter().filter(|row| row.verdict != Verdict::Interrupted).count();
    println!("\n{done} of {wanted} targets ran, {executions} executions, {findings} with a finding");
    if findings > 0 {
        Err(format!("{findings} targets have a finding").into())
    } else if done < wanted {
        Err("interrupted".into())
    } else {
        Ok(())
    }
}

// What libFuzzer prints: how much it did, and what it wrote down.

const LINES_KEPT: usize = 30;

/// The facts of a run, read line by line.
#[derive(Debug, Default)]
struct Output {
    /// Inputs that were written down as findings.
    artifacts: Vec<PathBuf>,
    /// From `stat::`, which a run without -fork prints at its end.
    final_executions: Option<u64>,
    /// From the last line of progress.
    last_executions: u64,
    last: VecDeque<String>,
}

impl Output {
    /// Reads one line of the standard output or error.
    fn read(&mut self, line: &str) {
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            let path = PathBuf::from(path.trim());
            // With -fork the process that found it prints it, and then the one that started it.
            if !self.artifacts.contains(&path) {
                self.artifacts.push(path);
            }
            return;
        }
        if let Some(rest) = line.strip_prefix("stat::number_of_executed_units:") {
            self.final_executions = rest.trim().parse().ok();
        } else if let Some(count) = executions(line) {
            self.last_executions = count;
            // Progress explains no failure.
            return;
        }
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
    }

    /// Inputs that were run.
    fn executions(&self) -> u64 {
        self.final_executions.unwrap_or(self.last_executions)
    }

    /// The last lines of output, to find out what went wrong.
    fn last_lines(&self) -> String {
        self.last.iter().map(|line| format!("    {line}\n")).collect::<String>().trim_end().to_owned()
    }
}

/// The count of a line such as `#4096  pulse cov: …`, or with -fork `#4096: cov: …`.
fn executions(line: &str) -> Option<u64> {
    let (count, _) = line.strip_prefix('#')?.split_once(['\t', ' ', ':'])?;
    count.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Output {
        let mut output = Output::default();
        text.lines().for_each(|line| output.read(line));
        output
    }

    #[test]
    fn executions_come_from_the_final_figures_or_else_from_progress() {
        let progress = "#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 40Mb\n\
                        #65536\tpulse  cov: 12 ft: 19 corp: 4/9b lim: 652 exec/s: 32768 rss: 41Mb\n";
        assert_eq!(read(progress).executions(), 65_536);
        let finals = "stat::number_of_executed_units: 70001\nstat::average_exec_per_sec:     35000\n";
        assert_eq!(read(&format!("{progress}{finals}")).executions(), 70_001);
        let forks =
            "#812: cov: 3 ft: 4 corp: 2 exec/s: 406 oom/timeout/crash: 0/0/0 time: 2s job: 2 dft_time: 0\n";
        assert_eq!(read(forks).executions(), 812);
        assert_eq!(read("").executions(), 0);
    }

    #[test]
    fn a_finding_is_the_file_that_was_written_and_each_file_is_told_once() {
        let output = read(
            "#9\tNEW    cov: 1 ft: 1\n==1== ERROR: libFuzzer: deadly signal\n\
             artifact_prefix='a/'; Test unit written to a/crash-1\nBase64: AA==\n\
             artifact_prefix='a/'; Test unit written to a/crash-1\n",
        );
        assert_eq!(output.artifacts, [PathBuf::from("a/crash-1")]);
        // Progress would push out what explains the failure.
        assert_eq!(output.last_lines(), "    ==1== ERROR: libFuzzer: deadly signal\n    Base64: AA==");
    }

    #[test]
    fn what_is_kept_of_the_output_has_a_limit() {
        let output = read(&"word\n".repeat(10 * LINES_KEPT));
        assert_eq!(output.last.len(), LINES_KEPT);
    }
}
