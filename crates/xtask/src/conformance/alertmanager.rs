//! Alertmanager takes the alerts of a plugin: it shows them as open and as ended, hears of them again after it forgot them,
//! and ends those of an exporter that is gone. It passes them on to a webhook, whose messages are held against ours.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use crate::Outcome;
use crate::Result;
use crate::http;
use crate::process::{Running, free_port, poll};
use crate::stage::{Stage, address_in_log};
use crate::workspace::Workspace;

const TIMEOUT: Duration = Duration::from_secs(30);
const PROGRAM: &str = "prometheus-alertmanager";
/// Of the file that the plugin reads: the alert fires, or is over.
const FIRES: &str = "f";
const IS_OVER: &str = "c";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let hook = Hook::listen()?;
    let listen = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    let alertmanager = start(&stage, listen, hook.address, "first")?;
    stage.plugin("alarm")?;
    fs::write(stage.path("alarm"), FIRES)?;
    let (mut exporter, _) = start_exporter(&stage, listen, hook.address)?;
    let with_output = |problem: Box<dyn std::error::Error>, exporter: &mut Running| {
        exporter.complaint(&problem.to_string())
    };
    let first = wait_for(listen, true).map_err(|error| with_output(error, &mut exporter))?;
    let messages = same_messages(&hook, "firing")?;
    alertmanager.end()?;
    // It has forgotten everything.
    let alertmanager = start(&stage, listen, hook.address, "second")?;
    let again = wait_for(listen, true).map_err(|error| with_output(error, &mut exporter))?;
    if first["startsAt"] != again["startsAt"] {
        return Err(format!("it began at {} and then at {}", first["startsAt"], again["startsAt"]).into());
    }
    fs::write(stage.path("alarm"), IS_OVER)?;
    wait_for(listen, false).map_err(|error| with_output(error, &mut exporter))?;
    let ended = same_messages(&hook, "resolved")?;
    fs::write(stage.path("alarm"), FIRES)?;
    wait_for(listen, true).map_err(|error| with_output(error, &mut exporter))?;
    // Nobody says that it is over.
    exporter.end()?;
    wait_for(listen, false)?;
    alertmanager.end()?;
    Ok(Outcome::Ran(format!(
        "an alert opened and ended, was heard of again after a restart, and ended with its exporter; {} fields of \
         webhooks are those of Alertmanager's own messages",
        messages + ended
    )))
}

/// Starts an Alertmanager that has no past.
fn start(stage: &Stage<'_>, listen: SocketAddr, hook: SocketAddr, name: &str) -> Result<Running> {
    let configuration = stage.path("alertmanager.yml");
    let text = format!(
        "route: {{receiver: hook, group_by: [target], group_wait: 0s, group_interval: 1s}}
receivers: [{{name: hook, webhook_configs: [{{url: 'http://{hook}/theirs'}}]}}]
"
    );
    fs::write(&configuration, text)?;
    let mut command = Command::new(PROGRAM);
    command.arg(format!("--config.file={}", configuration.display()));
    command.arg(format!("--storage.path={}", stage.path(name).display()));
    command.arg(format!("--web.listen-address={listen}")).arg("--cluster.listen-address=");
    let mut alertmanager = Running::start("alertmanager", &mut command)?;
    alertmanager.wait_for("readiness", TIMEOUT, |line| line.contains("Listening on").then_some(()))?;
    Ok(alertmanager)
}

/// Starts the exporter where the plugin finds its file.
fn start_exporter(
    stage: &Stage<'_>,
    alertmanager: SocketAddr,
    hook: SocketAddr,
) -> Result<(Running, SocketAddr)> {
    let text = format!(
        "web: {{listen: ['127.0.0.1:0'], external_url: 'http://exporter.example'}}
plugins: {{path: plugins, load: [alarm]}}
scrape: {{interval: 1s}}
modules: {{disks: {{plugin: alarm}}}}
targets: [{{host: heart, modules: [disks]}}]
alerts:
  alertmanagers: [{{url: 'http://{alertmanager}'}}]
  webhooks: [{{url: 'http://{hook}/ours', name: hook}}]
  resend_interval: 1s
"
    );
    fs::write(stage.path("perfmon.yml"), text)?;
    let mut command = Command::new(stage.workspace.program("perfmon-exporter"));
    command.current_dir(stage.path("")).args(["--config", "perfmon.yml"]);
    let mut exporter = Running::start("perfmon-exporter", &mut command)?;
    let address = exporter.wait_for("listening address", TIMEOUT, address_in_log)?;
    Ok((exporter, address))
}

/// Waits until Alertmanager has the one alert, or none. Answers it, or nothing.
fn wait_for(alertmanager: SocketAddr, is_open: bool) -> Result<Value> {
    let what = if is_open { "Alertmanager has the alert" } else { "Alertmanager has no alert" };
    poll(what, TIMEOUT, || {
        let answer = http::get(alertmanager, "/api/v2/alerts", "application/json")?;
        let mut alerts: Vec<Value> = serde_json::from_str(&answer.body)?;
        Ok(match (alerts.pop(), is_open) {
            (Some(alert), true) if alert["labels"]["id"] == "low disk" => Some(alert),
            (None, false) => Some(Value::Null),
            _ => None,
        })
    })
}

/// Waits until a message of this status came from both sides, and compares them. Answers how many fields were compared.
fn same_messages(hook: &Hook, status: &str) -> Result<usize> {
    let find = |path: &str| poll(&format!("a message at {path}"), TIMEOUT, || Ok(hook.last(path, status)));
    let (ours, theirs) = (find("/ours")?, find("/theirs")?);
    let mut compared = 0;
    for (name, value) in theirs.as_object().ok_or("their message is no object")? {
        // Where Alertmanager's own pages are, and how it names its routes.
        if ["externalURL", "groupKey"].contains(&name.as_str()) {
            continue;
        }
        if name != "alerts" && ours[name] != *value {
            return Err(format!("{name}: ours is {}, theirs is {value}", ours[name]).into());
        }
        compared += 1;
    }
    let (ours, theirs) = (&ours["alerts"][0], &theirs["alerts"][0]);
    for (name, value) in theirs.as_object().ok_or("their alert is no object")? {
        if !is_same(&ours[name], value) {
            return Err(format!("alerts[0].{name}: ours is {}, theirs is {value}", ours[name]).into());
        }
        compared += 1;
    }
    Ok(compared)
}

/// Alertmanager writes times without zeros at their end.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    let short = |value: &Value| {
        let time = value.as_str()?.strip_suffix('Z')?;
        let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
        Some((seconds.to_owned(), fraction.trim_end_matches('0').to_owned()))
    };
    ours == theirs || (short(ours).is_some() && short(ours) == short(theirs))
}

struct Hook {
    address: SocketAddr,
    received: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Hook {
    fn listen() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let received: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away has said nothing.
                if let Ok(message) = take(stream) {
                    kept.lock().push(message);
                }
            }
        });
        Ok(Self { address, received })
    }

    /// The last message of this status at this path.
    fn last(&self, path: &str, status: &str) -> Option<Value> {
        let received = self.received.lock();
        let is_it = |(at, message): &&(String, Value)| at == path && message["status"] == status;
        received.iter().rev().find(is_it).map(|(_, message)| message.clone())
    }
}

/// Reads one request, and ends the connection.
fn take(mut stream: TcpStream) -> Result<(String, Value)> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut bytes = Vec::new();
    loop {
        let mut room = [0; 4096];
        let read = stream.read(&mut room)?;
        bytes.extend_from_slice(&room[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if read == 0 {
                return Err("no end of the headers".into());
            }
            continue;
        };
        if let Ok(message) = serde_json::from_str(body) {
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
            return Ok((path, message));
        }
        if read == 0 {
            return Err("no whole message".into());
        }
    }
}
