//! `cargo xtask compare OLD NEW`: whether two builds of the exporter say the same of one host, byte for byte.
//!
//! | module | job |
//! | --- | --- |
//! | `world` | the host, the exporter, and what is recorded of it |
//! | `protobuf` | what the exporter sends |
//! | `normal`, `own` | what two runs cannot have equal |

mod normal;
mod own;
mod protobuf;
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use parking_lot::Mutex;
use regex::Regex;

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
    "the version that each program says of itself, wherever it is",
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

// Takes what the exporter sends, requests of OTLP and of alerts, and keeps all of it.

const TIMEOUT: Duration = Duration::from_secs(60);
const BODY_BYTES_MAX: u64 = 64 << 20;

#[derive(Clone)]
struct Request {
    path: String,
    body: Vec<u8>,
}

/// Its threads live as long as the process.
struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let received: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // The thread ends with its connection.
                std::thread::spawn(move || drop(serve(stream, &kept)));
            }
        });
        Ok(Self { address, received })
    }

    /// All that came so far, oldest first.
    fn received(&self) -> Vec<Request> {
        self.received.lock().clone()
    }

    /// What came before belongs to another exporter.
    fn forget(&self) {
        self.received.lock().clear();
    }
}

fn serve(stream: TcpStream, received: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some((mut request, length)) = head(&mut reader)? else { return Ok(()) };
        request.body.resize(usize::try_from(length.min(BODY_BYTES_MAX)).unwrap_or_default(), 0);
        reader.read_exact(&mut request.body)?;
        received.lock().push(request);
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
        reader.get_mut().write_all(answer.as_bytes())?;
    }
}

/// The request without its body, and how long that is; nothing where the connection ended.
fn head(reader: &mut impl BufRead) -> std::io::Result<Option<(Request, u64)>> {
    let mut request = Request { path: String::new(), body: Vec::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if request.path.is_empty() {
            line.split(' ').nth(1).unwrap_or("/").clone_into(&mut request.path);
            continue;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            return Ok(Some((request, length)));
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

// What one exporter served, sent and wrote, as files of lines, and how two of these differ.

/// Texts by names such as `metrics/text`.
#[derive(Default)]
struct Recording {
    parts: BTreeMap<String, String>,
}

/// How two recordings differ.
struct Comparison {
    /// A unified diff; empty where nothing differs.
    diff: String,
    /// How many lines of both were compared.
    lines: usize,
    /// How many lines of either side were left out because they may differ.
    allowed: usize,
}

impl Recording {
    /// Compares all lines but those that may differ; both recordings are kept in `folder`, as they were compared.
    fn compare(&self, new: &Self, allowed: &[Regex], folder: &Path) -> Result<Comparison> {
        let mut left_out = 0;
        for (recording, name) in [(self, "old"), (new, "new")] {
            left_out += recording.write(&folder.join(name), allowed)?;
        }
        let mut git = Command::new("git");
        git.current_dir(folder).args([
            "--no-pager",
            "diff",
            "--no-index",
            "--no-color",
            "--unified=1",
            "old",
            "new",
        ]);
        let output = git.stdin(Stdio::null()).output().map_err(|error| format!("git: {error}"))?;
        // 1 is a difference.
        if output.status.code().is_none_or(|code| code > 1) {
            return Err(format!("git diff: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let lines = self.parts.values().chain(new.parts.values());
        let lines = lines.map(|text| text.lines().count()).sum();
        let diff = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Comparison { diff, lines, allowed: left_out })
    }

    fn write(&self, folder: &Path, allowed: &[Regex]) -> Result<usize> {
        let mut left_out = 0;
        for (name, text) in &self.parts {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            let mut kept = String::new();
            for line in text.lines() {
                if allowed.iter().any(|pattern| pattern.is_match(line)) {
                    left_out += 1;
                } else {
                    kept.push_str(line);
                    kept.push('\n');
                }
            }
            fs::write(file, kept)?;
        }
        Ok(left_out)
    }
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

    const PAGE: &str = "# HELP perfmon_system_processes Processes.\n# TYPE perfmon_system_processes gauge\n\
                        perfmon_system_processes{target=\"a\"} 61\n";

    fn recording(page: &str) -> Recording {
        Recording { parts: [("metrics/text".to_owned(), page.to_owned())].into() }
    }

    fn check(new: &Recording, allowed: &[&str]) -> Comparison {
        let allowed: Vec<Regex> = allowed.iter().map(|pattern| Regex::new(pattern).unwrap()).collect();
        let folder = tempfile::tempdir().unwrap();
        recording(PAGE).compare(new, &allowed, folder.path()).unwrap()
    }

    #[test]
    fn equal_recordings_have_no_difference() {
        let found = check(&recording(PAGE), &[]);
        assert_eq!((found.diff.as_str(), found.lines, found.allowed), ("", 6, 0));
    }

    #[test]
    fn one_sample_and_one_word_of_help_are_differences_unless_they_are_allowed() {
        let sample = recording(&PAGE.replace("} 61", "} 62"));
        let found = check(&sample, &[]).diff;
        assert!(
            found.contains("-perfmon_system_processes{target=\"a\"} 61\n+perfmon_system_processes"),
            "{found}"
        );
        let help = recording(&PAGE.replace("Processes.", "processes."));
        let found = check(&help, &[]).diff;
        assert!(found.contains("+# HELP perfmon_system_processes processes.\n"), "{found}");
        let found = check(&help, &["^# HELP perfmon_system_"]);
        assert_eq!((found.diff.as_str(), found.allowed), ("", 2));
        assert_ne!(check(&sample, &["^# HELP perfmon_system_"]).diff, "");
    }

    #[test]
    fn a_part_that_only_one_of_them_has_is_a_difference() {
        let mut more = recording(PAGE);
        more.parts.insert("sd".to_owned(), "[]\n".to_owned());
        let found = check(&more, &[]).diff;
        assert!(found.contains("new file") && found.contains("+[]"), "{found}");
    }
}
