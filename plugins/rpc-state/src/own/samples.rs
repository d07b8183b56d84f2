//! A report and the counts of files as samples.

use super::families::Metric;
use super::files::FileCounts;
use super::report::{
    ByRole, ConnectionFigures, Operation, OperationFigures, Process, ProcessFigures, Report, Role,
};
use crate::series::{Labels, Sample, Value};

/// All samples of a collection.
pub(super) fn samples(report: &Report, files: &FileCounts) -> Vec<Sample> {
    let mut samples = Samples(Vec::new());
    for (process, figures) in &report.processes {
        samples.add_process(process, figures);
    }
    for (operation, figures) in &report.operations {
        samples.add_operation(operation, figures);
    }
    for ((process, id), figures) in &report.connections {
        samples.add_connection(process, &id.to_string(), figures);
    }
    samples.add_files(files);
    let left_out = [
        ("connection", report.connections_left_out),
        ("operation", report.operations_left_out),
        ("file", files.left_out),
    ];
    for (kind, count) in left_out {
        samples.count(Metric::LeftOut, vec![("kind", kind.to_owned())], count);
    }
    samples.0
}

struct Samples(Vec<Sample>);

impl Samples {
    fn count(&mut self, metric: Metric, labels: Labels, count: u64) {
        self.0.push(Sample { family: metric as usize, labels, value: Value::Count(count) });
    }

    fn seconds(&mut self, metric: Metric, labels: Labels, ms: u64) {
        let value = Value::Seconds(ms as f64 / 1000.0);
        self.0.push(Sample { family: metric as usize, labels, value });
    }

    fn add_process(&mut self, process: &Process, figures: &ProcessFigures) {
        let with = |name: &'static str, value: String| {
            let mut labels = labels_of(process);
            labels.push((name, value));
            labels
        };
        let by_status = [
            (Metric::Endpoints, &figures.endpoints),
            (Metric::Threads, &figures.threads),
            (Metric::ServerCalls, &figures.server_calls),
        ];
        for (metric, tally) in by_status {
            for (status, count) in tally.rows() {
                self.count(metric, with("status", status), count);
            }
        }
        let ByRole { client, server } = figures.connections;
        for (role, connections) in [(Role::Client, client), (Role::Server, server)] {
            self.count(Metric::Connections, with("role", role.as_str().to_owned()), connections);
        }
        let ByRole { client, server } = figures.longest_wait_ms;
        for (role, wait_ms) in [(Role::Client, client), (Role::Server, server)] {
            self.seconds(Metric::LongestWait, with("role", role.as_str().to_owned()), wait_ms);
        }
        self.count(Metric::ClientCalls, labels_of(process), figures.client_calls);
        self.count(Metric::Hidden, labels_of(process), figures.hidden);
    }

    fn add_operation(&mut self, operation: &Operation, figures: &OperationFigures) {
        let mut labels = labels_of(&operation.process);
        labels.push(("role", operation.role.as_str().to_owned()));
        push_named(&mut labels, "interface", &operation.interface);
        push_named(&mut labels, "operation", &operation.operation);
        if let Some(wait_ms) = figures.longest_wait_ms {
            self.seconds(Metric::OperationWait, labels.clone(), wait_ms);
        }
        self.count(Metric::OperationCalls, labels, figures.calls);
    }

    fn add_connection(&mut self, process: &Process, id: &str, figures: &ConnectionFigures) {
        let mut labels = labels_of(process);
        labels.push(("connection", id.to_owned()));
        labels.push(("role", figures.role.as_str().to_owned()));
        if let Some(peer) = figures.peer {
            labels.push(("peer", peer.to_string()));
        }
        push_named(&mut labels, "server", &figures.server);
        push_named(&mut labels, "endpoint", &figures.endpoint);
        if let Some(totals) = figures.totals {
            let totals = [
                (Metric::SentFragments, totals.fragments_sent),
                (Metric::ReceivedFragments, totals.fragments_received),
                (Metric::SentBytes, totals.bytes_sent),
                (Metric::ReceivedBytes, totals.bytes_received),
            ];
            for (metric, count) in totals {
                self.count(metric, labels.clone(), count);
            }
        }
        let times =
            [(Metric::SinceSend, figures.since_send_ms), (Metric::SinceReceive, figures.since_receive_ms)];
        for (metric, ms) in times {
            if let Some(ms) = ms {
                self.seconds(metric, labels.clone(), ms);
            }
        }
    }

    fn add_files(&mut self, files: &FileCounts) {
        for (process, count) in [("running", files.running), ("dead", files.dead)] {
            self.count(Metric::Files, vec![("process", process.to_owned())], count);
        }
        for (reason, count) in files.failed.rows() {
            self.count(Metric::FilesFailed, vec![("reason", reason)], count);
        }
        for (kind, count) in files.problems.rows() {
            self.count(Metric::Problems, vec![("kind", kind)], count);
        }
    }
}

impl Role {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A process that runs has no label `dead`, so that only who asks for dead ones sees it.
fn labels_of(process: &Process) -> Labels {
    let mut labels = Vec::with_capacity(8);
    push_named(&mut labels, "owner", &process.owner);
    labels.push(("process_id", process.id.to_string()));
    if process.is_dead {
        labels.push(("dead", "true".to_owned()));
    }
    labels
}

/// An empty label is none.
fn push_named(labels: &mut Labels, name: &'static str, value: &str) {
    if !value.is_empty() {
        labels.push((name, value.to_owned()));
    }
}
