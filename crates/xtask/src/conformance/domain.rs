//! A domain of Samba's, whose KDC writes tickets as Active Directory does, with authorization data. The whole exporter logs on to a
//! simulated host that is a member of it, and says what the domain has against an account.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::peers::is_root;
use crate::process::{Running, poll};
use crate::stage::START_TIMEOUT;
use crate::workspace::{Workspace, capture};
use crate::{Outcome, Result};

const REALM: &str = "AD.EXAMPLE";
/// Made up, for a domain that lives as long as one check.
const PASSWORD: &str = "Made-Up-Passw0rd-4";
/// Of the network of the domain, in which nobody else is.
const ADDRESS: &str = "10.99.0.1";
const HOST: &str = "web1.ad.example";
const COMPUTER: &str = "web1$";
/// AES with 128 and 256 bits ([MS-KILE] 2.2.7).
const AES: &str = "24";
const KDC_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        return Ok(Outcome::Skipped("only root may make a network; run the tests as root".to_owned()));
    }
    let domain = Domain::start()?;
    let simulator = domain.simulator(workspace)?;
    let good = domain.online(workspace, "svc", "svc", HOST)?;
    if !good.contains("1 target asked: 1 up") {
        return Err(format!("an account of the domain: {good}").into());
    }
    let mut found = Vec::new();
    for (account, keytab, host, reason) in [
        ("svc", "svc", "nobody.ad.example", "unknown_service"),
        ("missing", "svc", HOST, "no_keytab_entry"),
        ("disabled", "disabled", HOST, "account_disabled"),
        ("changed", "changed", HOST, "wrong_credentials"),
        // Four plugins cost one attempt each time; the second one locks the account.
        ("locked", "locked", HOST, "wrong_credentials"),
        ("locked", "locked", HOST, "wrong_credentials"),
        ("locked", "locked-new", HOST, "account_disabled"),
    ] {
        let said = domain.online(workspace, account, keytab, host)?;
        if !said.contains(&format!("auth: {reason}")) {
            return Err(format!("`{account}` at {host} should be {reason}: {said}").into());
        }
        found.push(reason);
    }
    simulator.end()?;
    let series = good.lines().find_map(|line| line.strip_prefix("web1: up, ")).unwrap_or("no").to_owned();
    Ok(Outcome::Ran(format!("{series}; {}", found.join(", "))))
}

struct Domain {
    folder: TempDir,
    running: Running,
}

impl Domain {
    /// Makes a domain and starts its KDC in a network of its own.
    fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("samba-").tempdir()?;
        let root = folder.path();
        let mut shell = Command::new("unshare");
        // The address is taken for that of a network card.
        let script = format!("ip link set lo up && ip addr add {ADDRESS}/24 dev lo && exec \"$@\"");
        shell.env("PATH", PATH).args(["--net", "sh", "-c", &script, "sh"]);
        shell.args(["samba-tool", "domain", "provision", "--server-role=dc", "--dns-backend=SAMBA_INTERNAL"]);
        shell.args([&format!("--realm={REALM}"), "--domain=AD", "--host-name=dc1"]);
        shell.args([&format!("--host-ip={ADDRESS}"), &format!("--adminpass={PASSWORD}")]);
        shell.args([&format!("--option=interfaces={ADDRESS}/24"), "--option=bind interfaces only=yes"]);
        capture(shell.arg(format!("--targetdir={}", root.display())))?;
        let made = Made { root };
        for account in ["svc", "disabled", "changed", "locked"] {
            made.tool(&["user", "create", account, PASSWORD])?;
            made.export(account, account)?;
        }
        made.tool(&["user", "disable", "disabled"])?;
        for account in ["changed", "locked"] {
            made.tool(&["user", "setpassword", account, "--newpassword=Made-Up-Passw0rd-5"])?;
        }
        made.export("locked", "locked-new")?;
        made.tool(&["domain", "passwordsettings", "set", "--account-lockout-threshold=2"])?;
        made.tool(&["computer", "create", COMPUTER.trim_end_matches('$')])?;
        made.set_aes(COMPUTER)?;
        made.tool(&["user", "setpassword", COMPUTER, &format!("--newpassword={PASSWORD}")])?;
        for class in ["cifs", "host", "RPCSS"] {
            let service = format!("{class}/{HOST}");
            made.tool(&["spn", "add", &service, COMPUTER])?;
            made.export(&service, "host")?;
        }
        let run = root.join("run");
        fs::create_dir(&run)?;
        let option = |key: &str, path: &Path| format!("--option={key}={}", path.display());
        let mut samba = Command::new("unshare");
        samba.env("PATH", PATH).args(["--net", "--pid", "--kill-child", "--fork", "sh", "-c", &script, "sh"]);
        samba.args(["samba", "-F", "--no-process-group", "--option=server services=kdc"]);
        samba.arg(format!("--configfile={}", made.configuration().display()));
        samba.arg(option("pid directory", &run)).arg(option("ncalrpc dir", &run.join("rpc")));
        samba.arg(option("log file", &root.join("log")));
        let mut running = Running::start("samba", &mut samba)?;
        let id = running.id();
        let listens = poll("the KDC of the domain listens", KDC_TIMEOUT, || {
            let table = fs::read_to_string(format!("/proc/{id}/net/tcp"))?;
            // Port 88, and the state of a listener.
            let is_there = |line: &str| line.contains(":0058 00000000:0000 0A");
            Ok(table.lines().any(is_there).then_some(()))
        });
        listens.map_err(|error| running.complaint(&error.to_string()))?;
        Ok(Self { folder, running })
    }

    /// A program in the network of the domain.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.running.id())).arg(program);
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A member of the domain that takes no NTLM.
    fn simulator(&self, workspace: &Workspace) -> Result<Running> {
        let password_file = self.path("password");
        fs::write(&password_file, PASSWORD)?;
        let mut command = self.command(&workspace.program("windows-sim"));
        command.args(["--seed", "1", "--smb-port", "445", "--epm-port", "135", "--no-ntlm"]);
        command.args(["--account", &format!("{REALM}\\svc"), "--password-file"]).arg(password_file);
        let mut running =
            Running::start("windows-sim", command.arg("--keytab").arg(self.path("host.keytab")))?;
        running.wait_for("its object resolver", START_TIMEOUT, |line| {
            line.starts_with("resolving objects on ").then_some(())
        })?;
        Ok(running)
    }

    /// What the exporter says of the host, asked by `account`, with the keytab of another one.
    fn online(&self, workspace: &Workspace, account: &str, keytab: &str, host: &str) -> Result<String> {
        let keytab = self.path(&format!("{keytab}.keytab"));
        let file = self.path("perfmon.yml");
        let configuration = format!(
            "plugins: {{load: [pcq, comt, pla, rpc_state]}}\nidentities:\n  ad: {{kind: kerberos, principal: \
             {account}@{REALM}, keytab_file: {}, kdc: {ADDRESS}, allow_hosts: [127.0.0.0/8]}}\nmodules:\n  \
             counters: {{plugin: pcq, countersets: [{{name: Processor Information}}]}}\n  com: {{plugin: comt}}\n  \
             rpc: {{plugin: rpc_state, source: rpc_endpoints}}\n  alerts: {{plugin: pla, sets: [{{name: S, alerts: \
             [{{counter: '\\Memory\\Available MBytes', above: 1}}]}}]}}\ntargets: [{{name: web1, host: 127.0.0.1, \
             service_principal: host/{host}, identity: ad, modules: [counters, com, rpc, alerts]}}]\n",
            keytab.display()
        );
        fs::write(&file, configuration)?;
        let mut command = self.command(&workspace.program("perfmon-exporter"));
        let output = command.arg("check-config").arg(&file).arg("--online").output()?;
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok(out + &err)
    }
}

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// A domain that does not run yet.
struct Made<'a> {
    root: &'a Path,
}

impl Made<'_> {
    fn configuration(&self) -> PathBuf {
        self.root.join("etc/smb.conf")
    }

    fn tool(&self, words: &[&str]) -> Result<()> {
        let mut command = Command::new("samba-tool");
        command.env("PATH", PATH).args(words);
        capture(command.arg(format!("--configfile={}", self.configuration().display()))).map(drop)
    }

    fn export(&self, principal: &str, keytab: &str) -> Result<()> {
        let file = self.root.join(format!("{keytab}.keytab")).display().to_string();
        self.tool(&["domain", "exportkeytab", &file, &format!("--principal={principal}")])
    }

    fn set_aes(&self, account: &str) -> Result<()> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/samba_encryption_types.py");
        // Debian's interpreter: Samba's bindings are for that one.
        let mut python = Command::new("/usr/bin/python3");
        python.arg(script).arg(self.configuration()).arg(self.root.join("private/sam.ldb"));
        capture(python.args([account, AES])).map(drop)
    }
}
