//! A KDC of MIT Kerberos on a loopback port, with all its state in one folder.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use crate::Result;
use crate::process::{Running, free_port, poll};
use crate::workspace::capture;

pub(crate) const REALM: &str = "PEERS.EXAMPLE";
/// Made up, for a KDC that lives as long as one check.
pub(crate) const PASSWORD: &str = "Made-Up-Passw0rd-1";

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A running KDC. Dropping it ends it.
pub(crate) struct Kdc {
    pub(crate) address: SocketAddr,
    folder: TempDir,
    running: Option<Running>,
}

impl Kdc {
    pub(crate) fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("kdc-").tempdir()?;
        let root = folder.path();
        let port = free_port()?;
        fs::write(root.join("krb5.conf"), krb5_conf(port))?;
        fs::write(root.join("kdc.conf"), kdc_conf(root, port))?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut kdc = Self { address, folder, running: None };
        capture(kdc.command("kdb5_util").args(["create", "-s", "-r", REALM, "-P", "Made-Up-Master-Key"]))?;
        let mut running = Running::start("krb5kdc", kdc.command("krb5kdc").arg("-n"))?;
        let started =
            poll("the KDC listens", START_TIMEOUT, || Ok(TcpStream::connect(address).ok().map(drop)));
        started.map_err(|error| running.complaint(&error.to_string()))?;
        kdc.running = Some(running);
        Ok(kdc)
    }

    /// An account with [`PASSWORD`], and a keytab with its keys.
    pub(crate) fn add_account(&self, name: &str) -> Result<PathBuf> {
        self.administer(&["addprinc", "-pw", PASSWORD, name])?;
        self.keytab(name)
    }

    /// A service with random keys, and a keytab with them.
    pub(crate) fn add_service(&self, name: &str) -> Result<PathBuf> {
        self.administer(&["addprinc", "-randkey", name])?;
        self.keytab(name)
    }

    /// A service as Active Directory has them, with keys of RFC 3962; they go into the keytab of another one.
    pub(crate) fn add_service_to(&self, keytab: &Path, name: &str) -> Result<()> {
        self.administer(&["addprinc", "-randkey", "-e", "aes256-cts-hmac-sha1-96:normal", name])?;
        self.administer(&["ktadd", "-norandkey", "-k", &keytab.display().to_string(), name])
    }

    /// A service that has a key for RC4 alone.
    pub(crate) fn add_weak_service(&self, name: &str) -> Result<PathBuf> {
        self.administer(&["addprinc", "-randkey", "-e", "arcfour-hmac:normal", name])?;
        self.keytab(name)
    }

    /// Services with random keys, and a keytab with all of them.
    pub(crate) fn add_services(&self, names: impl Iterator<Item = String>) -> Result<PathBuf> {
        let path = self.folder.path().join("services.keytab");
        let mut script = String::new();
        for name in names {
            writeln!(script, "addprinc -randkey {name}\nktadd -norandkey -k {} {name}", path.display())?;
        }
        let file = self.folder.path().join("script");
        fs::write(&file, script)?;
        capture(self.command("sh").args(["-c", "exec kadmin.local < $0"]).arg(file))?;
        Ok(path)
    }

    /// Fills a cache as an administrator would; answers with its name.
    pub(crate) fn log_on(&self, name: &str, keytab: &Path) -> Result<String> {
        let number = fs::read_dir(self.folder.path())?.count();
        let cache = format!("FILE:{}", self.folder.path().join(format!("{name}-{number}.cache")).display());
        capture(self.command("kinit").args(["-c", &cache, "-k", "-t"]).arg(keytab).arg(name))?;
        Ok(cache)
    }

    /// Adds the tickets of services to a cache, of types that impacket knows.
    pub(crate) fn fetch(&self, cache: &str, services: &[&str]) -> Result<()> {
        let path = self.folder.path().join("sha1.conf");
        let limited = "[libdefaults]\npermitted_enctypes = aes256-cts-hmac-sha1-96\n";
        fs::write(&path, limited)?;
        let both = format!("{}:{}", path.display(), self.krb5_conf().display());
        let mut command = self.command("kvno");
        capture(command.env("KRB5_CONFIG", both).args(["-c", cache]).args(services)).map(drop)
    }

    /// Where clients find the KDC.
    pub(crate) fn krb5_conf(&self) -> PathBuf {
        self.folder.path().join("krb5.conf")
    }

    /// Answers so far, by the kind of request.
    pub(crate) fn answers(&self) -> Result<Answers> {
        let log = fs::read_to_string(self.folder.path().join("kdc.log"))?;
        let count =
            |kind: &str| log.lines().filter(|line| line.contains(kind) && line.contains("ISSUE")).count();
        Ok(Answers { ticket_granting: count("AS_REQ"), service: count("TGS_REQ") })
    }

    /// Refusals of a password or key so far.
    pub(crate) fn refusals(&self) -> Result<usize> {
        let log = fs::read_to_string(self.folder.path().join("kdc.log"))?;
        Ok(log.lines().filter(|line| line.contains("AS_REQ") && line.contains("PREAUTH_FAILED")).count())
    }

    /// Stops the process, so that it answers nobody.
    pub(crate) fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.running.as_ref().map(Running::id).and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(rustix::process::kill_process(id.ok_or("no KDC runs")?, signal)?)
    }

    /// Ends the process; nobody listens then.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.signal(Signal::CONT)?;
        self.running.take().map_or(Ok(()), |running| running.end().map(drop))
    }

    fn keytab(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(format!("{}.keytab", name.replace('/', "-")));
        let file = path.display().to_string();
        self.administer(&["ktadd", "-norandkey", "-k", &file, name])?;
        Ok(path)
    }

    /// Runs a request of kadmin.local.
    pub(crate) fn administer(&self, words: &[&str]) -> Result<()> {
        capture(self.command("kadmin.local").args(words)).map(drop)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("KRB5_CONFIG", self.krb5_conf());
        command.env("KRB5_KDC_PROFILE", self.folder.path().join("kdc.conf"));
        command
    }
}

/// Tickets that a KDC issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answers {
    pub(crate) ticket_granting: usize,
    pub(crate) service: usize,
}

impl std::ops::Sub for Answers {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            ticket_granting: self.ticket_granting - before.ticket_granting,
            service: self.service - before.service,
        }
    }
}

fn krb5_conf(port: u16) -> String {
    format!(
        "[libdefaults]\n\
         default_realm = {REALM}\ndns_lookup_kdc = false\ndns_lookup_realm = false\nrdns = false\n\
         dns_canonicalize_hostname = false\nallow_rc4 = true\n\
         [realms]\n\
         {REALM} = {{\nkdc = 127.0.0.1:{port}\n}}\n"
    )
}

fn kdc_conf(root: &Path, port: u16) -> String {
    let root = root.display();
    // Samba takes tickets with authorization data of a domain controller, or with none.
    format!(
        "[kdcdefaults]\n\
         kdc_listen = 127.0.0.1:{port}\nkdc_tcp_listen = 127.0.0.1:{port}\n\
         [realms]\n\
         {REALM} = {{\n\
         database_name = {root}/principal\nkey_stash_file = {root}/stash\nacl_file = {root}/acl\n\
         max_life = 10h\ndisable_pac = true\ndefault_principal_flags = +preauth\n\
         supported_enctypes = aes256-sha2:normal aes128-sha2:normal aes256-sha1:normal aes128-sha1:normal\n\
         }}\n\
         [logging]\n\
         kdc = FILE:{root}/kdc.log\n"
    )
}
