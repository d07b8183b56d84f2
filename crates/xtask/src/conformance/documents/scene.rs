//! A page's machine: a folder with the programs, in which the page's commands run one after another.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Parser;

use super::blocks::{Block, What};
use super::fixture::{self, Fixture, HostPorts};
use crate::process::{Running, free_port};
use crate::stage::Stage;
use crate::workspace::{Workspace, capture};
use crate::{Arguments, Result};

/// No command of the documents takes longer, building apart.
const COMMAND_SECONDS_MAX: &str = "60";
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// Stands in for systemd: answers whether the units are installed that it is asked about.
const SYSTEMCTL: &str = r#"#!/bin/sh
case $1 in
daemon-reload) exit 0 ;;
enable | start | restart | reload | status) shift ;;
*) echo "systemctl $*: not known here" >&2; exit 2 ;;
esac
for word; do
    case $word in
    -*) ;;
    *) test -f "$SYSTEM/etc/systemd/system/${word%.service}.service" || { echo "$word: no such unit" >&2; exit 5; } ;;
    esac
done
"#;

/// How many blocks and commands were looked at.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) commands: usize,
    pub(super) files: usize,
    pub(super) windows: usize,
    pub(super) read_only: usize,
}

/// The plugins that the documents install.
const PLUGINS: [&str; 4] =
    ["libplugin_pcq.so", "libplugin_comt.so", "libplugin_rpc_state.so", "libplugin_pla.so"];

/// The machine of one page.
pub(super) struct Scene<'a> {
    workspace: &'a Workspace,
    stage: Stage<'a>,
    system: PathBuf,
    hosts: HostPorts,
    port: u16,
    /// The page's `perfmon.yml` as the documents have it.
    configuration: String,
    exporter: Option<Running>,
    pub(super) counts: Counts,
}

impl<'a> Scene<'a> {
    /// A folder for a page that begins with this configuration.
    pub(super) fn new(workspace: &'a Workspace, hosts: HostPorts, configuration: &str) -> Result<Self> {
        let stage = Stage::new(workspace)?;
        let (system, root) = (stage.path("system"), &workspace.root);
        let here = stage.path("");
        for folder in ["bin", "target", "system/usr/bin", "system/usr/lib/perfmon-exporter"] {
            fs::create_dir_all(here.join(folder))?;
        }
        for folder in ["etc/systemd/system", "run/secrets", "var/lib/perfmon-exporter"] {
            fs::create_dir_all(system.join(folder))?;
        }
        symlink(workspace.target.join("release"), here.join("target/release"))?;
        for folder in ["deploy", "plugin-api"] {
            symlink(root.join(folder), here.join(folder))?;
        }
        for plugin in PLUGINS {
            symlink(workspace.program(plugin), system.join("usr/lib/perfmon-exporter").join(plugin))?;
        }
        for program in ["perfmon-exporter", "perfmon-tool"] {
            symlink(workspace.program(program), here.join("bin").join(program))?;
        }
        fs::write(here.join("bin/systemctl"), SYSTEMCTL)?;
        capture(Command::new("chmod").arg("+x").arg(here.join("bin/systemctl")))?;
        let mut scene = Self {
            workspace,
            stage,
            system,
            hosts,
            port: free_port()?,
            configuration: String::new(),
            exporter: None,
            counts: Counts::default(),
        };
        if !configuration.is_empty() {
            scene.add_secrets()?;
            scene.configure(configuration)?;
        }
        Ok(scene)
    }

    /// The password where the documents expect it, those of the unit's credentials included.
    fn add_secrets(&self) -> Result<()> {
        let unit = fs::read_to_string(self.workspace.root.join("deploy/systemd/perfmon-exporter.service"))?;
        let credentials = self.system.join("run/credentials/perfmon-exporter.service");
        fs::create_dir_all(&credentials)?;
        let mut files = vec![self.stage.path("secret")];
        files.extend(["corp", "token"].map(|name| self.system.join("run/secrets").join(name)));
        files.extend(loaded_credentials(&unit).map(|(name, _)| credentials.join(name)));
        for file in files {
            fs::write(&file, format!("{}\n", fixture::PASSWORD))?;
            capture(Command::new("chmod").arg("600").arg(file))?;
        }
        Ok(())
    }

    /// Does with a block what its fence says.
    pub(super) fn play(&mut self, block: &Block) -> Result<()> {
        let played = match &block.what {
            What::Run(code) => block.commands().iter().try_for_each(|command| self.run(command, *code)),
            What::Root => self.as_root(block),
            What::Serve => self.serve(block),
            What::Developer => self.look_at(block, check_command),
            What::WindowsHost => self.look_at(block, |_, _| Ok(())),
            What::Windows => self.look_at_windows(block),
            What::File(name) => self.write(name, &block.text),
            What::Keys => self.configure(&fixture::merged(&self.configuration, &block.text)),
            What::Queries | What::Text => Ok(()),
        };
        played.map_err(|error| format!("{}: {error}", block.place).into())
    }

    /// Ends what the page started.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.exporter.take() {
            Some(exporter) => exporter.end().map(drop),
            None => Ok(()),
        }
    }

    fn fixture(&self) -> Fixture<'_> {
        Fixture { system: &self.system, hosts: self.hosts, port: self.port }
    }

    /// A command of a shell in the page's folder.
    fn shell(&self) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("timeout");
        shell
            .args([COMMAND_SECONDS_MAX, "bash", "-euo", "pipefail", "-c"])
            .current_dir(self.stage.path(""))
            .env("PATH", format!("{}:{path}", self.stage.path("bin").display()))
            .env("SYSTEM", &self.system)
            .env_remove("PERFMON_EXPORTER_CONFIG");
        shell
    }

    /// Runs a command, and answers its prompts with the password.
    fn run(&mut self, command: &str, code: i32) -> Result<()> {
        let mapped = self.fixture().command(command);
        let mut shell = self.shell();
        shell.arg(&mapped).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // Most commands do not ask, and may have ended.
            let _ = writeln!(input, "{}", fixture::PASSWORD);
        }
        let output = child.wait_with_output()?;
        self.counts.commands += 1;
        if output.status.code() == Some(code) {
            return Ok(());
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{mapped}` ended with {}, not with {code}:\n{printed}{complaint}", output.status).into())
    }

    /// Starts the exporter and waits until it is ready.
    fn serve(&mut self, block: &Block) -> Result<()> {
        self.end()?;
        let commands = block.commands();
        let [command] = commands.as_slice() else { return Err("a block to serve has one command".into()) };
        let program = "perfmon-exporter --config ";
        if !command.contains(program) {
            return Err(format!("`{command}` does not serve").into());
        }
        let mut shell = Command::new("bash");
        let path = std::env::var("PATH").unwrap_or_default();
        shell.args(["-euc", &format!("exec {}", self.fixture().command(command))]);
        shell.current_dir(self.stage.path(""));
        shell.env("PATH", format!("{}:{path}", self.stage.path("bin").display()));
        let mut exporter = Running::start("perfmon-exporter", &mut shell)?;
        exporter.wait_for("line that it is ready", READY_TIMEOUT, |line| {
            line.contains(" Ready ").then_some(())
        })?;
        self.exporter = Some(exporter);
        self.counts.commands += 1;
        Ok(())
    }

    /// Runs commands of root, and looks whether what they installed would work.
    fn as_root(&mut self, block: &Block) -> Result<()> {
        for plugin in PLUGINS {
            let plugin = self.system.join("usr/lib/perfmon-exporter").join(plugin);
            if plugin.is_symlink() {
                fs::remove_file(&plugin)?;
            }
        }
        for command in block.commands() {
            self.run(&command, 0)?;
        }
        for unit in fs::read_dir(self.system.join("etc/systemd/system"))? {
            self.check_unit(&fs::read_to_string(unit?.path())?)?;
        }
        Ok(())
    }

    /// Whether everything that the unit names is installed, and its configuration is good.
    fn check_unit(&mut self, unit: &str) -> Result<()> {
        let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap_or_default();
        let credentials = loaded_credentials(unit).map(|(_, file)| file);
        let files = start.split_whitespace().filter(|word| word.starts_with('/')).chain(credentials);
        for file in files {
            if !self.system.join(file.trim_start_matches('/')).is_file() {
                return Err(format!("the unit needs {file}, which is not installed").into());
            }
        }
        let (_, configuration) = start.split_once("--config ").ok_or("the unit names no configuration")?;
        self.run(&format!("/usr/bin/perfmon-exporter check-config {configuration}"), 0)
    }

    /// Commands that cannot run here.
    fn look_at(&mut self, block: &Block, look: impl Fn(&Workspace, &str) -> Result<()>) -> Result<()> {
        for command in block.commands() {
            capture(Command::new("bash").args(["-n", "-c", &command]))?;
            look(self.workspace, &command)?;
            self.counts.read_only += 1;
        }
        Ok(())
    }

    fn look_at_windows(&mut self, block: &Block) -> Result<()> {
        for command in block.commands() {
            super::check_powershell(&command)?;
            self.counts.windows += 1;
        }
        Ok(())
    }

    fn write(&mut self, name: &str, text: &str) -> Result<()> {
        if name == "perfmon.yml" {
            return self.configure(text);
        }
        let file = self.stage.path(name);
        fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        fs::write(file, self.fixture().file(text))?;
        self.counts.files += 1;
        // Files that the configuration names are read with it.
        if name.starts_with("targets.d/") { self.check_configuration() } else { Ok(()) }
    }

    /// Gives the page another configuration.
    fn configure(&mut self, text: &str) -> Result<()> {
        text.clone_into(&mut self.configuration);
        fs::write(self.stage.path("perfmon.yml"), self.fixture().configuration(text))?;
        self.counts.files += 1;
        self.check_configuration()
    }

    fn check_configuration(&mut self) -> Result<()> {
        if !self.stage.path("secret").exists() {
            self.add_secrets()?;
        }
        self.run("perfmon-exporter check-config perfmon.yml", 0)
    }
}

/// Name and file of each credential that a unit hands over.
fn loaded_credentials(unit: &str) -> impl Iterator<Item = (&str, &str)> {
    unit.lines().filter_map(|line| line.strip_prefix("LoadCredential=")?.split_once(':'))
}

// Commands for developers: whether they exist, without running them.

/// Whether cargo, or this tool, would take the command.
fn check_command(workspace: &Workspace, command: &str) -> Result<()> {
    let words = words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cargo", "xtask", rest @ ..] => {
            Arguments::try_parse_from(["cargo xtask"].iter().chain(rest)).map_err(|error| {
                let error = error.to_string();
                format!("`{command}`: {}", error.lines().next().unwrap_or_default())
            })?;
            Ok(())
        }
        ["cargo", "build" | "test" | "bench", options @ ..] => {
            for pair in options.windows(2).filter(|pair| pair[0] == "-p") {
                if !workspace.packages.contains_key(pair[1]) {
                    return Err(format!("`{command}`: there is no package `{}`", pair[1]).into());
                }
            }
            Ok(())
        }
        ["cargo", "fuzz", ..] | ["cp", ..] => Ok(()),
        _ => Err(format!(
            "`{command}`: there is no check for it; see `check_command` of conformance/documents/scene.rs"
        )
        .into()),
    }
}

/// The words of a command as a shell splits them.
fn words(command: &str) -> Result<Vec<String>> {
    let printed = capture(Command::new("bash").args(["-c", &format!("printf '%s\\n' {command}")]))?;
    Ok(printed.lines().map(str::to_owned).collect())
}
