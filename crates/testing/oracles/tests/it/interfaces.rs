//! Every interface that is declared, and every method of it, keeps the laws of interfaces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use oracles::interfaces::{Declared, INTERFACES};
use oracles::seeds::{Stub, stubs};
use rpc::Direction;
use rpc::ndr::Error;

/// The Rust files below `folder` without those of tests, benchmarks and examples.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !["tests", "benches", "examples", "target"].contains(&name) {
            sources(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// The names of the interfaces that a source declares outside of its comments.
fn declarations(source: &str) -> Vec<String> {
    let code: Vec<&str> = source.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let declared = code.iter().filter_map(|line| {
        let (_, name) = line.split_once("interface ").filter(|(before, _)| before.starts_with("pub"))?;
        // One of objects names what it inherits from before its UUID.
        let (name, _uuid) = name.split_once("(\"")?;
        name.split(':').next().map(str::to_lowercase)
    });
    if code.iter().any(|line| line.contains("interface! {")) { declared.collect() } else { Vec::new() }
}

#[test]
fn every_interface_that_is_declared_has_its_laws() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let mut files = Vec::new();
    for folder in ["crates", "plugins", "plugin-api", "exporter"] {
        sources(&root.join(folder), &mut files);
    }
    let found: BTreeSet<String> =
        files.iter().flat_map(|file| declarations(&fs::read_to_string(file).unwrap())).collect();
    let known: BTreeSet<String> = INTERFACES.iter().map(|interface| interface.name.to_lowercase()).collect();
    assert_eq!(found, known, "an interface is declared and not in `oracles::interfaces::INTERFACES`");
}

#[test]
fn every_method_that_is_declared_has_a_stub_in_each_direction() {
    let have: BTreeSet<(&str, u16, bool)> =
        stubs().iter().map(|stub| (stub.interface, stub.opnum, is_reply(stub.direction))).collect();
    let both = |interface: &'static Declared| {
        let of = |opnum| [(interface.name, opnum, false), (interface.name, opnum, true)];
        interface.methods.iter().flat_map(move |method| of(method.opnum))
    };
    let wanted: BTreeSet<_> = INTERFACES.iter().flat_map(both).collect();
    assert_eq!(have, wanted, "interface, opnum, and whether it is the reply");
}

fn is_reply(direction: Direction) -> bool {
    direction == Direction::Reply
}

/// Reads a changed stub of a method.
fn read(stub: &Stub, bytes: &[u8]) -> Result<(), Error> {
    let interface = INTERFACES.iter().find(|interface| interface.name == stub.interface).unwrap();
    (interface.recode)(stub.direction, stub.opnum, bytes).unwrap().map(drop)
}

/// The structure, the field and the offset that an error names.
fn place(error: &Error) -> (&'static str, &'static str, usize) {
    match error {
        Error::Decode(error) => (error.context, error.field, error.offset),
        Error::Range(error) => (error.context, error.field, error.offset),
    }
}

fn check_place(stub: &Stub, bytes: &[u8], error: &Error) {
    let Stub { interface, direction, opnum, .. } = stub;
    let (structure, field, offset) = place(error);
    let says_where = !structure.is_empty() && !field.is_empty() && offset <= bytes.len();
    assert!(says_where, "{interface} {opnum}, {direction:?} {bytes:02x?}: {error}");
    let text = error.to_string();
    assert!(text.starts_with(structure) && text.contains(&format!("`{field}`")), "{text}");
    assert!(text.contains(&format!("offset {offset}")), "{text}");
}

#[test]
fn a_stub_that_is_cut_off_is_an_error_that_says_where() {
    for stub in stubs() {
        assert_eq!(read(&stub, &stub.bytes), Ok(()), "{stub:?}");
        for length in 0..stub.bytes.len() {
            let bytes = &stub.bytes[..length];
            let error = read(&stub, bytes).expect_err("something is missing");
            check_place(&stub, bytes, &error);
        }
    }
}

#[test]
fn a_stub_that_is_corrupted_is_read_or_an_error_that_says_where() {
    for stub in stubs() {
        let mut refused = 0;
        for at in 0..stub.bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = stub.bytes.clone();
                bytes[at] = value;
                if let Err(error) = read(&stub, &bytes) {
                    refused += 1;
                    check_place(&stub, &bytes, &error);
                }
            }
        }
        let has_counts = stub.bytes.len() > 40;
        assert!(refused > 0 || !has_counts, "{stub:?}: no corruption is noticed");
    }
}
