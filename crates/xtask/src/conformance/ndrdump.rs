//! Samba's ndrdump reads the stubs of each registry method that is declared, both ways, to the last byte.

use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::Result;
use crate::workspace::{Workspace, capture, cargo};

/// The method's name in the IDL, its name in Samba's, and what is in Samba's words of the request and of the response.
const METHODS: [(&str, &str, &[&str], &[&str]); 8] = [
    (
        "OpenLocalMachine",
        "winreg_OpenHKLM",
        &["0x005c (92)", "access_mask : 0x00020019", "1: KEY_QUERY_VALUE"],
        &["01020304-0506-0708-090a-0b0c0d0e0f10", "result : WERR_OK"],
    ),
    (
        "BaseRegCloseKey",
        "winreg_CloseKey",
        &["01020304-0506-0708-090a-0b0c0d0e0f10"],
        &["00000000-0000-0000-0000-000000000000", "result : WERR_OK"],
    ),
    (
        "BaseRegEnumKey",
        "winreg_EnumKey",
        &["enum_index : 0x00000003", "size : 0x0400 (1024)", "size : 0x0080 (128)"],
        &["length : 0x000c (12)", "'Print'", "result : WERR_OK"],
    ),
    (
        "BaseRegOpenKey",
        "winreg_OpenKey",
        &[r"'SOFTWARE\Perflib'", "name_len : 0x0022 (34)", "access_mask : 0x00020019"],
        &["01020304-0506-0708-090a-0b0c0d0e0f10", "WERR_FILE_NOT_FOUND"],
    ),
    (
        "BaseRegQueryInfoKey",
        "winreg_QueryInfoKey",
        &["name_size : 0x0200 (512)"],
        &[
            "num_subkeys : * num_subkeys : 0x00000007",
            "max_subkeylen : 0x0000004c",
            "num_values : 0x00000005",
        ],
    ),
    (
        "OpenPerformanceData",
        "winreg_OpenHKPD",
        &["access_mask : 0x00020019"],
        &["01020304-0506-0708-090a-0b0c0d0e0f10", "result : WERR_OK"],
    ),
    (
        "BaseRegEnumValue",
        "winreg_EnumValue",
        &["enum_index : 0x00000003", "size : 0x0040 (64)", "size : * size : 0x00000008"],
        &["'Start'", "REG_DWORD (4)", "length : 0x00000004", "result : WERR_OK"],
    ),
    (
        "BaseRegQueryValue",
        "winreg_QueryValue",
        &["'2 238'", "data_size : * data_size : 0x00000008"],
        &["REG_BINARY (3)", "data_length : 0x00000008", "result : WERR_OK"],
    ),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "counters"]);
    let printed = capture(example.args(["--example", "winreg_stubs"]))?;
    let folder = tempfile::tempdir()?;
    let mut bytes = 0;
    for (name, theirs, request, response) in METHODS {
        let directions = [("in", request), ("out", response)];
        for (direction, expected) in directions {
            let digits = printed.lines().find_map(|line| line.strip_prefix(&format!("{name} {direction} ")));
            let stub = unhex(digits.ok_or_else(|| format!("no stub of {name}, {direction}"))?)?;
            let file = folder.path().join(format!("{name}.{direction}"));
            fs::write(&file, &stub)?;
            let mut command = Command::new("ndrdump");
            command.arg("winreg").args([theirs, direction]).arg(&file);
            check(&capture(&mut command)?, expected).map_err(|why| format!("{name} {direction}: {why}"))?;
            bytes += stub.len();
        }
    }
    let stubs = printed.lines().count();
    if stubs != 2 * METHODS.len() {
        return Err(format!("{stubs} stubs, of which {} are known here", 2 * METHODS.len()).into());
    }
    Ok(Outcome::Ran(format!("{stubs} stubs of {} methods, {bytes} bytes", METHODS.len())))
}

/// Whether all of a stub was read, and as what we meant. Samba aligns its words with blanks and lines.
pub(super) fn check(dumped: &str, expected: &[&str]) -> Result<()> {
    let words = dumped.split_whitespace().collect::<Vec<_>>().join(" ");
    if !words.contains("pull returned Success") || !words.ends_with("dump OK") {
        return Err(format!("not read:\n{dumped}").into());
    }
    if words.contains("unread bytes") {
        return Err(format!("not read to the end:\n{dumped}").into());
    }
    match expected.iter().find(|part| !words.contains(**part)) {
        Some(part) => Err(format!("`{part}` is missing in:\n{dumped}").into()),
        None => Ok(()),
    }
}

pub(super) fn unhex(digits: &str) -> Result<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}
