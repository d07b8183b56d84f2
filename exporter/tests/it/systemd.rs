//! What a service manager hears, and what it hands over. The environment is systemd's; the sockets are real.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::program::{Exporter, Folder};

const CONFIG: &str = r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [pulse]}
modules: {beat: {plugin: pulse}}
targets: [{host: heart, modules: [beat], interval: 1s}]
"#;

const PROGRAM: &str = env!("CARGO_BIN_EXE_perfmon-exporter");

fn folder() -> Folder {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c").write("perfmon.yml", CONFIG);
    folder
}

/// The manager's end of the notification socket.
struct Manager(UnixDatagram);

impl Manager {
    fn new(socket: UnixDatagram) -> Self {
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(socket)
    }

    /// The next message that has `part`; what was passed over, too.
    fn hear(&self, part: &str) -> (String, Vec<String>) {
        let mut passed = Vec::new();
        loop {
            let mut bytes = [0; 4096];
            let length =
                self.0.recv(&mut bytes).unwrap_or_else(|error| panic!("{part}: {error}, after {passed:?}"));
            let message = String::from_utf8(bytes[..length].to_vec()).unwrap();
            if message.contains(part) {
                return (message, passed);
            }
            passed.push(message);
        }
    }
}

fn monotonic_us() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}

/// `MONOTONIC_USEC=` of a message.
fn told_us(message: &str) -> i64 {
    message.lines().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")?.parse().ok()).unwrap()
}

fn begin(folder: &Folder, notify: &str, more: &[(&str, &str)]) -> Exporter {
    let mut command = Command::new(PROGRAM);
    command.env("NOTIFY_SOCKET", notify).envs(more.iter().copied());
    folder.begin(&mut command, &[])
}

#[test]
fn the_manager_hears_of_beginning_reloads_and_end_and_the_watchdog_is_fed() {
    let folder = folder();
    let manager = Manager::new(UnixDatagram::bind(folder.path("notify")).unwrap());
    let socket = folder.path("notify").display().to_string();
    let exporter = begin(&folder, &socket, &[("WATCHDOG_USEC", "300000")]);
    let (ready, before) = manager.hear("READY=1");
    assert!(ready.starts_with("READY=1\nSTATUS=Targets: 1, up ") && before.is_empty(), "{ready}, {before:?}");
    manager.hear("STATUS=Targets: 1, up 1, partial 0, down 0");
    for _ in 0..3 {
        manager.hear("WATCHDOG=1");
    }

    let asked_us = monotonic_us();
    exporter.signal("HUP");
    let (reloading, _) = manager.hear("RELOADING=1\n");
    assert!((asked_us..=monotonic_us()).contains(&told_us(&reloading)), "{reloading}");
    let (reloaded, _) = manager.hear("READY=1");
    assert!(!reloaded.contains("refused"), "{reloaded}");
    folder.write("perfmon.yml", "targets: [");
    exporter.signal("HUP");
    manager.hear("RELOADING=1\n");
    // It goes on, with what it has.
    let (after, _) = manager.hear("READY=1");
    assert!(after.contains("the configuration in the file is refused"), "{after}");

    exporter.terminate();
    assert_eq!(manager.hear("STOPPING=1").0, "STOPPING=1\nSTATUS=Ending");
}

#[test]
fn an_abstract_socket_will_do_and_another_processs_watchdog_is_not_ours() {
    let folder = folder();
    let name = format!("perfmon-exporter-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let manager = Manager::new(UnixDatagram::bind_addr(&address).unwrap());
    let watchdog = [("WATCHDOG_USEC", "30000"), ("WATCHDOG_PID", "1")];
    let mut exporter = begin(&folder, &format!("@{name}"), &watchdog);
    manager.hear("READY=1");
    exporter.wait_for_page(|page| {
        page.contains("beats_total{target=\"heart\",counter_instance=\"left chamber\"} 3\n")
    });
    exporter.terminate();
    let (_, passed) = manager.hear("STOPPING=1");
    assert!(!passed.iter().any(|message| message.contains("WATCHDOG")), "{passed:?}");
    assert_eq!(exporter.wait().code(), Some(0));
}

#[test]
fn a_manager_that_is_not_there_is_no_reason_not_to_work() {
    let folder = folder();
    for socket in ["/nonexistent/notify", "vsock:2:1234", "@"] {
        let exporter = begin(&folder, socket, &[]);
        assert_eq!(exporter.get("/-/ready").status, 200);
    }
}

/// The program with `handed` as descriptor 3, as a manager starts it.
fn with_descriptor(handed: impl Into<OwnedFd>, listen_pid: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("exec 3<&0 </dev/null; {listen_pid} LISTEN_FDS=1 exec {PROGRAM} \"$@\"");
    command.args(["-c", &script, "sh"]).stdin(Stdio::from(handed.into()));
    command
}

#[test]
fn a_socket_of_the_manager_is_served_instead_of_the_configurations() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let exporter = folder.begin(&mut with_descriptor(listener, "LISTEN_PID=$$"), &[]);
    assert_eq!(exporter.address, address);
    assert_eq!(exporter.get("/-/healthy").status, 200);
}

#[test]
fn a_socket_that_is_named_for_a_plugin_is_kept_for_it() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let environment = "LISTEN_FDNAMES=plugin.zoo.events LISTEN_PID=$$";
    let exporter = folder.begin(&mut with_descriptor(listener, environment), &[]);
    assert_ne!(exporter.address, address, "it is not the web server's");
    assert_eq!(exporter.get("/-/healthy").status, 200);
}

#[test]
fn what_is_no_listener_or_is_not_for_us_is_not_served() {
    let folder = folder();
    // It is for another process.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let exporter = folder.begin(&mut with_descriptor(listener, "LISTEN_PID=1"), &[]);
    assert_ne!(exporter.address, address);
    // A file, and a connection, which is what a socket unit with `Accept=yes` passes.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let file = std::fs::File::open(folder.path("perfmon.yml")).unwrap();
    for (handed, part) in [(OwnedFd::from(file), "is not a socket"), (connection.into(), "`Accept=no`")] {
        let mut command = with_descriptor(handed, "LISTEN_PID=$$");
        let output = command.current_dir(folder.path("")).args(["--config", "perfmon.yml"]).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(log.contains("Cannot serve") && log.contains(part), "{log}");
    }
}

/// Runs a judge that may not be on the machine.
fn judge(command: &mut Command) -> Option<std::process::Child> {
    match command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            println!(
                "skipped: {}: {error}; Debian has it in the package systemd",
                command.get_program().display()
            );
            None
        }
    }
}

#[test]
fn systemd_socket_activate_starts_it_with_the_first_reader() {
    let folder = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    drop(taken);
    let mut activate = Command::new("systemd-socket-activate");
    activate.current_dir(folder.path("")).arg("-l").arg(address.to_string());
    let Some(child) = judge(activate.args([PROGRAM, "--config", "perfmon.yml"])) else { return };
    let mut exporter = Exporter::of(child, address);
    exporter.wait_for_line("Listening on");
    // Nobody runs before this.
    assert_eq!(exporter.get("/-/healthy").status, 200);
    exporter.wait_for_line("Listening on a socket of the service manager");
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
}

#[test]
fn systemd_understands_the_units() {
    let folder = Folder::new();
    let units = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/systemd");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]);
    for name in ["perfmon-exporter.service", "perfmon-exporter.socket", "perfmon-exporter-events.socket"] {
        // The program is not installed here.
        let unit = std::fs::read_to_string(units.join(name))
            .unwrap()
            .replace("/usr/bin/perfmon-exporter", "/bin/true");
        verify.arg(folder.write(name, &unit));
    }
    let Some(child) = judge(&mut verify) else { return };
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("perfmon-exporter."), "{said}");
}
