//! The same series in programs that keep each of them as an object: metrics-exporter-prometheus, Go's client library.
#![allow(dead_code, reason = "each user takes what it needs")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use exposition::testing::peer::Strings;
use metrics::{Gauge, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use super::support::workload;

/// All series as gauges: a counter of that crate has no fractions.
pub(crate) struct MetricsRs {
    _recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    gauges: Vec<Gauge>,
}

impl MetricsRs {
    pub(crate) fn new(strings: &Strings) -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        let metadata = Metadata::new("benchmark", Level::INFO, None);
        let mut gauges = Vec::new();
        for (family, labels) in strings.series() {
            let labels: Vec<Label> =
                labels.iter().map(|&(name, value)| Label::from_static_parts(name, value)).collect();
            let name = family.name.clone();
            gauges.push(recorder.register_gauge(&Key::from_parts(name, labels), &metadata));
        }
        let handle = recorder.handle();
        Self { _recorder: recorder, handle, gauges }
    }

    /// Gives every series a new value.
    pub(crate) fn change(&self, round: u64) {
        let values = workload::values(self.gauges.len(), round);
        self.gauges.iter().zip(values).for_each(|(gauge, value)| gauge.set(value));
    }

    /// Encodes a page and answers its length.
    pub(crate) fn render(&self) -> usize {
        std::hint::black_box(self.handle.render()).len()
    }
}

/// The program in `crates/xtask/peers/client_golang`, which sets its series to new values at each request. Ends with
/// its standard input.
pub(crate) struct ClientGo {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Of its last page.
    pub(crate) page_bytes: usize,
}

impl ClientGo {
    pub(crate) fn start(program: &str, series: usize) -> Self {
        let mut command = Command::new(program);
        command.arg(series.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program that --client-golang names starts");
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Self { child, requests, answers, page_bytes: 0 }
    }

    /// One page; answers the processor time that it says it took.
    pub(crate) fn page(&mut self) -> Duration {
        let requests = self.requests.as_mut().expect("it is taken at the end only");
        requests.write_all(b"\n").expect("the program runs");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the program answers");
        let mut numbers = answer.split_whitespace().map_while(|number| number.parse().ok());
        let (Some(nanos), Some(bytes)) = (numbers.next(), numbers.next()) else {
            panic!("the program answers {answer:?}")
        };
        self.page_bytes = usize::try_from(bytes).expect("pages fit into memory");
        Duration::from_nanos(nanos)
    }
}

impl Drop for ClientGo {
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
