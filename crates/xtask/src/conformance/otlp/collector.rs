//! Collectors of others: the OpenTelemetry Collector, which writes down what it takes, and rotel, which passes it on.

use std::cell::RefCell;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::points::{self, HistogramPoint, Point};
use super::{Certificates, Event, Owner, Span, labels, list, text_of};
use crate::Result;
use crate::peers::{go, rotel};
use crate::process::{Running, free_port, poll};
use crate::stage::Stage;

const START_TIMEOUT: Duration = Duration::from_secs(30);

/// One receiver of the collector, with a port and a file of its own.
pub(super) struct Receiver {
    name: &'static str,
    protocol: &'static str,
    port: u16,
    /// Wants the client's certificate, too.
    mutual_tls: bool,
    file: PathBuf,
    written: RefCell<Written>,
}

impl Receiver {
    pub(super) fn new(
        stage: &Stage<'_>,
        name: &'static str,
        protocol: &'static str,
        mutual_tls: bool,
    ) -> Result<Self> {
        let file = stage.path(&format!("{name}.json"));
        let written = RefCell::default();
        Ok(Self { name, protocol, port: free_port()?, mutual_tls, file, written })
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn is_delta(&self) -> bool {
        self.name.ends_with("-delta")
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// An entry of the exporter's `otlp:` that pushes here; `more` is what else it says.
    pub(super) fn endpoint(&self, more: &str) -> String {
        self.endpoint_named(self.name, more)
    }

    /// The same under another name.
    pub(super) fn endpoint_named(&self, name: &str, more: &str) -> String {
        let protocol = self.protocol;
        let scheme = if self.mutual_tls { "https" } else { "http" };
        let address = self.address();
        format!(
            "  - {{name: {name}, endpoint: '{scheme}://{address}', protocol: {protocol}, interval: 1s{more}}}\n"
        )
    }

    /// The points that were taken here so far.
    pub(super) fn points(&self) -> Result<Vec<Rc<Point>>> {
        self.written(|written| written.points.clone())
    }

    pub(super) fn histograms(&self) -> Result<Vec<Rc<HistogramPoint>>> {
        self.written(|written| written.histograms.clone())
    }

    pub(super) fn events(&self) -> Result<Vec<Rc<Event>>> {
        self.written(|written| written.events.clone())
    }

    pub(super) fn spans(&self) -> Result<Vec<Rc<Span>>> {
        self.written(|written| written.spans.clone())
    }

    fn written<T>(&self, look: impl Fn(&Written) -> T) -> Result<T> {
        let mut written = self.written.borrow_mut();
        written.read_on(&self.file)?;
        Ok(look(&written))
    }
}

/// Starts the OpenTelemetry Collector with these receivers.
pub(super) fn start(
    stage: &Stage<'_>,
    receivers: &[Receiver],
    certificates: &Certificates,
) -> Result<Running> {
    let (mut of_receivers, mut of_exporters, mut of_pipelines) =
        (String::new(), String::new(), String::new());
    for Receiver { name, protocol, port, mutual_tls, file, .. } in receivers {
        let tls = if *mutual_tls { certificates.of_collector() } else { String::new() };
        let _ = writeln!(
            of_receivers,
            "  otlp/{name}: {{protocols: {{{protocol}: {{endpoint: '127.0.0.1:{port}'{tls}}}}}}}"
        );
        let file = file.display();
        // Appends, so that a collector that is started again forgets nothing.
        let _ =
            writeln!(of_exporters, "  file/{name}: {{path: '{file}', append: true, flush_interval: 100ms}}");
        for signal in ["metrics", "logs", "traces"] {
            let _ = writeln!(
                of_pipelines,
                "    {signal}/{name}: {{receivers: [otlp/{name}], exporters: [file/{name}]}}"
            );
        }
    }
    let configuration = stage.path("otelcol.yaml");
    fs::write(
        &configuration,
        format!("receivers:\n{of_receivers}exporters:\n{of_exporters}service:\n  pipelines:\n{of_pipelines}"),
    )?;
    let mut command = Command::new(go::OTELCOL.path(stage.workspace, "otelcol"));
    command.arg("--config").arg(&configuration);
    let mut collector = Running::start("otelcol", &mut command)?;
    collector
        .wait_for("readiness", START_TIMEOUT, |line| line.contains("Everything is ready").then_some(()))?;
    Ok(collector)
}

/// A rotel in front of a receiver of the other collector: what that one writes down, rotel has read and written again.
pub(super) struct Rotel {
    /// Ends it when this goes.
    running: Running,
    address: SocketAddr,
    protocol: &'static str,
}

impl Rotel {
    /// Starts one that takes what comes by `protocol`.
    pub(super) fn start(stage: &Stage<'_>, protocol: &'static str, to: &Receiver) -> Result<Self> {
        let program = rotel(stage.workspace).ok_or("rotel has gone")?;
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let (address, unused) = (local(free_port()?), local(free_port()?));
        let (grpc, http) = if protocol == "grpc" { (address, unused) } else { (unused, address) };
        let mut command = Command::new(program);
        command.args(["start", "--otlp-grpc-endpoint", &grpc.to_string()]);
        command.args(["--otlp-http-endpoint", &http.to_string(), "--exporter", "otlp"]);
        command.args(["--otlp-exporter-protocol", to.protocol]);
        command.args(["--otlp-exporter-endpoint", &format!("http://{}", to.address())]);
        for (option, ending) in [("--pid-file", "pid"), ("--log-file", "log")] {
            command.arg(option).arg(stage.path(&format!("rotel-{protocol}.{ending}")));
        }
        let mut running = Running::start("rotel", &mut command)?;
        let listens = poll("rotel listens", START_TIMEOUT, || Ok(TcpStream::connect(address).ok().map(drop)));
        listens.map_err(|error| running.complaint(&error.to_string()))?;
        Ok(Self { running, address, protocol })
    }

    /// An entry of the exporter's `otlp:` that pushes here.
    pub(super) fn endpoint(&self) -> String {
        let Self { address, protocol, .. } = self;
        format!(
            "  - {{name: rotel-{protocol}, endpoint: 'http://{address}', protocol: {protocol}, interval: 1s}}\n"
        )
    }

    /// What it printed, for an error.
    pub(super) fn complaint(&mut self, problem: &str) -> Box<dyn std::error::Error> {
        self.running.complaint(problem)
    }
}

// What a collector wrote down: requests, one a line, in the JSON of protocol buffers.

/// A collector's file, as far as it was read: everything in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) points: Vec<Rc<Point>>,
    pub(super) histograms: Vec<Rc<HistogramPoint>>,
    pub(super) events: Vec<Rc<Event>>,
    pub(super) spans: Vec<Rc<Span>>,
    bytes_read: u64,
}

impl Written {
    /// Reads what was added. A line that is not complete yet is left for later.
    pub(super) fn read_on(&mut self, path: &Path) -> Result<()> {
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        file.seek(SeekFrom::Start(self.bytes_read))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        for line in whole.lines() {
            self.read_request(&serde_json::from_str(line)?)?;
        }
        self.bytes_read += whole.len() as u64;
        Ok(())
    }

    fn read_request(&mut self, request: &Value) -> Result<()> {
        each(request, ["resourceMetrics", "scopeMetrics", "metrics"], |owner, metric| {
            if metric["histogram"].is_object() {
                points::read_histograms(owner, metric, &mut self.histograms)
            } else {
                points::read(owner, metric, &mut self.points)
            }
        })?;
        each(request, ["resourceLogs", "scopeLogs", "logRecords"], |owner, record| {
            self.events.push(Rc::new(Event::read(owner, record)?));
            Ok(())
        })?;
        each(request, ["resourceSpans", "scopeSpans", "spans"], |owner, span| {
            self.spans.push(Rc::new(Span::read(owner, span)?));
            Ok(())
        })
    }
}

/// Has `read` look at everything in a request that lies below these three keys.
fn each(
    request: &Value,
    [resources, scopes, things]: [&str; 3],
    mut read: impl FnMut(&Owner, &Value) -> Result<()>,
) -> Result<()> {
    for of_resource in list(&request[resources]) {
        let resource = labels(&of_resource["resource"]["attributes"]);
        for of_scope in list(&of_resource[scopes]) {
            let owner = Owner { resource: resource.clone(), scope: text_of(&of_scope["scope"]["name"]) };
            list(&of_scope[things]).try_for_each(|thing| read(&owner, thing))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::points::Kind;
    use super::*;

    #[test]
    fn a_line_is_read_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("points.json");
        let line = r#"{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.instance.id","value":{"stringValue":"web1"}}]},
            "scopeMetrics":[{"scope":{"name":"pcq"},"metrics":[{"name":"m","unit":"s","sum":{"aggregationTemporality":2,"isMonotonic":true,
            "dataPoints":[{"timeUnixNano":"5","asInt":"9007199254740993"},{"timeUnixNano":"6","flags":1}]}}]}]}]}"#;
        let line = line.replace('\n', " ");
        fs::write(&file, format!("{line}\n{}", &line[..20])).unwrap();
        let mut log = Written::default();
        log.read_on(&file).unwrap();
        let points = &log.points;
        assert_eq!((points.len(), points[0].target(), points[0].kind), (2, "web1", Kind::Cumulative));
        assert_eq!((points[0].time, points[1].value), (5, None));
        assert_eq!(points[0].value, Some(9_007_199_254_740_992.0));
        fs::write(&file, format!("{line}\n{line}\n")).unwrap();
        log.read_on(&file).unwrap();
        assert_eq!(log.points.len(), 4);
    }
}
