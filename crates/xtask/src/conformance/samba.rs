//! A Samba of our own on a loopback port, with all its state in one folder.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use super::kdc::REALM;
use crate::Result;
use crate::process::{Running, free_port, poll};
use crate::workspace::Workspace;

/// Samba maps its accounts to accounts of the machine, and this one is on every Debian.
pub(crate) const USER: &str = "daemon";
/// Made up, for a server that lives as long as one check.
pub(crate) const PASSWORD: &str = "Made-Up-Passw0rd-1";
pub(crate) const DOMAIN: &str = "PEERS";

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// What serves the pipes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pipes {
    /// Samba's own services, winreg among them.
    Samba,
    /// Whoever listens at [`Samba::pipe_socket`].
    Ours,
}

/// A running smbd. Dropping it ends it, and what it started.
pub(crate) struct Samba {
    folder: TempDir,
    pub(crate) address: SocketAddr,
    // Dropped by `Drop` before the folder goes.
    smbd: Option<Running>,
}

impl Samba {
    /// Starts smbd; `encryption` is what smb.conf takes for `server smb encrypt`.
    pub(crate) fn start(pipes: Pipes, encryption: &str) -> Result<Self> {
        Self::start_with(pipes, encryption, "", &mut Command::new("smbd"))
    }

    /// Starts an smbd that takes Kerberos and no NTLM, and encrypts with one cipher.
    pub(crate) fn with_kerberos(pipes: Pipes, krb5_conf: &Path, keytab: &Path, cipher: &str) -> Result<Self> {
        let more = kerberos_only(keytab) + &format!("server smb3 encryption algorithms = {cipher}\n");
        Self::start_with(pipes, "default", &more, Command::new("smbd").env("KRB5_CONFIG", krb5_conf))
    }

    fn start_with(pipes: Pipes, encryption: &str, more: &str, command: &mut Command) -> Result<Self> {
        let folder = folder()?;
        let port = free_port()?;
        let root = folder.path();
        let configuration = prepare(root, |root| smb_conf(root, port, pipes, encryption) + more)?;
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.args(["-F", "--no-process-group", "-s"]).arg(&configuration).arg("-l").arg(root.join("log"));
        let mut smbd = Running::start("smbd", command)?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let started = poll("smbd listens", START_TIMEOUT, || Ok(TcpStream::connect(address).ok().map(drop)));
        started.map_err(|error| smbd.complaint(&error.to_string()))?;
        Ok(Self { folder, address, smbd: Some(smbd) })
    }

    /// Where smbd looks for the server of `\PIPE\winreg`.
    pub(crate) fn pipe_socket(&self) -> PathBuf {
        self.folder.path().join("ncalrpc/np/winreg")
    }

    pub(crate) fn account() -> String {
        format!("{DOMAIN}\\{USER}")
    }

    /// Starts a simulated host that serves `\PIPE\winreg` behind this smbd.
    pub(crate) fn simulator(&self, workspace: &Workspace, more: &[&str]) -> Result<Running> {
        let mut command = Command::new(workspace.program("windows-sim"));
        if !more.contains(&"--account") {
            command.args(["--account", &Self::account()]);
        }
        command.args(["--seed", "1"]).args(more);
        command
            .arg("--password-file")
            .arg(self.password_file()?)
            .arg("--pipe-socket")
            .arg(self.pipe_socket());
        let mut simulator = Running::start("windows-sim", &mut command)?;
        simulator.wait_for("its pipe", START_TIMEOUT, |line| line.starts_with("serving ").then_some(()))?;
        Ok(simulator)
    }

    /// Where smbd keeps what it knows.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// A file with the password, for programs that read secrets from files only.
    pub(crate) fn password_file(&self) -> Result<PathBuf> {
        password_file(self.folder.path())
    }
}

impl Drop for Samba {
    fn drop(&mut self) {
        // The helpers that serve pipes are started by smbd and outlive it.
        for name in ["samba-dcerpcd.pid", "smbd.pid"] {
            let text = fs::read_to_string(self.folder.path().join("pid").join(name)).unwrap_or_default();
            if let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, Signal::TERM);
            }
        }
        if let Some(smbd) = self.smbd.take() {
            let _ = smbd.end();
        }
    }
}

/// Samba's servers of RPC over TCP, without smbd: its endpoint mapper at port 135 and the others where that says, all in a
/// network of their own. Dropping it ends them.
pub(crate) struct RpcServers {
    folder: TempDir,
    // Dropped before the folder goes.
    running: Option<Running>,
}

/// Where Debian has the program.
const DCERPCD: &str = "/usr/libexec/samba/samba-dcerpcd";

impl RpcServers {
    pub(crate) fn start() -> Result<Self> {
        Self::start_with("")
    }

    /// Servers that take Kerberos and no NTLM.
    pub(crate) fn with_kerberos(keytab: &Path) -> Result<Self> {
        Self::start_with(&kerberos_only(keytab))
    }

    fn start_with(more: &str) -> Result<Self> {
        let folder = folder()?;
        let root = folder.path();
        // The port is smbd's, which does not run.
        let configuration = prepare(root, |root| smb_conf(root, 445, Pipes::Ours, "default") + more)?;
        let script = "ip link set lo up && exec \"$@\"";
        let mut command = Command::new("unshare");
        command
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .args(["--net", "sh", "-c", script, "sh", DCERPCD]);
        command.args(["-F", "--libexec-rpcds", "--no-process-group"]);
        command.arg(format!("--configfile={}", configuration.display())).arg("-l").arg(root.join("log"));
        let mut running = Running::start("samba-dcerpcd", &mut command)?;
        let id = running.id();
        let listens = poll("Samba's endpoint mapper listens", START_TIMEOUT, || {
            let ports = listening(id)?;
            Ok((ports.contains(&135) && ports.iter().any(|port| *port >= 49152)).then_some(()))
        });
        listens.map_err(|error| running.complaint(&error.to_string()))?;
        Ok(Self { folder, running: Some(running) })
    }

    /// A program in the network of the servers.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let id = self.running.as_ref().map_or(0, Running::id);
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{id}/ns/net")).arg(program);
        command
    }

    /// A file with the password.
    pub(crate) fn password_file(&self) -> Result<PathBuf> {
        password_file(self.folder.path())
    }

    pub(crate) fn end(mut self) -> Result<()> {
        self.running.take().map_or(Ok(()), |running| running.end().map(drop))
    }
}

impl Drop for RpcServers {
    fn drop(&mut self) {
        // It ends those that it has started only if it is asked to end.
        if let Some(running) = self.running.take() {
            let _ = running.end();
        }
    }
}

/// The TCP ports of IPv4 that are listened at in the network of a process.
fn listening(process_id: u32) -> Result<Vec<u16>> {
    const LISTEN: &str = "0A";
    let table = fs::read_to_string(format!("/proc/{process_id}/net/tcp"))?;
    let port = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (local, _remote, state) = (words.next()?, words.next()?, words.next()?);
        u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok().filter(|_| state == LISTEN)
    };
    Ok(table.lines().skip(1).filter_map(port).collect())
}

/// Samba reads some of its state with the rights of the client's user.
fn folder() -> Result<TempDir> {
    let readable = fs::Permissions::from_mode(0o755);
    Ok(tempfile::Builder::new().prefix("samba-").permissions(readable).tempdir()?)
}

/// What smb.conf says of Kerberos alone.
fn kerberos_only(keytab: &Path) -> String {
    format!(
        "ntlm auth = disabled\nrealm = {REALM}\nkerberos method = dedicated keytab\n\
         dedicated keytab file = {}\n",
        keytab.display()
    )
}

/// The folders of a server, its configuration, whose path this answers, and the account.
fn prepare(root: &Path, configuration: impl FnOnce(&Path) -> String) -> Result<PathBuf> {
    for name in ["private", "lock", "state", "cache", "pid", "log", "bind", "wb", "ncalrpc/np"] {
        fs::create_dir_all(root.join(name))?;
    }
    for name in ["private", "ncalrpc/np"] {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o700))?;
    }
    let path = root.join("smb.conf");
    fs::write(&path, configuration(root))?;
    add_account(&path)?;
    Ok(path)
}

/// A file with the password, for programs that read secrets from files only.
fn password_file(root: &Path) -> Result<PathBuf> {
    let path = root.join("password");
    fs::write(&path, PASSWORD)?;
    Ok(path)
}

fn smb_conf(root: &Path, port: u16, pipes: Pipes, encryption: &str) -> String {
    let helpers = if pipes == Pipes::Samba { "yes" } else { "no" };
    let root = root.display();
    format!(
        "[global]\n\
         workgroup = {DOMAIN}\nnetbios name = PEERSRV\nserver role = standalone server\n\
         passdb backend = tdbsam:{root}/private/passdb.tdb\nprivate dir = {root}/private\n\
         lock directory = {root}/lock\nstate directory = {root}/state\ncache directory = {root}/cache\n\
         pid directory = {root}/pid\nncalrpc dir = {root}/ncalrpc\nbinddns dir = {root}/bind\n\
         winbindd socket directory = {root}/wb\nlog file = {root}/log/log.%m\nlog level = 1\n\
         interfaces = lo\nbind interfaces only = yes\nsmb ports = {port}\ndisable netbios = yes\n\
         server min protocol = SMB2_10\nserver smb encrypt = {encryption}\nntlm auth = ntlmv2-only\n\
         map to guest = never\nload printers = no\nprinting = bsd\nprintcap name = /dev/null\n\
         disable spoolss = yes\nusershare path =\nrpc start on demand helpers = {helpers}\n"
    )
}

fn add_account(configuration: &Path) -> Result<()> {
    let mut command = Command::new("smbpasswd");
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.arg("-c").arg(configuration).args(["-s", "-a", USER]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        write!(input, "{PASSWORD}\n{PASSWORD}\n")?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("smbpasswd: {}", String::from_utf8_lossy(&output.stderr)).into())
    }
}
