//! The whole program with a plugin that has an alert, and receivers on a socket.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::program::{Exporter, Folder};

/// Takes everything, and keeps it.
#[derive(Default)]
pub(crate) struct Receiver {
    received: Mutex<Vec<(String, HeaderMap, Value)>>,
    came: Notify,
}

impl Receiver {
    /// A receiver and its port.
    pub(crate) fn listen(runtime: &Runtime) -> (Arc<Self>, u16) {
        let receiver = Arc::new(Self::default());
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = Arc::clone(&receiver);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = Arc::clone(&served);
                let service = service_fn(move |request| Arc::clone(&receiver).answer(request));
                let stream = TokioIo::new(stream);
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(stream, service));
            }
        });
        (receiver, port)
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).unwrap();
        self.received.lock().push((head.uri.to_string(), head.headers, body));
        self.came.notify_one();
        Ok(Response::new(Full::default()))
    }

    pub(crate) fn now(&self) -> Vec<(String, HeaderMap, Value)> {
        self.received.lock().clone()
    }

    /// Waits for a request that is like this.
    pub(crate) fn wait_for(
        &self,
        runtime: &Runtime,
        is_it: impl Fn(&Value) -> bool,
    ) -> (String, HeaderMap, Value) {
        let found = async {
            loop {
                if let Some(found) = self.now().into_iter().find(|(_, _, body)| is_it(body)) {
                    return found;
                }
                self.came.notified().await;
            }
        };
        let found = runtime.block_on(async { tokio::time::timeout(PATIENCE, found).await });
        found.unwrap_or_else(|_| panic!("it did not come; there is {:#?}", self.now()))
    }
}

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

fn config(alerts: &str, targets: &str) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true, external_url: 'https://exporter.example/perfmon'}}
plugins: {{path: ., load: [alarm]}}
scrape: {{interval: 1s}}
probe: {{allow_targets: ['127.0.0.0/8']}}
modules: {{disks: {{plugin: alarm}}}}
alerts: {alerts}
targets: {targets}
"
    )
}

fn open_alerts(exporter: &Exporter) -> String {
    let page = exporter.get("/metrics").body;
    page.lines().find(|line| line.starts_with("perfmon_exporter_alerts_open ")).unwrap_or_default().to_owned()
}

#[test]
fn an_alert_reaches_every_receiver_with_what_identifies_it_and_its_end_does_too() {
    let runtime = Runtime::new().unwrap();
    let (alertmanager, port) = Receiver::listen(&runtime);
    let (hook, hook_port) = Receiver::listen(&runtime);
    let folder = Folder::new();
    folder.write("token", "hunter2\n");
    folder.write("alarm", "f");
    let mut exporter = folder.plugin("alarm", "alarm.c").serve(&config(
        &format!(
            "{{alertmanagers: [{{url: 'http://127.0.0.1:{port}/am', name: am,
               headers: {{authorization: {{file: token, prefix: 'Bearer '}}}}}}],
             webhooks: [{{url: 'http://127.0.0.1:{hook_port}/hook', name: hook}}], labels: {{site: berlin, env: x}}}}"
        ),
        "[{host: heart, modules: [disks], labels: {env: prod}}]",
    ));
    let (path, headers, body) = alertmanager.wait_for(&runtime, |_| true);
    assert_eq!(
        (path.as_str(), &headers["authorization"]),
        ("/am/api/v2/alerts", &"Bearer hunter2".parse().unwrap())
    );
    assert_eq!(
        body[0]["labels"],
        json!({
            "alertname": "alarm.disk", "id": "low disk", "disk": "C:\\ \"{{system}}\" é\n", "env": "prod",
            "module": "disks", "plugin": "alarm", "severity": "critical", "site": "berlin", "target": "heart",
        })
    );
    assert_eq!(body[0]["annotations"], json!({"free_percent": "4", "summary": "The disk is nearly full."}));
    assert_eq!(body[0]["generatorURL"], "https://exporter.example/perfmon/targets/heart");
    let (path, _, message) = hook.wait_for(&runtime, |_| true);
    assert_eq!((path.as_str(), &message["status"]), ("/hook", &json!("firing")));
    assert_eq!((&message["receiver"], &message["version"]), (&json!("hook"), &json!("4")));
    let page = exporter.get("/alerts").body;
    assert!(page.contains("<bdi>low disk</bdi>") && page.contains("href=\"targets/heart\""), "{page}");

    folder.write("alarm", "c");
    let (_, _, message) = hook.wait_for(&runtime, |message| message["status"] == "resolved");
    assert_eq!(message["alerts"][0]["status"], "resolved");
    let started = &body[0]["startsAt"];
    assert_eq!(&message["alerts"][0]["startsAt"], started);
    let ended = message["alerts"][0]["endsAt"].clone();
    alertmanager.wait_for(&runtime, |body| body[0]["endsAt"] == ended);
    assert_eq!(open_alerts(&exporter), "perfmon_exporter_alerts_open 0");
    exporter.terminate();
    exporter.wait();
    assert!(!exporter.rest_of_log().contains("hunter2"));
}

#[test]
fn open_alerts_survive_a_reload_and_end_with_their_target() {
    let runtime = Runtime::new().unwrap();
    let (first, first_port) = Receiver::listen(&runtime);
    let (second, second_port) = Receiver::listen(&runtime);
    let alerts = |port: u16| format!("{{alertmanagers: [{{url: 'http://127.0.0.1:{port}'}}]}}");
    let folder = Folder::new();
    folder.write("alarm", "f");
    let target = "[{host: heart, modules: [disks]}, {host: lung, modules: [disks]}]";
    let exporter = folder.plugin("alarm", "alarm.c").serve(&config(&alerts(first_port), target));
    let is_of = |target: &'static str| move |body: &Value| body[0]["labels"]["target"] == target;
    let (_, _, before) = first.wait_for(&runtime, is_of("heart"));
    // The plugin says nothing more of it: what is known of it is what was said.
    folder.write("alarm", "n");
    folder.write("perfmon.yml", &config(&alerts(second_port), target));
    assert_eq!(exporter.reload().status, 200);
    let is_alert_of = |body: &Value, target: &str| {
        body.as_array().into_iter().flatten().find(|alert| alert["labels"]["target"] == target).cloned()
    };
    let (_, _, after) = second.wait_for(&runtime, |body| is_alert_of(body, "heart").is_some());
    let alert = is_alert_of(&after, "heart").unwrap();
    assert_eq!(alert["startsAt"], before[0]["startsAt"]);
    folder.write("perfmon.yml", &config(&alerts(second_port), "[{host: lung, modules: [disks]}]"));
    assert_eq!(exporter.reload().status, 200);
    let is_over = |body: &Value| {
        is_alert_of(body, "heart").is_some_and(|over| over["endsAt"].as_str() < alert["endsAt"].as_str())
    };
    second.wait_for(&runtime, is_over);
    assert!(exporter.get("/alerts").body.contains("Closed lately"));
}

#[test]
fn alerts_of_one_name_have_one_line_in_the_log_and_one_with_their_number() {
    let folder = Folder::new();
    folder.write("alarm", "m");
    let mut exporter =
        folder.plugin("alarm", "alarm.c").serve(&config("{}", "[{host: heart, modules: [disks]}]"));
    let line = exporter.wait_for_line("More alerts of the same name");
    for part in ["ERROR", "alert=\"Low disk\"", "state=\"opened\"", "alerts=2", "target=\"heart\""] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(open_alerts(&exporter), "perfmon_exporter_alerts_open 3");
}

#[test]
fn a_probe_has_no_alerts() {
    let runtime = Runtime::new().unwrap();
    let (receiver, port) = Receiver::listen(&runtime);
    let folder = Folder::new();
    folder.write("alarm", "f");
    let alerts = format!("{{webhooks: [{{url: 'http://127.0.0.1:{port}'}}]}}");
    let mut exporter = folder.plugin("alarm", "alarm.c").serve(&config(&alerts, "[]"));
    let page = exporter.get("/probe?target=127.0.0.5&module=disks").body;
    assert!(page.contains("perfmon_probe_success 1\n"), "{page}");
    assert_eq!(open_alerts(&exporter), "perfmon_exporter_alerts_open 0");
    exporter.terminate();
    exporter.wait();
    assert!(receiver.now().is_empty());
}

#[test]
fn a_url_that_is_a_secret_is_shown_nowhere() {
    let runtime = Runtime::new().unwrap();
    let (receiver, port) = Receiver::listen(&runtime);
    let folder = Folder::new();
    folder.write("alarm", "f");
    folder.write("hook-url", &format!("http://localhost:{port}/T0/hunter2\n"));
    let alerts = "{webhooks: [{url_file: hook-url, send_resolved: false}]}";
    let target = "[{host: heart, modules: [disks]}]";
    let mut exporter = folder.plugin("alarm", "alarm.c").serve(&config(alerts, target));
    let (path, _, _) = receiver.wait_for(&runtime, |_| true);
    assert_eq!(path, "/T0/hunter2");
    // Nobody is there from now on.
    folder.write("hook-url", "http://localhost:1/T0/hunter3");
    folder.write("alarm", "c");
    exporter.wait_for_page(|page| page.contains("perfmon_exporter_alerts_open 0\n"));
    folder.write("alarm", "f");
    let is_failure = |line: &str| {
        line.starts_with("perfmon_exporter_alerts_failed_total{") && line.contains("\"unreachable\"} ")
    };
    exporter.wait_for_page(|page| page.lines().any(|line| is_failure(line) && !line.ends_with(" 0")));
    let pages = ["/alerts", "/config", "/metrics"].map(|path| exporter.get(path).body).concat();
    assert!(
        pages.contains("hook-url") && !pages.contains("hunter") && !pages.contains("localhost:"),
        "{pages}"
    );
    let resolved = |(_, _, body): &(String, HeaderMap, Value)| body["status"] == "resolved";
    assert!(!receiver.now().iter().any(resolved));
    exporter.terminate();
    exporter.wait();
    let log = exporter.rest_of_log();
    assert!(log.contains("Receiver accepts no alerts for now") && !log.contains("hunter"), "{log}");
}
