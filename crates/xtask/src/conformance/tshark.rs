//! tshark, given the password, decrypts a capture of our traffic and finds no malformed frame in it: our client at
//! Samba, with SMB in the clear and encrypted; and without the password, the exporter at our simulated host.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::impacket::Subscriber;
use super::kdc::Kdc;
use super::samba::{self, Pipes, Samba, USER};
use crate::Outcome;
use crate::Result;
use crate::peers::is_root;
use crate::process::{Running, poll};
use crate::stage::{self, Stage, Target};
use crate::workspace::{Workspace, capture};

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Frames of a session with all its calls; fewer mean that something was not captured.
const FRAMES_MIN: usize = 40;
/// What tshark calls SMB over TCP.
const SMB: &str = "nbss";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        return Ok(Outcome::Skipped("only root may capture packets; run the tests as root".to_owned()));
    }
    let mut found = Vec::new();
    for encryption in ["disabled", "required"] {
        found.push(sealed_calls(workspace, encryption)?);
    }
    found.push(collections(workspace)?);
    Ok(Outcome::Ran(found.join("; ")))
}

/// Our client at Samba's registry, with raw NTLM: tshark loses the keystream after the signature with which SPNEGO
/// protects its list of mechanisms, in other programs' traffic as in ours.
fn sealed_calls(workspace: &Workspace, encryption: &str) -> Result<String> {
    let samba = Samba::start(Pipes::Samba, "default")?;
    let stage = Stage::new(workspace)?;
    let file = stage.path("calls.pcapng");
    let recorder = record(&file, samba.address.port())?;
    let mut probe = Command::new(workspace.program("examples/winreg_probe"));
    probe.args(["--server", &samba.address.to_string(), "--user", USER, "--calls", "20"]);
    probe.args(["--mechanism", "ntlm", "--encryption", encryption, "--performance-bytes-max", "0"]);
    capture(probe.arg("--password-file").arg(samba.password_file()?))?;
    let capture =
        Capture { file, port: samba.address.port(), protocol: SMB, key: Key::Password(samba::PASSWORD) };
    capture.complete(recorder)?;
    // tshark 4.0 does not know the hints with which Samba, as Windows, begins SPNEGO: its fault, in Samba's frame.
    let frames =
        capture.without_fault(&format!(" && !(smb2.cmd == 0 && tcp.srcport == {})", capture.port))?;
    // tshark shows an answer that is sealed: reading it needs the key.
    let decrypted = capture.frames("dcerpc.auth_level == 6 && winreg.winreg_GetVersion.version == 5")?.len();
    if decrypted < 20 {
        return Err(format!("tshark decrypted {decrypted} of 20 sealed replies").into());
    }
    let encrypted = capture.frames("smb2.header.transform.flags")?.len();
    if (encrypted > 0) != (encryption == "required") {
        return Err(format!("encryption {encryption}, and {encrypted} frames are encrypted").into());
    }
    Ok(format!("{frames} frames, {decrypted} sealed replies decrypted, SMB encryption {encryption}"))
}

/// Our client at Samba's registry by Kerberos; the keytab is the server's.
pub(crate) fn by_kerberos(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        return Ok(Outcome::Skipped("only root may capture packets; run the tests as root".to_owned()));
    }
    let kdc = Kdc::start()?;
    let (account, keytab) = (kdc.add_account(USER)?, kdc.add_service("cifs/localhost")?);
    let cache = kdc.log_on(USER, &account)?;
    let mut found = Vec::new();
    for encryption in ["disabled", "required"] {
        let samba = Samba::with_kerberos(Pipes::Samba, &kdc.krb5_conf(), &keytab, "AES-128-GCM")?;
        let stage = Stage::new(workspace)?;
        let file = stage.path("tickets.pcapng");
        let port = samba.address.port();
        let recorder = record(&file, port)?;
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        // tshark 4.0 opens what is sealed with the types of RFC 3962, as in a domain, and not of RFC 8009.
        probe.env("KRB5_CONFIG", kdc.krb5_conf()).arg("--sha1");
        probe.args(["--server", &format!("localhost:{port}"), "--ccache", &cache, "--calls", "20"]);
        capture(probe.args(["--encryption", encryption, "--performance-bytes-max", "0"]))?;
        let capture = Capture { file, port, protocol: SMB, key: Key::Keytab(&keytab) };
        capture.complete(recorder)?;
        // As with NTLM, the hints of SPNEGO are Samba's.
        let frames = capture.without_fault(&format!(" && !(smb2.cmd == 0 && tcp.srcport == {port})"))?;
        let tickets = capture.frames("kerberos.ap_req_element && kerberos.crealm")?.len();
        let decrypted =
            capture.frames("dcerpc.auth_level == 6 && winreg.winreg_GetVersion.version == 5")?.len();
        // It takes keys of SMB from NTLM alone: what is encrypted there stays so, RPC's ticket within it.
        let is_encrypted = encryption == "required";
        if (tickets, decrypted) < (if is_encrypted { (1, 0) } else { (2, 20) }) {
            return Err(
                format!("tshark opened {tickets} tickets and {decrypted} of 20 sealed replies").into()
            );
        }
        found.push(format!(
            "{frames} frames, {tickets} tickets and {decrypted} sealed replies decrypted, SMB encryption {encryption}"
        ));
    }
    Ok(Outcome::Ran(found.join("; ")))
}

/// The exporter at our simulated host: both ends are ours. Without the password the calls stay sealed. A host without
/// encryption of SMB, which would hide all else from tshark, too.
fn collections(workspace: &Workspace) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&["--smb-encryption", "disabled"])?;
    let file = stage.path("collections.pcapng");
    let recorder = record(&file, host.port())?;
    let target = Target { name: "sim", address: host, logon: stage::Logon::of_stage(&password_file) };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "2s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;
    exporter.end()?;
    let capture = Capture { file, port: host.port(), protocol: SMB, key: Key::None };
    capture.complete(recorder)?;
    let frames = capture.without_fault("")?;
    Ok(format!("{frames} frames of collections"))
}

/// Call-backs of COM+ events, which are in the clear: a host and impacket at our subscriber.
pub(crate) fn call_backs(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        return Ok(Outcome::Skipped("only root may capture packets; run the tests as root".to_owned()));
    }
    let stage = Stage::new(workspace)?;
    let subscriber = Subscriber::start(workspace)?;
    let file = stage.path("call_backs.pcapng");
    let port = subscriber.port;
    let recorder = record(&file, port)?;
    subscriber.called(workspace)?;
    let capture = Capture { file, port, protocol: "dcerpc", key: Key::None };
    capture.complete(recorder)?;
    let mut found = Vec::new();
    for (what, filter, frames_min) in [
        ("of the resolver", "oxid", 4),
        ("of IRemUnknown", "remunk", 2),
        ("that bind events", "dcerpc.cn_bind_to_uuid == 4e6cdcc9-fb25-4fd5-9cc5-c9f4b6559cec", 2),
    ] {
        let frames = capture.frames(filter)?.len();
        if frames < frames_min {
            return Err(format!("only {frames} frames {what} in the capture").into());
        }
        found.push(format!("{frames} frames {what}"));
    }
    capture.without_faulty("")?;
    Ok(Outcome::Ran(found.join(", ")))
}

/// Starts tshark on the loopback device; it says when it captures.
fn record(file: &Path, port: u16) -> Result<Running> {
    let mut command = Command::new("tshark");
    command.args(["-q", "-i", "lo", "-f", &format!("tcp port {port}"), "-w"]).arg(file);
    let mut recorder = Running::start("tshark", &mut command)?;
    recorder.wait_for("capture", START_TIMEOUT, |line| line.contains("Capture started").then_some(()))?;
    Ok(recorder)
}

struct Capture<'a> {
    file: PathBuf,
    port: u16,
    /// What is on that port.
    protocol: &'static str,
    key: Key<'a>,
}

/// What tshark decrypts with.
enum Key<'a> {
    None,
    Password(&'a str),
    /// Of the services, and so of the tickets that are made for them.
    Keytab(&'a Path),
}

impl Capture<'_> {
    /// Ends the recorder when the end of the connection is in the file: packets reach it late.
    fn complete(&self, recorder: Running) -> Result<()> {
        poll("the end of the connection is captured", START_TIMEOUT, || {
            Ok((self.frames("tcp.flags.fin == 1")?.len() >= 2).then_some(()))
        })?;
        recorder.end().map(|_status| ())
    }

    /// The number of frames of SMB, none of which tshark finds fault with; `but` narrows what is a fault.
    fn without_fault(&self, but: &str) -> Result<usize> {
        let frames = self.frames("smb2")?.len();
        if frames < FRAMES_MIN {
            return Err(format!("only {frames} frames of SMB in the capture").into());
        }
        self.without_faulty(but).map(|()| frames)
    }

    /// Fails with the frames that tshark finds fault with.
    fn without_faulty(&self, but: &str) -> Result<()> {
        let faulty = self.frames(&format!("(_ws.malformed || _ws.expert.severity == error){but}"))?;
        if faulty.is_empty() {
            Ok(())
        } else {
            Err(format!("tshark finds fault with {} frames:\n{}", faulty.len(), faulty.join("\n")).into())
        }
    }

    /// The frames that `filter` lets through, a line each.
    fn frames(&self, filter: &str) -> Result<Vec<String>> {
        let mut command = Command::new("tshark");
        command.args(["-d", &format!("tcp.port=={},{}", self.port, self.protocol)]);
        match self.key {
            Key::None => {}
            Key::Password(password) => {
                command.args(["-o", &format!("ntlmssp.nt_password:{password}")]);
            }
            Key::Keytab(file) => {
                command.args(["-o", "kerberos.decrypt:TRUE", "-K"]).arg(file);
            }
        }
        command.arg("-r").arg(&self.file).args(["-Y", filter]);
        Ok(capture(&mut command)?.lines().map(str::to_owned).collect())
    }
}
