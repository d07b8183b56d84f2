//! Commands of plugins as a person calls them: the whole program, the counter plugin beside it, a simulated host.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use windows_sim::model::{self, ValueSource};
use windows_sim::{Account, Accounts, WindowsHost, server};

use crate::command_line::check_reader_gone;
use crate::program::Folder;

pub(crate) const PASSWORD: &str = "Passw0rd-of-the-test";

/// A simulated host on loopback.
pub(crate) struct Sim {
    host: Arc<WindowsHost>,
    pub(crate) port: u16,
    _runtime: Runtime,
}

impl Sim {
    pub(crate) fn new() -> Self {
        Self::on("127.0.0.1")
    }

    fn on(address: &str) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let account = Account::new("CORP", "svc", ssp::Secret::new(PASSWORD));
        let source: Arc<dyn ValueSource> = Arc::new(model::Host::new(model::HostOptions::default()));
        let host = Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account]))));
        let listener = runtime.block_on(TcpListener::bind((address, 0))).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(server::listen_smb(Arc::clone(&host), listener, server::Limits::default()));
        Self { host, port, _runtime: runtime }
    }

    /// Logons so far: right ones and wrong ones.
    pub(crate) fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        let sum = |of: fn(&windows_sim::Attempts) -> u64| attempts.values().map(of).sum();
        (sum(|seen| seen.accepted), sum(|seen| seen.refused))
    }

    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }
}

/// The program and the counter plugin in one folder, as they are installed.
pub(crate) struct Installed {
    pub(crate) folder: Folder,
    program: PathBuf,
}

impl Installed {
    pub(crate) fn new() -> Self {
        Self::with_plugins(&["pcq"])
    }

    /// With the plugin of COM+, too.
    pub(crate) fn with_com_plus() -> Self {
        Self::with_plugins(&["pcq", "comt"])
    }

    pub(crate) fn with_plugins(plugins: &[&str]) -> Self {
        let folder = Folder::new();
        plugins.iter().for_each(|plugin| folder.built_plugin(plugin));
        let program = folder.place(Path::new(env!("CARGO_BIN_EXE_perfmon-exporter")), "perfmon-exporter");
        folder.write("password", &format!("{PASSWORD}\n"));
        folder.write("wrong", "not it\n");
        Self { folder, program }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path("")).env("PERFMON_EXPORTER_CONFIG", "").args(arguments);
        command
    }
}

/// Exit code, standard output and standard error.
pub(crate) fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(!out.contains(PASSWORD) && !err.contains(PASSWORD), "{out}{err}");
    (output.status.code().unwrap(), out, err)
}

/// Words for an account that needs no configuration.
fn as_svc<'a>(port: &'a str, password_file: &'a str) -> Vec<&'a str> {
    vec!["--target", "127.0.0.1", "--port", port, "--username", r"CORP\svc", "--password-file", password_file]
}

pub(crate) fn config(port: u16, more: &str) -> String {
    format!(
        "plugins: {{load: [pcq]}}
transports:
  here: {{smb: {{port: {port}}}}}
identities:
  corp: {{kind: ntlm, domain: CORP, username: svc, password_file: password, allow_hosts: [127.0.0.1]}}
modules:
  os: {{plugin: pcq, countersets: [{{name: Process V2}}]}}
targets:
  - {{name: web1, host: 127.0.0.1, identity: corp, transport: here, modules: [os]}}
{more}"
    )
}

#[test]
fn help_lists_the_commands_of_plugins_and_survives_a_broken_one() {
    let installed = Installed::new();
    installed.folder.write("libplugin_broken.so", "no library");
    let (code, out, _) = told(&installed.run(&["--help"]));
    assert_eq!(code, 0);
    // Its columns are as wide as the longest command.
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["Commands of plugins", "discover Lists the countersets of a host", "query Shows live values"]
    {
        assert!(words.contains(part), "{part}\n{out}");
    }
    // A word that is no command is told what there is, and what could not be looked at.
    let (code, _, err) = told(&installed.run(&["dicsover"]));
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `discover`?"), "{err}");
    assert!(err.contains("libplugin_broken.so"), "{err}");
}

#[test]
fn help_of_a_command_is_made_of_what_it_declares() {
    let installed = Installed::new();
    let (code, alias, _) = told(&installed.run(&["query", "--help"]));
    assert_eq!(code, 0);
    for part in [
        "Usage: perfmon-exporter query [OPTIONS] <PATH>... --target <HOST>",
        "--interval <TIME>",
        "--username <DOMAIN\\USER>",
        r"perfmon-exporter query --config perfmon.yml --target web1 '\Processor Information(_Total)\% Processor Time'",
        "  130  it was ended by Ctrl-C",
    ] {
        assert!(alias.contains(part), "{part}\n{alias}");
    }
    let (_, full, _) = told(&installed.run(&["pcq", "query", "-h"]));
    assert_eq!(full, alias);
}

#[test]
fn an_account_of_the_command_line_needs_no_configuration() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let port = sim.port.to_string();
    let args = [
        &["query"][..],
        &as_svc(&port, "password"),
        &["--count", "1", r"\Processor Information(0,0)\Parking Status"],
    ];
    let (code, out, err) = told(&installed.run(&args.concat()));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("Parking Status"), "{out}");
    let words =
        ["discover", "--target=127.0.0.1", "--port", &port, r"--username=CORP\svc", "--password-env=PW"];
    let output = installed.command(&words).env("PW", PASSWORD).output().unwrap();
    assert_eq!(told(&output).0, 0);
}

#[test]
fn what_is_discovered_is_a_good_configuration() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let port = sim.port.to_string();
    let args = [&["discover"][..], &as_svc(&port, "password")].concat();
    let (code, out, err) = told(&installed.run(&args));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("totals: drop"), "{out}");
    installed.folder.write("found.yml", &out);
    let (code, out, err) = told(&installed.run(&["check-config", "found.yml"]));
    assert_eq!(
        (code, out.as_str()),
        (0, "found.yml: OK: targets 0, modules 1, identities 0, plugins pcq\n"),
        "{err}"
    );
}

#[test]
fn a_target_of_the_configuration_is_known_by_its_name() {
    let (installed, sim) = (Installed::new(), Sim::new());
    installed.folder.write("perfmon.yml", &config(sim.port, ""));
    let words = ["discover", "--config", "perfmon.yml", "--target", "web1", "--counterset", "Process V2"];
    let (code, out, err) = told(&installed.run(&words));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("- name: Process V2"), "{out}");
    // Before the command the configuration may stand, too, and in the environment.
    let words = ["--config", "perfmon.yml", "discover", "--target", "web1", "--counterset", "Process V2"];
    assert_eq!(told(&installed.run(&words)).0, 0);
    let output =
        installed.command(&words[2..]).env("PERFMON_EXPORTER_CONFIG", "perfmon.yml").output().unwrap();
    assert_eq!(told(&output).0, 0);
}

#[test]
fn an_identity_goes_only_where_it_is_allowed() {
    let (installed, sim) = (Installed::new(), Sim::on("127.0.0.2"));
    installed.folder.write("perfmon.yml", &config(sim.port, ""));
    let port = sim.port.to_string();
    let words = ["discover", "--config", "perfmon.yml", "--target", "127.0.0.2", "--port", &port];
    let (code, _, err) = told(&installed.run(&words));
    assert_eq!(code, 2);
    assert!(err.contains("no identity of the configuration may be used for 127.0.0.2"), "{err}");
    // Who names it nevertheless gets no secret.
    let (code, _, err) = told(&installed.run(&[&words[..], &["--identity", "corp"]].concat()));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("`127.0.0.2` is not in the `allow_hosts` of identity `corp`"), "{err}");
    assert_eq!(sim.logons(), (0, 0));
}

#[test]
fn a_password_that_was_refused_is_not_tried_by_the_next_run() {
    let (installed, sim) = (Installed::new(), Sim::new());
    std::fs::create_dir(installed.folder.path("state")).unwrap();
    let file = config(sim.port, "credentials: {state_dir: state}\n")
        .replace("password_file: password", "password_file: wrong");
    installed.folder.write("perfmon.yml", &file);
    let words = ["discover", "--config", "perfmon.yml", "--target", "web1"];
    let (code, _, err) = told(&installed.run(&words));
    assert_eq!(code, 1);
    assert!(err.contains("auth: wrong_credentials"), "{err}");
    let (code, _, err) = told(&installed.run(&words));
    assert_eq!(code, 1);
    assert!(err.contains("; withheld until "), "{err}");
    assert_eq!(sim.logons(), (0, 1));
}

#[test]
fn a_command_line_that_lacks_something_says_what() {
    let installed = Installed::new();
    for (words, part) in [
        (&["discover"][..], "--target HOST is missing"),
        (&["discover", "--target", "web1"], "no identity is given for web1"),
        (
            &["discover", "--target", "web1", "--username", "a"],
            "--username needs --password-file or --password-env",
        ),
        (&["discover", "--config"], "--config needs a value"),
        (&["pcq", "discvoer"], "did you mean `discover`?"),
        (&["discover", "--target", "web1", "--log.level", "a=b=c"], "--log.level"),
    ] {
        let (code, out, err) = told(&installed.run(words));
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert!(err.contains(part), "{words:?}: {err}");
    }
}

#[test]
fn a_secret_that_cannot_be_read_is_told_with_its_file() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let port = sim.port.to_string();
    let (code, _, err) = told(&installed.run(&[&["discover"][..], &as_svc(&port, "nowhere")].concat()));
    assert_eq!(code, 1);
    assert!(err.contains("password file nowhere cannot be read: No such file"), "{err}");
    assert_eq!((sim.logons(), sim.connections()), ((0, 0), 1));
}

#[test]
fn a_command_of_a_plugin_whose_reader_has_gone_ends_quietly() {
    let (installed, sim) = (Installed::with_plugins(&["pcq", "pla"]), Sim::new());
    let port = sim.port.to_string();
    installed.folder.write("set.xml", SET);
    let online = |words: &[&'static str]| -> Vec<String> {
        let words =
            words[..1].iter().copied().chain(as_svc(&port, "password")).chain(words[1..].iter().copied());
        words.map(str::to_owned).collect()
    };
    let offline = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    for arguments in [
        offline(&["query", "--help"]),
        offline(&["pla", "validate", "set.xml"]),
        offline(&["pla", "to-rules", "set.xml"]),
        online(&["discover"]),
        online(&["discover", "--format", "json"]),
        online(&["query", r"\Process V2(*)\Working Set", "--count", "2", "--interval", "10ms"]),
        online(&["query", r"\Nothing\Here"]),
    ] {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        check_reader_gone(|| installed.command(&words));
    }
}

const SET: &str = r"<DataCollectorSet><Name>Low</Name><AlertDataCollector><Name>a</Name>
<Alert>\Memory\Available MBytes&lt;500</Alert></AlertDataCollector></DataCollectorSet>";

#[test]
fn a_secret_that_was_hardly_meant_is_told_where_it_is_refused() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let port = sim.port.to_string();
    for (secret, hint) in [
        (format!("{PASSWORD} \n"), Some("begins or ends with white space")),
        (format!("{PASSWORD}\n\n"), Some("has more than one line end")),
        (format!("not {PASSWORD}"), None),
    ] {
        installed.folder.write("odd", &secret);
        let (code, _, err) = told(&installed.run(&[&["discover"][..], &as_svc(&port, "odd")].concat()));
        let note = err.lines().find(|line| line.starts_with("note: "));
        assert_eq!((code, note.is_some()), (1, hint.is_some()), "{err}");
        if let (Some(note), Some(hint)) = (note, hint) {
            assert!(
                note.starts_with(r"note: the password of identity `CORP\svc` ") && note.contains(hint),
                "{note}"
            );
        }
    }
}
