//! The endpoint mapper, remote management and sealed RPC over TCP: our client at Samba's servers, impacket at our simulated
//! host, and ndrdump on our stubs.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use super::impacket::resolver_of;
use super::ndrdump::{check, unhex};
use super::samba::{RpcServers, USER};
use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::{Workspace, capture, cargo};

/// The interface in Samba's words, our name, Samba's, and what is in Samba's words of the request and of the response.
type Method = (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// Not among them: the request of `inq_stats`, where Samba has a number after the count that C706 does not have.
const METHODS: [Method; 8] = [
    (
        "epmapper",
        "ept_lookup",
        "epm_Lookup",
        &[
            "object : 01020304-0506-0708-090a-0b0c0d0e0f10",
            "uuid : 338cd001-2244-31f1-aaaa-900038001003",
            "max_ents : 0x00000006 (6)",
        ],
        &[
            "num_ents : 0x00000004 (4)",
            "annotation : 'RemoteRegistry Interface'",
            "port : 0xc200 (49664)",
            "ipaddr : 10.0.0.12",
            r"unc : '\PIPE\winreg'",
            r"name : '\\WEB1'",
            "EPM_PROTOCOL_HTTP (31)",
            "EPM_PROTOCOL_NCALRPC (12)",
            "result : 0x00000000 (0)",
        ],
    ),
    (
        "epmapper",
        "ept_map",
        "epm_Map",
        &["object : NULL", "num_floors : 0x0005 (5)", "EPM_PROTOCOL_TCP (7)", "max_towers : 0x00000003 (3)"],
        &["num_towers : 0x00000002 (2)", "port : 0xc200 (49664)", r"unc : '\PIPE\winreg'"],
    ),
    (
        "epmapper",
        "ept_lookup_handle_free",
        "epm_LookupHandleFree",
        &["uuid : 01020304-0506-0708-090a-0b0c0d0e0f10"],
        &["uuid : 00000000-0000-0000-0000-000000000000", "result : 0x00000000 (0)"],
    ),
    (
        "mgmt",
        "mgmt_inq_if_ids",
        "mgmt_inq_if_ids",
        &[],
        &["count : 0x00000002 (2)", "uuid : 338cd001-2244-31f1-aaaa-900038001003", "result : WERR_OK"],
    ),
    (
        "mgmt",
        "mgmt_inq_stats",
        "mgmt_inq_stats",
        &[],
        &["count : 0x00000004 (4)", "statistics : 0x0000000c (12)"],
    ),
    (
        "mgmt",
        "mgmt_is_server_listening",
        "mgmt_is_server_listening",
        &[],
        &["status : 0x00000000 (0)", "result : 0x00000001 (1)"],
    ),
    ("mgmt", "mgmt_stop_server_listening", "mgmt_stop_server_listening", &[], &["WERR_ACCESS_DENIED"]),
    (
        "mgmt",
        "mgmt_inq_princ_name",
        "mgmt_inq_princ_name",
        &["authn_proto : 0x0000000a (10)", "princ_name_size : 0x00000040 (64)"],
        &["'host/web1'"],
    ),
];

pub(crate) fn by_ndrdump(workspace: &Workspace) -> Result<Outcome> {
    let example = |package: &str, name: &str| {
        let mut example = cargo();
        example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", package]);
        capture(example.args(["--example", name]))
    };
    let printed = example("rpc", "epm_stubs")? + &example("rpc", "mgmt_stubs")?;
    let folder = tempfile::tempdir()?;
    let mut bytes = 0;
    for (interface, name, theirs, request, response) in METHODS {
        let write = |direction: &str| -> Result<_> {
            let digits = printed.lines().find_map(|line| line.strip_prefix(&format!("{name} {direction} ")));
            let stub = unhex(digits.ok_or_else(|| format!("no stub of {name}, {direction}"))?)?;
            let file = folder.path().join(format!("{name}.{direction}"));
            fs::write(&file, &stub)?;
            Ok((file, stub.len()))
        };
        let ((asked, asked_bytes), (answered, answered_bytes)) = (write("in")?, write("out")?);
        let judge = |command: &mut Command, expected: &[&str]| -> Result<()> {
            check(&capture(command)?, expected).map_err(|why| format!("{name}: {why}").into())
        };
        let mut dump_answer = Command::new("ndrdump");
        if name != "mgmt_inq_stats" {
            judge(Command::new("ndrdump").args([interface, theirs, "in"]).arg(&asked), request)?;
            bytes += asked_bytes;
            // What a response has room for is in the request.
            dump_answer.arg("-c").arg(&asked);
        }
        judge(dump_answer.args([interface, theirs, "out"]).arg(&answered), response)?;
        bytes += answered_bytes;
    }
    Ok(Outcome::Ran(format!("{} stubs, {bytes} bytes", 2 * METHODS.len() - 1)))
}

pub(crate) fn by_impacket(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (mut simulator, smb) = stage.simulator(&["--epm-port", "0"])?;
    let mapper = resolver_of(&mut simulator)?;
    let mut command = Command::new(python(workspace));
    command.arg(workspace.root.join("crates/testing/windows-sim/tests/peers/impacket_epm.py"));
    command.args(["--host", &mapper.ip().to_string(), "--port", &mapper.port().to_string()]);
    command.args(["--smb-port", &smb.port().to_string(), "--account", ACCOUNT]);
    let found = capture(command.arg("--password-file").arg(stage.password_file()?))?;
    Ok(Outcome::Ran(found.trim().to_owned()))
}

pub(crate) fn samba(workspace: &Workspace) -> Result<Outcome> {
    let servers = RpcServers::start()?;
    let mut ran = Vec::new();
    for mechanism in [&[][..], &["--ntlm"]] {
        let mut command = servers.command(&workspace.program("examples/endpoint_map"));
        command.args(["--host", "127.0.0.1", "--user", USER]).args(mechanism);
        let printed = capture(command.arg("--password-file").arg(servers.password_file()?))?;
        let seen: BTreeMap<&str, &str> = printed.lines().filter_map(|line| line.split_once(": ")).collect();
        expect(&seen).map_err(|why| format!("{why}:\n{printed}"))?;
        ran.push(format!("{} {}", if mechanism.is_empty() { "SPNEGO:" } else { "NTLM:" }, seen["session"]));
        ran.push(seen["map sealed"].to_owned());
        ran.push(format!("statistics: {}", seen["statistics sealed"]));
    }
    servers.end()?;
    Ok(Outcome::Ran(ran.join("; ")))
}

/// Samba's servers are a dozen, each within the host, some behind pipes and at ports.
fn expect(seen: &BTreeMap<&str, &str>) -> Result<()> {
    let value = |name: &str| seen.get(name).copied().ok_or_else(|| format!("`{name}` is missing"));
    let port = value("winreg sealed")?;
    let number = port.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
    let session = format!("127.0.0.1:{number}");
    let winreg = "338cd001-2244-31f1-aaaa-900038001003 v1.0";
    for (name, wanted) in [
        ("map unauthenticated", value("map sealed")?),
        ("map sealed", "0 unreadable, whole true"),
        ("map sealed, 10 entries at most", "10 whole false"),
        ("winreg unauthenticated", port),
        ("nobody sealed", "None"),
        ("nobody unauthenticated", "None"),
        ("session", session.as_str()),
        ("stages", "dns tcp auth tcp dns tcp auth"),
        ("keys", "SOFTWARE"),
        ("interfaces sealed", winreg),
        ("interfaces unauthenticated", winreg),
        ("interfaces sealed", "afa8bd80-7d8a-11c9-bef4-08002b102989 v1.0"),
        ("listening sealed", "true"),
        ("listening unauthenticated", "true"),
    ] {
        let found = value(name)?;
        if !found.contains(wanted) || number.is_empty() {
            return Err(format!("`{name}` is `{found}`, without `{wanted}`").into());
        }
    }
    let counts =
        value("map sealed")?.split(", ").filter_map(|part| part.split(' ').next()?.parse::<u32>().ok());
    match counts.collect::<Vec<_>>()[..] {
        [entries, tcp, http, pipes, local, 0]
            if tcp.min(pipes).min(local) >= 3 && entries == tcp + http + pipes + local =>
        {
            Ok(())
        }
        _ => Err(format!("another map than Samba has: {}", value("map sealed")?).into()),
    }
}
