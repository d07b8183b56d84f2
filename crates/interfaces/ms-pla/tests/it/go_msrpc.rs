//! A request and a reply of each of the 300 methods, as go-msrpc 1.2.5 writes them with made-up values: `data/go_msrpc_all.txt`,
//! which the command `pla-stubs` of `crates/xtask/peers/gomsrpc` prints. A conformance check compares that file with what the
//! command prints now, and lets go-msrpc read what this crate writes.

use std::collections::BTreeMap;

use rpc::Direction;
use rpc::ndr::EnumForm;

use crate::made_up::{DIRECTIONS, Row, rows};
use crate::methods::interfaces;

fn theirs() -> BTreeMap<&'static str, Vec<u8>> {
    let lines = include_str!("../data/go_msrpc_all.txt").lines().filter(|line| !line.starts_with('#'));
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes = |digits: &str| digits.as_bytes().chunks(2).map(byte).collect();
    lines.map(|line| line.rsplit_once(' ').unwrap()).map(|(name, digits)| (name, bytes(digits))).collect()
}

/// What go-msrpc wrote, with the pointer to a VARIANT that it leaves out: behind ORPCTHIS; what follows is aligned to eight.
fn with_pointer(row: &Row, direction: Direction, stub: &[u8]) -> Vec<u8> {
    let mut stub = stub.to_vec();
    if row.has_variant_without_pointer(direction) {
        stub.splice(32..32, [1, 0, 0, 0, 0, 0, 0, 0]);
    }
    stub
}

#[test]
fn this_crate_reads_of_each_request_and_reply_what_go_msrpc_means() {
    let theirs = theirs();
    let interfaces = interfaces();
    let mut compared = 0;
    for row in rows() {
        let interface = interfaces.iter().find(|interface| interface.name == row.interface).unwrap();
        for (direction, word) in DIRECTIONS {
            let name = format!("{} {} {word}", row.interface, row.opnum);
            let stub = with_pointer(&row, direction, &theirs[name.as_str()]);
            let recoded = (interface.recode)(direction, row.opnum, &stub).unwrap();
            let recoded = recoded.unwrap_or_else(|error| panic!("{name}: {error}")).unwrap();
            let (meant, words) = row.stub(direction, EnumForm::Either).unwrap();
            assert_eq!(recoded, meant, "{name}: {words}");
            compared += 1;
        }
    }
    assert_eq!((compared, theirs.len()), (600, 600));
}
