//! A server of PostgreSQL in a scratch folder.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::{Row, rows};
use crate::Result;
use crate::peers::{is_root, postgres_programs};
use crate::process::{Running, free_port, poll};
use crate::stage::{PASSWORD, START_TIMEOUT};
use crate::workspace::capture;

/// A server of PostgreSQL with a scratch database, which ends when this goes.
pub(crate) struct Server {
    folder: TempDir,
    programs: PathBuf,
    pub(crate) port: u16,
    owner: Option<(u32, u32)>,
    running: Option<Running>,
}

impl Server {
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("perfmon-postgres-").tempdir()?;
        let programs = postgres_programs().ok_or("PostgreSQL is not installed")?;
        let id = |option: &str| -> Result<u32> {
            Ok(capture(Command::new("id").args([option, "postgres"]))?.trim().parse()?)
        };
        // It refuses to run as root.
        let owner = if is_root() { Some((id("-u")?, id("-g")?)) } else { None };
        if let Some((user, group)) = owner {
            chown(folder.path(), Some(user), Some(group))?;
        }
        let mut server = Self { folder, programs, port: free_port()?, owner, running: None };
        server.certificate()?;
        server.write("password", PASSWORD)?;
        let mut init = server.command("initdb");
        init.args([
            "--username",
            "perf",
            "--auth",
            "scram-sha-256",
            "--encoding",
            "UTF8",
            "--no-locale",
            "-D",
            "data",
        ]);
        capture(init.args(["--pwfile", "password"]))?;
        server.start()?;
        server.psql("postgres", "CREATE DATABASE perf")?;
        Ok(server)
    }

    /// A certificate that nobody but itself signs.
    fn certificate(&self) -> Result<()> {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        self.write("server.crt", &signed.cert.pem())?;
        self.write("server.key", &signed.signing_key.serialize_pem())
    }

    /// A file that only the server's user may read.
    fn write(&self, name: &str, content: &str) -> Result<()> {
        let path = self.folder.path().join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(content.as_bytes())?;
        if let Some((user, group)) = self.owner {
            chown(&path, Some(user), Some(group))?;
        }
        Ok(())
    }

    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }

    /// A program of PostgreSQL, as the user that owns the database.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder.path()).env("LC_ALL", "C");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    /// After a kill, the old server's processes may take a moment to go; the new one refuses to start until then.
    pub(crate) fn start(&mut self) -> Result<()> {
        let running = poll("a server of PostgreSQL", START_TIMEOUT, || {
            let mut command = self.command("postgres");
            command.args(["-D", "data", "-c", "listen_addresses=127.0.0.1", "-p", &self.port.to_string()]);
            // Processes are killed, the machine is not: what they wrote needs no disk to be there again.
            command.args(["-c", "fsync=off"]);
            command.args([
                "-c",
                "ssl=on",
                "-c",
                "ssl_cert_file=../server.crt",
                "-c",
                "ssl_key_file=../server.key",
            ]);
            let mut running = Running::start("postgres", command.arg("-k").arg(self.folder.path()))?;
            let is_ready = |line: &str| line.contains("ready to accept connections").then_some(());
            Ok(running.wait_for("server", START_TIMEOUT, is_ready).is_ok().then_some(running))
        })?;
        self.running = Some(running);
        Ok(())
    }

    /// As a failure of the power: no process of it does anything more.
    pub(crate) fn kill(&mut self) -> Result<()> {
        let running = self.running.take().ok_or("the server does not run")?;
        let group = i32::try_from(running.id()).ok().and_then(Pid::from_raw).ok_or("it has no id")?;
        kill_process_group(group, Signal::KILL)?;
        Ok(())
    }

    pub(crate) fn end(mut self) -> Result<()> {
        let running = self.running.take().ok_or("the server does not run")?;
        running.end()?;
        Ok(())
    }

    pub(crate) fn psql(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = Command::new("psql");
        psql.env("PGPASSWORD", PASSWORD).args(["-X", "-A", "-t", "-F", "|", "-v", "ON_ERROR_STOP=1"]);
        psql.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "perf", "-d", database, "-c", sql]);
        capture(&mut psql)
    }

    pub(crate) fn ask(&self, sql: &str, log: &str) -> Result<Vec<Row>> {
        Ok(rows(&self.psql("perf", &sql.replace("{log}", log))?))
    }
}
