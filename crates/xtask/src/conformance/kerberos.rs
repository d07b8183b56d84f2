//! Kerberos without a line of NTLM: MIT's KDC gives the tickets, MIT's library judges how we protect messages, and Samba's
//! remote registry, which has NTLM switched off, takes our logon.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
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
    let without_library = without_library(workspace, &kdc, &account, &host)?;
    let endpoints = over_tcp(workspace, &kdc, &cache)?;
    let simulated = simulated_host(workspace, &kdc, &cache, &host)?;
    Ok(Outcome::Ran(format!(
        "{logons} logons of four encryption types; the library and we take {MESSAGES} messages of each other each way; \
         {speed}; Samba without NTLM: {}, {without_library}, {endpoints}; {simulated}",
        ciphers.join(", ")
    )))
}

/// The same registry where our client asks the KDC by itself.
fn without_library(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<&'static str> {
    let samba = Samba::with_kerberos(Pipes::Samba, &kdc.krb5_conf(), host, "AES-256-GCM")?;
    winreg::fill(workspace, &samba)?;
    let folder = tempfile::tempdir()?;
    let password_file = folder.path().join("password");
    std::fs::write(&password_file, PASSWORD)?;
    for (by, secret) in [("--keytab", account), ("--password-file", &password_file)] {
        let before = kdc.answers()?;
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        probe.env("KRB5_CONFIG", kdc.krb5_conf());
        probe.args(["--server", &format!("localhost:{}", samba.address.port()), by]).arg(secret);
        probe.args(["--principal", &format!("{USER}@{REALM}"), "--encryption", "required", "--calls", "100"]);
        let printed = capture(probe.arg("--json"))?;
        let found: Value = serde_json::from_str(&printed)?;
        let asked = kdc.answers()? - before;
        // The session and the call's own context.
        if found["objects"] != winreg::objects() || asked != (Answers { ticket_granting: 2, service: 2 }) {
            return Err(format!("{by} without the library asked for {asked:?}: {found}").into());
        }
    }
    Ok("and without the library")
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
    let bad = bad_kdcs(workspace, &right, &host, samba.address, &mut different)?;
    if !different.is_empty() {
        return Err(different.join("\n").into());
    }
    Ok(Outcome::Ran(format!(
        "{} faults, a KDC that hangs and one that is gone, {bad} that answer what they should not",
        cases.len() - 1
    )))
}

/// What a KDC says to every question.
#[derive(Clone, Copy, Debug)]
enum Says {
    /// `KRB-ERROR` with this number.
    Error(u8),
    Rubbish,
    /// A length of 4 GiB, and nothing after it.
    Length,
    /// It closes the connection.
    Nothing,
}

/// A KDC that says the same for ever ends a logon soon and with a reason, by the library and without it.
fn bad_kdcs(
    workspace: &Workspace,
    password: &Path,
    host: &Path,
    server: SocketAddr,
    different: &mut Vec<String>,
) -> Result<usize> {
    const ENOUGH: Duration = Duration::from_secs(20);
    const ANY: &str = "";
    // The last column is what is said without the library.
    let cases = [
        (Says::Error(6), "reason: UnknownPrincipal,", "KDC_ERR_C_PRINCIPAL_UNKNOWN"),
        (Says::Error(7), "reason: UnknownService,", "KDC_ERR_S_PRINCIPAL_UNKNOWN"),
        // A name of a service that two accounts have.
        (Says::Error(8), "reason: UnknownService,", "KDC_ERR_PRINCIPAL_NOT_UNIQUE"),
        (Says::Error(14), "reason: EncryptionType,", "KDC_ERR_ETYPE_NOSUPP"),
        (Says::Error(18), "reason: AccountRevoked,", "KDC_ERR_CLIENT_REVOKED"),
        (Says::Error(23), "reason: PasswordExpired,", "KDC_ERR_KEY_EXPIRED"),
        (Says::Error(24), "reason: WrongPassword,", "KDC_ERR_PREAUTH_FAILED"),
        (Says::Error(37), "reason: ClockSkew,", "KRB_AP_ERR_SKEW"),
        // More is wanted, the answer is too long for UDP, something is wrong, another realm: for ever.
        (Says::Error(25), ANY, "KRB-ERROR 25"),
        (Says::Error(52), ANY, "KRB-ERROR 52"),
        (Says::Error(60), "reason: Other,", "KRB-ERROR 60"),
        (Says::Error(68), ANY, "KDC_ERR_WRONG_REALM"),
        (Says::Rubbish, ANY, ANY),
        (Says::Length, ANY, "too long"),
        (Says::Nothing, "reason: KdcUnreachable,", "KDC localhost"),
    ];
    let folder = tempfile::tempdir()?;
    let krb5_conf = folder.path().join("krb5.conf");
    for (says, by_library, without) in cases {
        let port = bad_kdc(says)?;
        let text = format!(
            "[libdefaults]\ndefault_realm = {REALM}\ndns_lookup_kdc = false\nrdns = false\n[realms]\n{REALM} = \
             {{\nkdc = localhost:{port}\n}}\n"
        );
        std::fs::write(&krb5_conf, text)?;
        let principal = format!("good@{REALM}");
        let mut judge = Command::new(workspace.program("examples/kerberos"));
        judge.args(["--principal", &principal, "--service", SERVICE, "--host-keytab"]).arg(host);
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        probe.args(["--deadline-s", "15", "--principal", &principal, "--server", &server.to_string()]);
        for (mut command, expected) in [(judge, by_library), (probe, without)] {
            let begun = Instant::now();
            command.env("KRB5_CONFIG", &krb5_conf).arg("--password-file").arg(password);
            let output = command.output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            let is_told = said.contains(expected) && !said.contains("panicked");
            if output.status.success() || !is_told || begun.elapsed() > ENOUGH {
                different.push(format!("a KDC that says {says:?}, after {:?}: {said}", begun.elapsed()));
            }
        }
    }
    Ok(cases.len())
}

/// Starts one on a port of its own, for as long as this program lives.
fn bad_kdc(says: Says) -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let socket = UdpSocket::bind(("127.0.0.1", port))?;
    let answer = match says {
        Says::Error(code) => Some(krb_error(code)),
        Says::Rubbish => Some((0..=u8::MAX).map(|byte| byte.wrapping_mul(181) ^ 0x5a).collect()),
        Says::Length | Says::Nothing => None,
    };
    let of_udp = answer.clone();
    std::thread::spawn(move || {
        let mut question = [0; 4096];
        while let Ok((_, from)) = socket.recv_from(&mut question) {
            if let Some(answer) = &of_udp {
                // Who asked may have gone.
                let _ = socket.send_to(answer, from);
            }
        }
    });
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut question = [0; 4096];
            let _ = stream.read(&mut question);
            let message = match (&answer, says) {
                (Some(answer), _) => {
                    [&u32::try_from(answer.len()).unwrap_or(0).to_be_bytes(), &answer[..]].concat()
                }
                (None, Says::Length) => vec![0xff; 4],
                (None, _) => Vec::new(),
            };
            let _ = stream.write_all(&message);
        }
    });
    Ok(port)
}

/// RFC 4120 5.9.1, with the fields that there must be.
fn krb_error(code: u8) -> Vec<u8> {
    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        let len = u8::try_from(content.len()).unwrap_or(u8::MAX);
        let head = if len < 0x80 { vec![tag, len] } else { vec![tag, 0x81, len] };
        [&head, content].concat()
    }
    let number = |value: u8| element(2, &[value]);
    let text = |value: &str| element(0x1b, value.as_bytes());
    let names = element(0x30, &[text("krbtgt"), text(REALM)].concat());
    let service = element(0x30, &[element(0xa0, &number(2)), element(0xa1, &names)].concat());
    let fields = [
        (0, number(5)),
        (1, number(30)),
        (4, element(0x18, b"20260101000000Z")),
        (5, number(0)),
        (6, number(code)),
        (9, text(REALM)),
        (10, service),
    ];
    let fields: Vec<u8> = fields.iter().flat_map(|(tag, value)| element(0xa0 + tag, value)).collect();
    element(0x7e, &element(0x30, &fields))
}
