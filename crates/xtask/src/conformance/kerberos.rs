//! Kerberos without a line of NTLM: MIT's KDC gives the tickets, MIT's library judges how we protect messages, and Samba's
//! remote registry, which has NTLM switched off, takes our logon.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::kdc::{Answers, Kdc, PASSWORD, REALM};
use super::samba::{Pipes, RpcServers, Samba, USER};
use super::winreg;
use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::process::Running;
use crate::stage::START_TIMEOUT;
use crate::workspace::{Workspace, capture};

const SERVICE: &str = "cifs/localhost";
/// What the simulated host is called.
const WINDOWS: &str = "windows.peers.example";
/// Messages of each direction, protection and encryption type.
const MESSAGES: &str = "200";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let kdc = Kdc::start()?;
    let account = kdc.add_account(USER)?;
    let host = kdc.add_service(SERVICE)?;

    let mut judge = Command::new(workspace.program("examples/kerberos"));
    judge.env("KRB5_CONFIG", kdc.krb5_conf());
    judge.args(["--principal", USER, "--service", SERVICE, "--messages", MESSAGES]);
    let judged = capture(judge.arg("--keytab").arg(&account).arg("--host-keytab").arg(&host))?;
    let compared = judged.lines().filter(|line| line.starts_with("the library takes")).count();
    let logons = judged.lines().filter(|line| line.contains(" legs, ")).count();
    if (compared, logons) != (4, 12) {
        return Err(format!("four encryption types and three ways to log on: {judged}").into());
    }
    let speed = speed(&judged)?;
    let weak = kdc.add_weak_service("cifs/weak")?;
    let mut judge = Command::new(workspace.program("examples/kerberos"));
    judge.env("KRB5_CONFIG", kdc.krb5_conf());
    judge.args(["--principal", USER, "--service", "cifs/weak", "--messages", MESSAGES, "--rc4"]);
    let by_rc4 = capture(judge.arg("--keytab").arg(&account).arg("--host-keytab").arg(weak))?;
    if by_rc4.lines().filter(|line| line.starts_with("arcfour-hmac ") && line.contains(" legs, ")).count()
        != 3
    {
        return Err(format!("three ways to log on by RC4: {by_rc4}").into());
    }

    let cache = kdc.log_on(USER, &account)?;
    let mut ciphers = Vec::new();
    for cipher in ["AES-128-GCM", "AES-256-GCM", "AES-256-CCM"] {
        let samba = Samba::with_kerberos(Pipes::Samba, &kdc.krb5_conf(), &host, cipher)?;
        winreg::fill(workspace, &samba)?;
        let before = kdc.answers()?;
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        probe.env("KRB5_CONFIG", kdc.krb5_conf());
        probe.args(["--server", &format!("localhost:{}", samba.address.port()), "--ccache", &cache]);
        let printed = capture(probe.args(["--encryption", "required", "--calls", "100", "--json"]))?;
        let found: Value = serde_json::from_str(&printed)?;
        if found["cipher"] != cipher || found["encrypted"] != true || found["objects"] != winreg::objects() {
            return Err(format!("the registry by {cipher}: {found}").into());
        }
        // One ticket serves SMB and RPC; the library copies the cache, so each probe asks anew.
        let asked = kdc.answers()? - before;
        if asked != (Answers { ticket_granting: 0, service: 1 }) {
            return Err(format!("two logons with one cache: {asked:?}").into());
        }
        ciphers.push(cipher);
    }
    let endpoints = over_tcp(workspace, &kdc, &cache)?;
    let simulated = simulated_host(workspace, &kdc, &cache, &host)?;
    Ok(Outcome::Ran(format!(
        "{logons} logons of four encryption types; the library and we take {MESSAGES} messages of each other each way; \
         {speed}; Samba without NTLM: {}, {endpoints}; {simulated}",
        ciphers.join(", ")
    )))
}

/// Samba's endpoint mapper and its registry service, in a network where no KDC is: the tickets are there already.
fn over_tcp(workspace: &Workspace, kdc: &Kdc, cache: &str) -> Result<String> {
    let keytab = kdc.add_service("host/localhost")?;
    // Active Directory takes the second one for the first; the endpoint mapper is asked by it.
    kdc.add_service_to(&keytab, "RPCSS/localhost")?;
    kdc.fetch(cache, &["host/localhost", "RPCSS/localhost"])?;
    let servers = RpcServers::with_kerberos(&keytab)?;
    let mut client = servers.command(&workspace.program("examples/endpoint_map"));
    client.env("KRB5_CONFIG", kdc.krb5_conf());
    let printed = capture(client.args(["--host", "localhost", "--ccache", cache]))?;
    servers.end()?;
    let map = printed.lines().find(|line| line.starts_with("map sealed: "));
    Ok(map.ok_or_else(|| format!("no map was read by Kerberos: {printed}"))?.to_owned())
}

/// A message through both ends with what Active Directory has is not slower than by NTLM.
fn speed(judged: &str) -> Result<String> {
    let line = judged.lines().find(|line| line.starts_with("speed of aes256-cts-hmac-sha1-96"));
    let line = line.ok_or("no speed")?;
    let times: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    match times[..] {
        [kerberos, ntlm] if kerberos <= ntlm => Ok(format!("{line}: {:.2} of it", kerberos / ntlm)),
        _ => Err(format!("slower than NTLM: {line}").into()),
    }
}

/// A simulated host without NTLM, which our client and impacket log on to, and nobody by NTLM.
fn simulated_host(workspace: &Workspace, kdc: &Kdc, cache: &str, keytab: &Path) -> Result<String> {
    for class in ["cifs", "host"] {
        kdc.add_service_to(keytab, &format!("{class}/{WINDOWS}"))?;
    }
    let folder = tempfile::tempdir()?;
    let password_file = folder.path().join("password");
    std::fs::write(&password_file, PASSWORD)?;
    let mut command = Command::new(workspace.program("windows-sim"));
    command.env("KRB5_CONFIG", kdc.krb5_conf());
    command.args(["--seed", "1", "--smb-port", "0", "--account", &format!("{REALM}\\{USER}"), "--no-ntlm"]);
    command.arg("--password-file").arg(&password_file).arg("--keytab").arg(keytab);
    let mut simulator = Running::start("windows-sim", &mut command)?;
    let address: SocketAddr = simulator.wait_for("listening address", START_TIMEOUT, |line| {
        line.strip_prefix("listening on ")?.split_whitespace().next()?.parse().ok()
    })?;
    let port = address.port();

    let server = format!("localhost:{port}");
    let probe = || {
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        probe.env("KRB5_CONFIG", kdc.krb5_conf()).args(["--server", &server, "--json"]);
        probe
    };
    let found: Value = serde_json::from_str(&capture(probe().args(["--ccache", cache, "--calls", "0"]))?)?;
    let instances = |objects: &Value| {
        let objects = objects.as_array().into_iter().flatten();
        objects.map(|object| object["values"].as_array().map_or(0, Vec::len)).sum::<usize>()
    };
    let ours = instances(&found["objects"]);
    if ours == 0 {
        return Err(format!("performance data by Kerberos: {found}").into());
    }
    let by_ntlm = probe().args(["--user", USER, "--password-file"]).arg(&password_file).output()?;
    let complaint = String::from_utf8_lossy(&by_ntlm.stderr).into_owned();
    if by_ntlm.status.success() || !complaint.contains("STATUS_NTLM_BLOCKED") {
        return Err(format!("NTLM is switched off, yet: {complaint}").into());
    }

    let account = folder.path().join("cache");
    let name = format!("FILE:{}", account.display());
    std::fs::copy(cache.trim_start_matches("FILE:"), &account)?;
    kdc.fetch(&name, &[&format!("cifs/{WINDOWS}"), &format!("host/{WINDOWS}")])?;
    let mut impacket = Command::new(python(workspace));
    impacket.env("KRB5CCNAME", &account).env("KRB5_CONFIG", kdc.krb5_conf());
    impacket.arg(workspace.root.join("crates/xtask/peers/impacket_performance_data.py"));
    impacket.args([
        "--host",
        WINDOWS,
        "--address",
        "127.0.0.1",
        "--port",
        &port.to_string(),
        "--kerberos",
        "--objects",
        "Global",
    ]);
    let printed = capture(impacket.args(["--account", &format!("{REALM}\\{USER}")]))?;
    let theirs: Value = serde_json::from_str(&printed)?;
    let objects = theirs["objects"].as_array().map_or(0, Vec::len);
    if objects == 0 {
        return Err(format!("impacket reads no performance data by Kerberos: {printed}").into());
    }
    simulator.end()?;
    Ok(format!("windows-sim without NTLM: {ours} instances for us, {objects} objects for impacket"))
}

/// What an administrator does wrong, and which reason that gives, whoever finds it: the library, the KDC or the host.
pub(crate) fn faults(workspace: &Workspace) -> Result<Outcome> {
    let mut kdc = Kdc::start()?;
    let host = kdc.add_service(SERVICE)?;
    let good = kdc.add_account("good")?;
    let folder = tempfile::tempdir()?;
    let file = |name: &str, content: &[u8]| -> Result<PathBuf> {
        let path = folder.path().join(name);
        std::fs::write(&path, content)?;
        Ok(path)
    };
    let [right, wrong] = [file("right", PASSWORD.as_bytes())?, file("wrong", b"Made-Up-Other-1")?];
    let whole = std::fs::read(&good)?;
    let [cut, empty] = [file("cut.keytab", &whole[..20])?, file("empty.keytab", b"")?];
    let (never, far) = (folder.path().join("never"), "2020-01-01");
    for (name, request) in [
        ("disabled", ["modprinc", "-allow_tix"].as_slice()),
        ("over", &["modprinc", "-expire", far]),
        ("stale", &["modprinc", "-pwexpire", far]),
    ] {
        kdc.add_account(name)?;
        kdc.administer(&[request, &[name]].concat())?;
    }
    let old = kdc.add_account("changed")?;
    kdc.administer(&["cpw", "-randkey", "changed"])?;
    let stale_host = kdc.add_service("cifs/renewed")?;
    kdc.administer(&["cpw", "-randkey", "cifs/renewed"])?;
    kdc.administer(&["addprinc", "-randkey", "-e", "arcfour-hmac:normal", "cifs/weak"])?;

    let [by_password, by_keytab] = ["--password-file", "--keytab"];
    let judge = |principal: &str, by: &str, secret: &Path, service: &str, host: &Path| -> Result<String> {
        let mut judge = Command::new(workspace.program("examples/kerberos"));
        judge.env("KRB5_CONFIG", kdc.krb5_conf()).args(["--principal", principal, "--service", service]);
        judge.args(["--messages", "1", by]).arg(secret).arg("--host-keytab").arg(host);
        let output = judge.output()?;
        match output.status.success() {
            true => Ok("success".to_owned()),
            false => Ok(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let cases: [(&str, &str, &Path, &str, &Path, &str); 15] = [
        ("good", by_password, &right, SERVICE, &host, "success"),
        ("good", by_password, &wrong, SERVICE, &host, "WrongPassword"),
        ("changed", by_keytab, &old, SERVICE, &host, "WrongPassword"),
        ("nobody", by_password, &right, SERVICE, &host, "UnknownPrincipal"),
        ("good@NOWHERE.EXAMPLE", by_password, &right, SERVICE, &host, "KdcUnreachable"),
        ("disabled", by_password, &right, SERVICE, &host, "AccountRevoked"),
        ("over", by_password, &right, SERVICE, &host, "AccountRevoked"),
        ("stale", by_password, &right, SERVICE, &host, "PasswordExpired"),
        ("good", by_keytab, &host, SERVICE, &host, "NoKeytabEntry"),
        ("good", by_keytab, &cut, SERVICE, &host, "NoKeytabEntry"),
        ("good", by_keytab, &empty, SERVICE, &host, "File"),
        ("good", by_keytab, &never, SERVICE, &host, "File"),
        ("good", by_keytab, &good, "cifs/nowhere", &host, "UnknownService"),
        ("good", by_keytab, &good, "cifs/weak", &host, "EncryptionType"),
        ("good", by_keytab, &good, "cifs/renewed", &stale_host, "KeyVersion"),
    ];
    let mut different = Vec::new();
    let refused_before = kdc.refusals()?;
    for (principal, by, secret, service, host, expected) in &cases {
        let found = judge(principal, by, secret, service, host)?;
        let wanted = if *expected == "success" {
            found == "success"
        } else {
            found.contains(&format!("reason: {expected},"))
        };
        if !wanted {
            different.push(format!(
                "{principal} {by} {} {service}: {expected} expected: {found}",
                secret.display()
            ));
        }
    }
    let refused = kdc.refusals()? - refused_before;
    if refused != 2 {
        different.push(format!("a wrong password and an old key cost {refused} refusals"));
    }

    let cache = kdc.log_on("good", &good)?;
    let samba = Samba::with_kerberos(Pipes::Samba, &kdc.krb5_conf(), &host, "AES-128-GCM")?;
    let krb5_conf = kdc.krb5_conf();
    let probe = || -> Result<(String, Duration)> {
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        probe.env("KRB5_CONFIG", &krb5_conf).args(["--deadline-s", "3", "--ccache", &cache]);
        let begun = Instant::now();
        let output = probe.args(["--server", &format!("localhost:{}", samba.address.port())]).output()?;
        Ok((String::from_utf8_lossy(&output.stderr).into_owned(), begun.elapsed()))
    };
    kdc.pause()?;
    let (complaint, took) = probe()?;
    if !complaint.contains("no answer in time") || took > Duration::from_secs(8) {
        different.push(format!("a KDC that hangs, after {took:?}: {complaint}"));
    }
    kdc.end()?;
    let (complaint, took) = probe()?;
    if !complaint.contains("Cannot contact any KDC") || took > Duration::from_secs(8) {
        different.push(format!("a KDC that is gone, after {took:?}: {complaint}"));
    }
    if !different.is_empty() {
        return Err(different.join("\n").into());
    }
    Ok(Outcome::Ran(format!("{} faults, a KDC that hangs and one that is gone", cases.len() - 1)))
}
