//! A simulated host whose clock stands still, and one exporter that watches it; what it serves, sends and writes is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use regex::Regex;
use serde_json::Value;

use super::normal::{Window, normalised};
use super::{Receiver, Recording, Request, own, protobuf};
use crate::process::{Running, free_port, poll};
use crate::stage::{COUNTERSETS, PASSWORD, START_TIMEOUT, address_in_log};
use crate::workspace::capture;
use crate::{Result, http};

/// Far from the time of any run, so that times of the host are told from those of the machine.
const HOST_TIME: &str = "2024-02-29T12:00:00Z";
/// Those that come up; one more never does.
const TARGETS: [&str; 7] = ["counters", "complus", "endpoints", "alerts", "logs", "told", "dead"];
/// Of the targets that need one.
const ACCOUNTS: [&str; 7] = ["counters", "complus", "endpoints", "alerts", "logs", "told", "gone"];
const LOGGED: [&str; 3] = [
    r"\Processor Information(*)\% Processor Time",
    r"\Memory\Available MBytes",
    r"\LogicalDisk(*)\% Free Space",
];
/// Records of each log that are compared; how many there are at the end depends on the machine.
const RECORDS: usize = 3;
/// Clocks of files are coarser than the machine's, and alerts say until when they hold.
const BEFORE_NS: i128 = 1_000_000_000;
const AFTER_NS: i128 = 60_000_000_000;
const HOUR_NS: i128 = 3_600_000_000_000;
const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

const TEXT: &str = "text/plain;version=0.0.4";
const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0";
const PROTOBUF: &str =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

/// What both exporters find alike.
pub(crate) struct World<'a> {
    /// Each exporter has it for itself.
    work: PathBuf,
    /// The state of calls of a process that is dead.
    cells: PathBuf,
    simulator: &'a Path,
    ports: Ports,
    receiver: Receiver,
}

/// The ports of the exporter and of its host, the same for both.
struct Ports {
    web: u16,
    events: u16,
    smb: u16,
    epm: u16,
}

impl<'a> World<'a> {
    pub(crate) fn new(folder: &Path, simulator: &'a Path) -> Result<Self> {
        let ports = Ports { web: free_port()?, events: free_port()?, smb: free_port()?, epm: free_port()? };
        let (work, cells) = (folder.join("work"), folder.join("cells"));
        let world = Self { work, cells, simulator, ports, receiver: Receiver::start()? };
        world.leave_cells()?;
        Ok(world)
    }

    /// The calls of running processes are other ones at each moment. Those of a simulator that was killed stay as they were.
    fn leave_cells(&self) -> Result<()> {
        fs::create_dir_all(&self.work)?;
        self.write_password()?;
        drop(self.start_simulator(&["--rpc-state".as_ref(), self.cells.as_os_str()])?);
        Ok(())
    }

    fn write_password(&self) -> Result<()> {
        let password = self.work.join("password");
        fs::write(&password, format!("{PASSWORD}\n"))?;
        Ok(fs::set_permissions(&password, fs::Permissions::from_mode(0o600))?)
    }

    /// Runs the exporter of `programs` until all has been seen.
    pub(super) fn record(&self, programs: &Path, template: &str) -> Result<Recording> {
        self.receiver.forget();
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        let bin = self.work.join("bin");
        fs::create_dir_all(&bin)?;
        for name in PROGRAMS {
            let from = programs.join(name);
            fs::copy(&from, bin.join(name)).map_err(|error| format!("{}: {error}", from.display()))?;
        }
        self.write_password()?;
        fs::write(self.work.join("perfmon.yml"), self.configuration(template))?;
        let from_ns = unix_ns()? - BEFORE_NS;
        let (_simulator, objects) = self.start_simulator(&[])?;
        let mut exporter = self.start_exporter()?;
        let window = Window { from_ns, to_ns: from_ns + HOUR_NS, objects };
        let parts = self.settle(&mut exporter).and_then(|()| self.pages(window));
        let mut parts = parts.map_err(|error| exporter.complaint(&error.to_string()))?;
        let lines = exporter.end_and_read()?;
        let window = Window { to_ns: unix_ns()? + AFTER_NS, ..window };
        parts.push(("log".to_owned(), sorted(&lines, window)));
        parts.extend(self.files()?);
        parts.extend(sent(&self.receiver.received(), window)?);
        let version = version(&bin.join(PROGRAMS[0]))?;
        let mut recording = Recording::default();
        for (name, text) in parts {
            let text = normalised(&version.replace_all(&text, "<version>"), window);
            recording.parts.insert(name, own::comparable(&text));
        }
        Ok(recording)
    }

    fn configuration(&self, template: &str) -> String {
        let list = |items: &[&str], form: fn(&str) -> String| {
            items.iter().map(|item| form(item)).collect::<Vec<_>>().join(", ")
        };
        let Ports { web, events, smb, epm } = &self.ports;
        let words = [
            ("%WEB%", web.to_string()),
            ("%EVENTS%", events.to_string()),
            ("%SMB%", smb.to_string()),
            ("%EPM%", epm.to_string()),
            ("%RECEIVER%", self.receiver.address.to_string()),
            ("%BIN%", self.work.join("bin").display().to_string()),
            ("%PASSWORD%", self.work.join("password").display().to_string()),
            ("%CELLS%", self.cells.display().to_string()),
            ("%WORK%", self.work.display().to_string()),
            ("%COUNTERSETS%", list(&COUNTERSETS, |name| format!("{{name: {name}}}"))),
            ("%LOGGED%", list(&LOGGED, |path| format!("'{path}'"))),
        ];
        words.iter().fold(template.to_owned(), |text, (word, here)| text.replace(word, here))
    }

    /// Starts the simulator; answers the port of its objects, which the system chooses.
    fn start_simulator(&self, more: &[&OsStr]) -> Result<(Running, u16)> {
        let mut command = Command::new(self.simulator);
        command.args(["--bind", "127.0.0.1", "--seed", "1", "--clock", HOST_TIME, "--events-every", "1s"]);
        let Ports { events, smb, epm, .. } = &self.ports;
        for (option, port) in [("--smb-port", smb), ("--epm-port", epm), ("--events-port", events)] {
            command.args([option, &port.to_string()]);
        }
        for account in ACCOUNTS {
            command.args(["--account", &format!(r"SIM\{account}")]);
        }
        command.arg("--password-file").arg(self.work.join("password"));
        let mut simulator = Running::start("windows-sim", command.args(more))?;
        let objects = simulator.wait_for("address of the objects", START_TIMEOUT, |line| {
            let (_, address) = line.strip_prefix("resolving objects on ")?.split_once("which are on ")?;
            Some(address.trim().parse::<SocketAddr>().ok()?.port())
        })?;
        Ok((simulator, objects))
    }

    fn start_exporter(&self) -> Result<Running> {
        let mut command = Command::new(self.work.join("bin/perfmon-exporter"));
        command.current_dir(&self.work).args(["--config", "perfmon.yml"]);
        let mut exporter = Running::start("perfmon-exporter", &mut command)?;
        exporter.wait_for("listening address", START_TIMEOUT, address_in_log)?;
        Ok(exporter)
    }

    fn web(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports.web))
    }

    /// Waits until there is all that is compared.
    fn settle(&self, exporter: &mut Running) -> Result<()> {
        let up = |page: &str, target: &str| {
            page.lines().any(|line| line == format!("perfmon_exporter_target_up{{target=\"{target}\"}} 1"))
        };
        let missing = || -> Result<Option<&'static str>> {
            let page = http::get(self.web(), "/metrics", TEXT)?.body;
            let received = self.receiver.received();
            let of = |path: &str| received.iter().filter(|request| request.path == path).count();
            let is_short = |text: &str| text.lines().count() <= RECORDS;
            let logs = self.files()?;
            let log_lacks = |extension: &str| {
                logs.iter().all(|(name, text)| !name.ends_with(extension) || is_short(text))
            };
            Ok(match () {
                () if TARGETS.iter().any(|target| !up(&page, target)) => Some("targets that are up"),
                () if !page.contains("perfmon_exporter_failures_total{target=\"gone\"") => {
                    Some("a failed target")
                }
                () if log_lacks(".csv") || log_lacks(".tsv") || log_lacks(".db") => {
                    Some("records of each log")
                }
                () if of("/v1/metrics") < 10 || of("/v1/logs") == 0 => Some("requests of OTLP"),
                () if of("/api/v2/alerts") < 3 || of("/webhook") == 0 => Some("alerts at their receivers"),
                () => None,
            })
        };
        let mut last = None;
        let waited = poll("all that is compared", SETTLE_TIMEOUT, || {
            if let Some(status) = exporter.ended()? {
                return Err(format!("ended by itself: {status}").into());
            }
            last = missing()?;
            Ok(last.is_none().then_some(()))
        });
        waited.map_err(|error| format!("{error}; there are not yet {}", last.unwrap_or("pages")).into())
    }

    /// What the web server serves, now that all is there.
    fn pages(&self, window: Window) -> Result<Vec<(String, String)>> {
        let mut parts = Vec::new();
        let paths = [
            ("metrics", "/metrics"),
            ("probe", "/probe?target=counters"),
            ("probe of a host", "/probe?target=127.0.0.7"),
        ];
        for (name, path) in paths {
            for (format, accept) in [("text", TEXT), ("openmetrics", OPEN_METRICS), ("protobuf", PROTOBUF)] {
                for (coding, suffix) in [("identity", ""), ("gzip", ".gzip")] {
                    let (head, body) = http::get_bytes(self.web(), path, accept, coding)?;
                    let body = if coding == "gzip" { gunzip(&body)? } else { body };
                    let mut text = head_of(&head);
                    if format == "protobuf" {
                        text += &families(&body, window)?;
                    } else {
                        text += &String::from_utf8(body)?;
                    }
                    parts.push((format!("{name}/{format}{suffix}"), text));
                }
            }
        }
        parts.push((
            "sd".to_owned(),
            http::get(self.web(), "/sd", "application/json")?.body.replace("},", "},\n"),
        ));
        Ok(parts)
    }

    /// The logs below the directory of files: their names, and their first records.
    fn files(&self) -> Result<Vec<(String, String)>> {
        let mut parts = Vec::new();
        let root = self.work.join("files");
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries {
                let path = entry?.path();
                let name = format!("files/{}", path.strip_prefix(&root)?.display());
                match path.extension().and_then(|extension| extension.to_str()) {
                    _ if path.is_dir() => open.push(path),
                    Some("csv" | "tsv") => {
                        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                        let lines: Vec<&str> = text.lines().take(RECORDS + 1).collect();
                        parts.push((name, lines.join("\n") + "\n"));
                    }
                    Some("db") => parts.push((name, tables(&path)?)),
                    _ => {}
                }
            }
        }
        Ok(parts)
    }
}

/// The exporter and its plugins.
pub(crate) const PROGRAMS: [&str; 5] = [
    "perfmon-exporter",
    "libplugin_pcq.so",
    "libplugin_comt.so",
    "libplugin_rpc_state.so",
    "libplugin_pla.so",
];

/// The tables of PDH without what names a log by chance.
fn tables(file: &Path) -> Result<String> {
    let mut text = String::new();
    for query in [
        "SELECT sql FROM sqlite_master ORDER BY name",
        "SELECT RunID, DisplayString, LogStartTime, MinutesToUTC, TimeZoneName FROM DisplayToID",
        "SELECT * FROM CounterDetails ORDER BY CounterID",
    ] {
        text += &capture(Command::new("sqlite3").arg("-readonly").arg(file).arg(query))?;
    }
    let data = format!(
        "SELECT CounterID, RecordIndex, CounterValue, FirstValueA, FirstValueB, SecondValueA, SecondValueB, MultiCount \
         FROM CounterData WHERE RecordIndex <= {RECORDS} ORDER BY RecordIndex, CounterID"
    );
    Ok(text + &capture(Command::new("sqlite3").arg("-readonly").arg(file).arg(data))?)
}

/// What the exporter sent: of each metric of a resource the last values, each event once, and the last message of alerts.
fn sent(requests: &[Request], window: Window) -> Result<Vec<(String, String)>> {
    let mut parts: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for Request { path, body } in requests {
        match path.as_str() {
            "/v1/metrics" | "/v1/logs" => {
                let signal = path.trim_start_matches("/v1/");
                for of_resource in protobuf::payloads(body, 1) {
                    let resource = protobuf::payloads(of_resource, 1).first().copied().unwrap_or_default();
                    let part = format!("otlp/{signal}/{}", attribute(resource, "service.instance.id"));
                    let kept = parts.entry(part.clone()).or_default();
                    kept.insert(String::new(), protobuf::lines(resource, "resource ", window));
                    for scope in protobuf::payloads(of_resource, 2) {
                        of_scope(scope, &part, window, kept);
                    }
                }
            }
            "/api/v2/alerts" | "/webhook" => {
                let message = alerts(&serde_json::from_slice(body)?)?;
                let kept = parts.entry(format!("alerts{}", path.replace('/', "-"))).or_default();
                kept.insert(String::new(), message);
            }
            _ => {
                parts.entry("requests".to_owned()).or_default().insert(path.clone(), format!("{path}\n"));
            }
        }
    }
    Ok(parts.into_iter().map(|(part, texts)| (part, texts.into_values().collect())).collect())
}

/// The metrics of a scope by name, or its log records by what they say.
fn of_scope(scope: &[u8], part: &str, window: Window, kept: &mut BTreeMap<String, String>) {
    let owner = protobuf::payloads(scope, 1).first().copied().unwrap_or_default();
    let owner = protobuf::lines(owner, "scope ", window);
    for entry in protobuf::payloads(scope, 2) {
        let name =
            protobuf::payloads(entry, 1).first().map(|name| String::from_utf8_lossy(name).into_owned());
        let is_metric = part.starts_with("otlp/metrics/");
        let prefix = if is_metric { format!("{} ", name.unwrap_or_default()) } else { "record ".to_owned() };
        let text = normalised(&format!("{owner}{}", protobuf::lines(entry, &prefix, window)), window);
        kept.insert(if is_metric { prefix } else { text.clone() }, text);
    }
}

/// A string of the attributes of a resource.
fn attribute(resource: &[u8], wanted: &str) -> String {
    let attributes = protobuf::payloads(resource, 1).into_iter();
    let is_wanted = |attribute: &&[u8]| protobuf::payloads(attribute, 1) == [wanted.as_bytes()];
    let value = attributes.filter(is_wanted).flat_map(|attribute| protobuf::payloads(attribute, 2)).next();
    let text = value.and_then(|value| protobuf::payloads(value, 1).first().copied()).unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// A message with its alerts in order.
fn alerts(message: &Value) -> Result<String> {
    let mut message = message.clone();
    let alerts = if message.is_array() { Some(&mut message) } else { message.get_mut("alerts") };
    let alerts = alerts.and_then(Value::as_array_mut).ok_or("a message of alerts without alerts")?;
    alerts.sort_by_key(|alert| alert["labels"].to_string());
    Ok(serde_json::to_string_pretty(&message)? + "\n")
}

/// Families in protobuf, each line with the name of its family.
fn families(page: &[u8], window: Window) -> Result<String> {
    let families = protobuf::delimited(page).ok_or("a page of protobuf is cut off")?;
    let mut text = String::new();
    for family in families {
        let name = protobuf::payloads(family, 1).first().copied().unwrap_or_default();
        text += &protobuf::lines(family, &format!("{} ", String::from_utf8_lossy(name)), window);
    }
    Ok(text)
}

/// The headers but for those that say when, how much and from where.
fn head_of(head: &str) -> String {
    let varying = ["date:", "content-length:", "etag:"];
    let kept = head.lines().filter(|line| {
        let line = line.to_ascii_lowercase();
        !varying.iter().any(|name| line.starts_with(name))
    });
    kept.map(|line| format!("header {line}\n")).collect()
}

/// Lines of a log in an order of their own, each once: tasks that run at the same time log in any order.
fn sorted(lines: &[String], window: Window) -> String {
    let lines: BTreeSet<String> =
        lines.iter().map(|line| own::without_durations(&normalised(line, window))).collect();
    lines.into_iter().map(|line| line + "\n").collect()
}

/// What finds the version of a program.
fn version(program: &Path) -> Result<Regex> {
    let printed = capture(Command::new(program).arg("--version"))?;
    let version = printed.split_whitespace().last().ok_or("no version")?;
    Ok(Regex::new(&format!(r"\b{}\b", regex::escape(version)))?)
}

fn gunzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain)?;
    Ok(plain)
}

fn unix_ns() -> Result<i128> {
    Ok(i128::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos())?)
}
