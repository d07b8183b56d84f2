//! Peers that lie.

use rpc::endpoints::epm::types::{ANNOTATION_BYTES_MAX, EptEntry, TOWER_BYTES_MAX, Twr};
use rpc::endpoints::epm::wire::{Binding, FLOORS_MAX, Floor, ProtocolId, Tower};
use rpc::ndr::{Reader, Writer};
use wire::{DecodeError, decode, encode_vec};

use crate::endpoints::epm::fixture::{bindings, entry, interface, tcp, winreg};
use crate::endpoints::epm::hex;

/// winreg 1.0 in NDR: the first two floors.
const IDENTIFIERS: &str = "1300 0d 01d08c334422f131aaaa900038001003 0100 0200 0000
    1300 0d 045d888aeb1cc9119fe808002b104860 0200 0200 0000";

fn tower(count: &str, floors: &str) -> Result<Tower, String> {
    decode(&hex(&format!("{count} {floors}"))).map_err(|error: DecodeError| error.to_string())
}

fn refused(count: &str, floors: &str, expected: &str) {
    let error = tower(count, floors).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_tower_begins_with_an_interface_and_a_transfer_syntax() {
    assert_eq!(tower("0200", IDENTIFIERS).unwrap(), Tower::ndr(winreg(), Binding::Other(Vec::new())));
    refused("", "", "protocol tower: `floor count`: 2 bytes needed at offset 0, 0 there");
    refused("0100", IDENTIFIERS, "`floor count`: is below 2");
    refused("1100", IDENTIFIERS, "`floor count`: 17 is above the limit of 16 (offset 0)");
    refused("0300", IDENTIFIERS, "tower floor: `LHS`: 2 bytes needed at offset 52, 0 there");
    refused("0200", "ffff 0d", "tower floor: `LHS`: 65535 bytes needed at offset 4, 1 there");
    refused("0200", "0000 0000", "tower floor: `LHS`: has no protocol identifier (offset 4)");
    refused("0200", "0100 0d ffff", "tower floor: `RHS`: 65535 bytes needed at offset 7, 0 there");
    let reason = "`interface`: is no UUID with a version (offset 2)";
    refused("0200", "0100 0d 0200 0000", reason);
    refused("0200", &IDENTIFIERS.replacen("0d", "0e", 1), reason);
    refused("0200", &IDENTIFIERS.replacen("0100 0200 0000", "0100 0000", 1), reason);
    let reason = "`transfer syntax`: is no UUID with a version (offset 27)";
    refused("0200", &IDENTIFIERS.replace("0d 045d", "0c 045d"), reason);
}

#[test]
fn floors_that_are_built_otherwise_are_kept_as_they_are() {
    let other = |floors: &str, count: usize| {
        let read = tower(&format!("{:02x}00", 2 + count), &format!("{IDENTIFIERS} {floors}")).unwrap();
        let Binding::Other(kept) = &read.binding else { panic!("{read:?}") };
        assert_eq!(kept.len(), count);
        assert_eq!(encode_vec(&read).unwrap()[52..], hex(floors));
    };
    // A port of three bytes, an address of six, something beside the protocol, UDP, a fourth floor.
    other("0100 0b 0200 0000 0100 07 0300 000087 0100 09 0400 7f000001", 3);
    other("0100 0b 0200 0000 0100 07 0200 0087 0100 09 0600 7f0000010000", 3);
    other("0200 0b01 0200 0000 0100 07 0200 0087 0100 09 0400 7f000001", 3);
    other("0100 0a 0200 0000 0100 08 0200 0087 0100 09 0400 7f000001", 3);
    other("0100 0b 0200 0000 0100 07 0200 0087 0100 09 0400 7f000001 0100 09 0000", 4);
    // Names with a NUL inside, and such that are no UTF-8.
    other("0100 0c 0200 0000 0100 10 0400 61006200", 2);
    other("0100 0c 0200 0000 0100 10 0200 ff00", 2);
    other("0100 0b 0200 0000 0100 0f 0200 ff00 0100 11 0100 00", 3);
}

#[test]
fn a_minor_version_of_the_protocol_and_a_missing_nul_are_not_looked_at() {
    let read = tower("0500", &format!("{IDENTIFIERS} 0100 0b 0200 0500 0100 0f 0200 5c61 0100 11 0000"));
    let binding = Binding::NamedPipe { host: String::new(), pipe: r"\a".to_owned() };
    assert_eq!(read.unwrap(), Tower::ndr(winreg(), binding));
}

#[test]
fn a_tower_that_ends_early_says_where() {
    for binding in bindings() {
        let bytes = encode_vec(&Tower::ndr(interface(1), binding)).unwrap();
        for end in 0..bytes.len() {
            let error = decode::<Tower>(&bytes[..end]).unwrap_err();
            assert!(error.offset <= end, "{error}");
        }
    }
}

#[test]
fn what_a_tower_cannot_hold_is_not_written() {
    let write = |binding| encode_vec(&Tower::ndr(winreg(), binding)).map_err(|error| error.to_string());
    let named = |endpoint: &str| write(Binding::Local { endpoint: endpoint.to_owned() });
    assert_eq!(named("a\0b").unwrap_err(), "tower floor: `RHS`: holds a NUL");
    assert_eq!(named(&"a".repeat(0xffff)).unwrap_err(), "tower floor: `RHS byte count`: is above 16 bits");
    let floors = |count: u16| write(Binding::Other(vec![Floor::new(ProtocolId::IP, []); count.into()]));
    floors(FLOORS_MAX - 2).unwrap();
    assert_eq!(floors(FLOORS_MAX - 1).unwrap_err(), "protocol tower: `floor count`: is above 16");
    let long = Tower::ndr(winreg(), Binding::Local { endpoint: "a".repeat(1950) });
    assert_eq!(Twr::new(&long).unwrap_err().to_string(), "twr_t: `tower_length`: is above 2000");
    let mut long = entry(winreg(), tcp(1));
    long.annotation = "a".repeat(ANNOTATION_BYTES_MAX);
    let written = Writer::new().write(&EptEntry::try_from(&long).unwrap());
    assert!(written.unwrap_err().to_string().contains("longer than there is room for"));
}

#[test]
fn a_tower_as_a_parameter_counts_once_and_has_a_limit() {
    let read = |words: [u32; 2], bytes: usize| {
        let mut stub: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        stub.resize(8 + bytes, 0);
        Reader::new(&stub, "Test").read::<Twr>("tower").map_err(|error| error.to_string())
    };
    let max = usize::try_from(TOWER_BYTES_MAX).unwrap();
    assert_eq!(read([TOWER_BYTES_MAX; 2], max).unwrap().tower_octet_string.len(), max);
    let error = read([TOWER_BYTES_MAX + 1; 2], max + 1).unwrap_err();
    assert!(error.contains("`tower_length`: 2001"), "{error}");
    let error = read([4, 3], 4).unwrap_err();
    assert!(error.contains("`tower_octet_string`: max_count is not tower_length"), "{error}");
    let error = read([2000, 2000], 5).unwrap_err();
    assert!(error.contains("2000 bytes needed at offset 8, 5 there"), "{error}");
}

#[test]
fn what_a_server_names_is_shown_without_control_characters() {
    let shown = Binding::Local { endpoint: "a\u{1b}[31m\nb".to_owned() }.to_string();
    assert_eq!(shown, r"ncalrpc:[a\u{1b}[31m\nb]");
    let shown: Vec<String> = bindings().iter().map(ToString::to_string).collect();
    assert_eq!(shown[0], "ncacn_ip_tcp:192.0.2.7[49664]");
    assert_eq!(shown[1], "ncacn_http:192.0.2.7[593]");
    assert_eq!(shown[2], r"ncacn_np:\\WEB1[\PIPE\winreg]");
    assert_eq!(shown[4], "protocols NCADG UDP 0x7f");
}
