//! impacket and Samba's ndrdump read what our DCOM crate writes, and it reads what impacket writes. No program of ours runs:
//! both sides are structures, and impacket's client without a connection.

use std::fs;
use std::process::Command;

use super::ndrdump::{check, unhex};
use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::workspace::{Workspace, capture, cargo};

/// A stub that Samba's IDL describes as [MS-DCOM] does: its interface, our name and Samba's, the direction, and what stands
/// in Samba's words.
struct Stub {
    interface: &'static str,
    name: &'static str,
    theirs: &'static str,
    direction: &'static str,
    expected: &'static [&'static str],
}

const fn stub(
    interface: &'static str,
    name: &'static str,
    direction: &'static str,
    expected: &'static [&'static str],
) -> Stub {
    Stub { interface, name, theirs: name, direction, expected }
}

const OXID: &[&str] = &["pOxid : 0x0123456789abcdef", "arRequestedProtseqs : 0x0007 (7)"];
const REFERENCES: &[&str] = &[
    "MajorVersion : 0x0005 (5) MinorVersion : 0x0007 (7)",
    "cid : 01020304-0506-0708-090a-0b0c0d0e0f10",
    "ipid : 11121314-1516-1718-191a-1b1c1d1e1f20 cPublicRefs : 0x00000005 (5) cPrivateRefs : 0x00000000 (0)",
    "cPublicRefs : 0x00000001 (1) cPrivateRefs : 0x00000002 (2)",
];

/// Not among them: the request of ComplexPing, where Samba takes objects for GUIDs, the response of ServerAlive2, where it
/// has a number too many, and RemQueryInterface, RemQueryInterface2 and the response of RemAddRef, whose arrays its IDL
/// does not bind to their counts. Those impacket reads.
const STUBS: [Stub; 15] = [
    stub("IOXIDResolver", "ResolveOxid", "in", OXID),
    stub(
        "IOXIDResolver",
        "ResolveOxid",
        "out",
        &[
            "wTowerId : 0x0007 (7) NetworkAddr : 'web1[49664]'",
            "NetworkAddr : '10.0.0.12[49664]'",
            "wAuthnSvc : 0x000a (10) wAuthzSvc : 0xffff (65535) PrincName : ''",
            "wAuthnSvc : 0x0010 (16) wAuthzSvc : 0xffff (65535) PrincName : 'host/web1'",
            "pipidRemUnknown : 11121314-1516-1718-191a-1b1c1d1e1f20",
            "pAuthnHint : 0x00000005 (5)",
            "result : WERR_OK",
        ],
    ),
    stub("IOXIDResolver", "SimplePing", "in", &["SetId : 0x0000000000000007 (7)"]),
    stub("IOXIDResolver", "SimplePing", "out", &["result : WERR_OR_INVALID_SET"]),
    stub(
        "IOXIDResolver",
        "ComplexPing",
        "out",
        &["SetId : 0x0000000000000007 (7)", "PingBackoffFactor : 0x0002 (2)", "result : WERR_OK"],
    ),
    stub("IOXIDResolver", "ServerAlive", "in", &[]),
    stub("IOXIDResolver", "ServerAlive", "out", &["result : WERR_OK"]),
    stub("IOXIDResolver", "ResolveOxid2", "in", OXID),
    stub(
        "IOXIDResolver",
        "ResolveOxid2",
        "out",
        &[
            "NetworkAddr : 'web1[49664]'",
            "ipidRemUnknown : 11121314-1516-1718-191a-1b1c1d1e1f20",
            "MajorVersion : 0x0005 (5) MinorVersion : 0x0007 (7)",
            "result : WERR_OK",
        ],
    ),
    stub("IOXIDResolver", "ServerAlive2", "in", &[]),
    stub("IRemUnknown", "RemAddRef", "in", REFERENCES),
    stub("IRemUnknown", "RemRelease", "in", REFERENCES),
    stub("IRemUnknown", "RemRelease", "out", &["extensions : NULL", "result : WERR_OK"]),
    Stub {
        interface: "ISystemActivator",
        name: "RemoteCreateInstance",
        theirs: "ISystemActivatorRemoteCreateInstance",
        direction: "in",
        expected: &["signature : 0x574f454d", "iid : 000001a2-0000-0000-c000-000000000046"],
    },
    Stub {
        interface: "ISystemActivator",
        name: "RemoteCreateInstance",
        theirs: "ISystemActivatorRemoteCreateInstance",
        direction: "out",
        expected: &["iid : 000001a3-0000-0000-c000-000000000046", "result : WERR_OK"],
    },
];

/// Eight bytes after the request of RemoteCreateInstance, which Samba's IDL has, and old versions of Windows sent.
const BEHIND: usize = 8;

pub(crate) fn by_ndrdump(workspace: &Workspace) -> Result<Outcome> {
    let printed = example(workspace, None)?;
    let folder = tempfile::tempdir()?;
    let mut bytes = 0;
    for Stub { interface, name, theirs, direction, expected } in STUBS {
        let digits = printed.lines().find_map(|line| line.strip_prefix(&format!("{name} {direction} ")));
        let mut stub = unhex(digits.ok_or_else(|| format!("no stub of {name}, {direction}"))?)?;
        if (name, direction) == ("RemoteCreateInstance", "in") {
            stub.resize(stub.len().next_multiple_of(8) + BEHIND, 0);
        }
        shorten_activation_properties(&mut stub);
        let file = folder.path().join(format!("{name}.{direction}"));
        fs::write(&file, &stub)?;
        let dumped = capture(Command::new("ndrdump").args([interface, theirs, direction]).arg(&file))?;
        check(&dumped, expected).map_err(|why| format!("{name} {direction}: {why}"))?;
        bytes += stub.len();
    }
    Ok(Outcome::Ran(format!("{} stubs, {bytes} bytes", STUBS.len())))
}

/// Samba takes the reserved length of activation properties, which Windows writes 8 larger than they are, for their size: it
/// refuses what Windows sends, too.
fn shorten_activation_properties(stub: &mut [u8]) {
    const CLASS_END: [u8; 14] = [0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46];
    let is_class = |at: &usize| {
        let class = stub.get(*at..*at + 16);
        class.is_some_and(|class| matches!(class[..2], [0x38 | 0x39, 3]) && class[2..] == CLASS_END)
    };
    // Behind the class of the object are the length of an extension and the reserved one.
    let Some(reserved) = (0..stub.len()).find(is_class).map(|class| class + 16 + 4) else { return };
    if let Some(Ok(length)) = stub.get(reserved..reserved + 4).map(<[u8; 4]>::try_from) {
        let length = u32::from_le_bytes(length).saturating_sub(8);
        stub[reserved..reserved + 4].copy_from_slice(&length.to_le_bytes());
    }
}

pub(crate) fn by_impacket(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let [ours, theirs, recoded] = ["ours", "theirs", "recoded"].map(|name| folder.path().join(name));
    let impacket = || {
        let mut command = Command::new(python(workspace));
        command.arg(workspace.root.join("crates/xtask/peers/impacket_dcom.py"));
        command
    };
    fs::write(&ours, example(workspace, None)?)?;
    fs::write(&theirs, capture(impacket().arg("write"))?)?;
    let file = theirs.to_str().ok_or("the temporary folder has no name in UTF-8")?;
    fs::write(&recoded, example(workspace, Some(file))?)?;
    let compared = capture(impacket().arg("check").args([&ours, &theirs, &recoded]))?;
    Ok(Outcome::Ran(compared.trim().to_owned()))
}

/// What the example of the crate prints; with a file of stubs, those as the crate writes them.
fn example(workspace: &Workspace, file: Option<&str>) -> Result<String> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "com"]);
    capture(example.args(["--example", "dcom_stubs", "--"]).args(file))
}
