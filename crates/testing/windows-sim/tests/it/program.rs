//! The program, as tests and people start it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) fn program(folder: &TempDir) -> Command {
    let password = folder.path().join("password");
    std::fs::write(&password, "Passw0rd!\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_windows-sim"));
    command.args(["--account", r"CORP\svc-metrics", "--password-file"]).arg(password).stdout(Stdio::piped());
    command
}

pub(crate) fn lines(child: &mut Child, count: usize) -> Vec<String> {
    BufReader::new(child.stdout.take().unwrap()).lines().take(count).map(Result::unwrap).collect()
}

pub(crate) fn refusal(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(status.code(), Some(2));
    String::from_utf8(stderr).unwrap()
}

pub(crate) fn terminate(mut child: Child) -> Option<i32> {
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn hosts_listen_on_consecutive_addresses_until_sigterm_ends_them_with_0() {
    let folder = TempDir::new().unwrap();
    let mut child =
        program(&folder).args(["--bind", "127.9.8.254", "--smb-port", "0", "--hosts", "3"]).spawn().unwrap();
    let listening = lines(&mut child, 3);
    for (line, address) in listening.iter().zip(["127.9.8.254", "127.9.8.255", "127.9.9.0"]) {
        let at = line.strip_prefix("listening on ").unwrap();
        assert!(at.starts_with(address), "{line}");
        std::net::TcpStream::connect(at).unwrap();
    }
    assert_eq!(terminate(child), Some(0));
}

#[test]
fn the_socket_for_smbd_is_made_and_removed() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("winreg");
    let mut child = program(&folder).arg("--pipe-socket").arg(&socket).spawn().unwrap();
    assert_eq!(lines(&mut child, 1), [format!(r"serving \PIPE\winreg on {}", socket.display())]);
    std::os::unix::net::UnixStream::connect(&socket).unwrap();
    assert_eq!(terminate(child), Some(0));
    assert!(!socket.exists());
}

#[test]
fn a_resolver_and_objects_listen_where_the_program_says() {
    let folder = TempDir::new().unwrap();
    let mut child = program(&folder).args(["--epm-port", "0"]).spawn().unwrap();
    let listening = lines(&mut child, 1).remove(0);
    let addresses = listening.strip_prefix("resolving objects on ").unwrap();
    let (resolver, exporter) = addresses.split_once(", which are on ").unwrap();
    assert_ne!(resolver, exporter);
    for address in [resolver, exporter] {
        std::net::TcpStream::connect(address).unwrap();
    }
    assert_eq!(terminate(child), Some(0));
}

#[test]
fn data_collector_sets_are_read_from_files_or_refused_with_the_line() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("Orders at Noon.xml");
    let run = || {
        let mut command = program(&folder);
        command.args(["--epm-port", "0", "--pla-set"]).arg(&file);
        command
    };
    std::fs::write(&file, "<DataCollectorSet><Duration>60</Duration></DataCollectorSet>").unwrap();
    let mut child = run().spawn().unwrap();
    lines(&mut child, 1);
    assert_eq!(terminate(child), Some(0));
    std::fs::write(&file, "<DataCollectorSet>\n<Duration>soon</Duration></DataCollectorSet>").unwrap();
    assert!(refusal(&mut run()).contains("Orders at Noon.xml: line 2"));
    std::fs::write(&file, "<DataCollectorSet><Name>low memory</Name></DataCollectorSet>").unwrap();
    assert!(refusal(&mut run()).contains("there already is a data collector set with this name"));
}

#[test]
fn options_that_make_no_sense_are_refused_with_what_to_write() {
    let folder = TempDir::new().unwrap();
    assert!(
        refusal(program(&folder).args(["--smb-port", "0", "--account", "nodomain"]))
            .contains(r"write DOMAIN\user")
    );
    assert!(refusal(&mut program(&folder)).contains("--smb-port"));
    assert!(refusal(program(&folder).args(["--smb-port", "0", "--clock", "noon"])).contains("noon"));
    assert!(
        refusal(program(&folder).args(["--smb-port", "0", "--fault", "6=explode"]))
            .contains("no action `explode`")
    );
    for (option, value, complaint) in [
        ("--black-hole", "101%", "number of percent"),
        ("--slow", "5%", "write SHARE:DURATION"),
        ("--change", "Workers=updated", "only `Updates` can be updated"),
        ("--countersets", "2001", "2000"),
        ("--fault", "spoolss/1=drop", "there is no service `spoolss`"),
        ("--fault", "winreg/17=corrupt:index", "not for `winreg`"),
    ] {
        let error = refusal(program(&folder).args(["--smb-port", "0", option, value]));
        assert!(error.contains(complaint), "{error}");
    }
    let fleet = ["--smb-port", "0", "--bind", "192.0.2.1", "--hosts", "2"];
    assert!(refusal(program(&folder).args(fleet)).contains("leaves 127.0.0.0/8"));
}
