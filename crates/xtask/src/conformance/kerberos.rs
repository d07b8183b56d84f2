//! Kerberos without a line of NTLM: MIT's KDC gives the tickets, MIT's library judges how we protect messages, and Samba's
//! remote registry, which has NTLM switched off, takes our logon.

use std::process::Command;

use serde_json::Value;

use super::kdc::{Answers, Kdc};
use super::samba::{Pipes, Samba, USER};
use crate::Outcome;
use crate::Result;
use crate::workspace::{Workspace, capture};

const SERVICE: &str = "cifs/localhost";
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

    let cache = kdc.log_on(USER, &account)?;
    let mut ciphers = Vec::new();
    for cipher in ["AES-128-GCM", "AES-256-GCM", "AES-256-CCM"] {
        let samba = Samba::with_kerberos(Pipes::Samba, &kdc.krb5_conf(), &host, cipher)?;
        let before = kdc.answers()?;
        let mut probe = Command::new(workspace.program("examples/winreg_probe"));
        probe.env("KRB5_CONFIG", kdc.krb5_conf());
        probe.args(["--server", &format!("localhost:{}", samba.address.port()), "--ccache", &cache]);
        let printed = capture(probe.args(["--encryption", "required", "--calls", "100", "--json"]))?;
        let found: Value = serde_json::from_str(&printed)?;
        if found["cipher"] != cipher || found["encrypted"] != true || found["version"] != 5 {
            return Err(format!("the registry by {cipher}: {found}").into());
        }
        // One ticket serves SMB and RPC; the library copies the cache, so each probe asks anew.
        let after = kdc.answers()?;
        let asked = Answers {
            ticket_granting: after.ticket_granting - before.ticket_granting,
            service: after.service - before.service,
        };
        if asked != (Answers { ticket_granting: 0, service: 1 }) {
            return Err(format!("two logons with one cache: {asked:?}").into());
        }
        ciphers.push(cipher);
    }
    Ok(Outcome::Ran(format!(
        "{logons} logons of four encryption types; the library and we take {MESSAGES} messages of each other each way; \
         Samba without NTLM: {}",
        ciphers.join(", ")
    )))
}
