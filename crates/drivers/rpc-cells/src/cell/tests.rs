use proptest::prelude::*;
use wire::Guid;

use super::*;
use crate::layout::CellId;

/// Objects with another value in each field. The bytes are computed by hand from the tables of the crate.
fn examples() -> [(Cell, &'static str); 10] {
    let id = |section, cell| CellId { section, cell };
    [
        (
            Endpoint {
                protocol_sequence: ProtocolSequence::NAMED_PIPE,
                status: EndpointStatus::ACTIVE,
                name: Name::new("ab"),
            }
            .into(),
            "01 01 0f00 02 6162",
        ),
        (
            Thread { status: ThreadStatus::IDLE, tid: 0x1a4, last_update_ms: 0x7_2c09 }.into(),
            "02 03 0000 a4010000 092c070000000000",
        ),
        (
            Connection {
                flags: ConnectionFlags::EXCLUSIVE,
                authentication_level: AuthenticationLevel::PKT_PRIVACY,
                authentication_service: AuthenticationService::WINNT,
                last_transmit_fragment_bytes: 24,
                endpoint: id(1, 2),
                last_send_ms: 3,
                last_receive_ms: 4,
                peer: Some([192, 0, 2, 7].into()),
                totals: id(0, 5),
                target: id(0, 6),
            }
            .into(),
            "03 01 06 0a 18000000 02000100 05000000 0300000000000000 0400000000000000 \
             00000000000000000000ffffc0000207 06000000",
        ),
        (
            ServerCall {
                status: CallStatus::DISPATCHED,
                opnum: 0x102,
                interface_start: 0x19bb_5061,
                servicing_thread: id(0, 2),
                flags: CallFlags::CACHED | CallFlags::LRPC,
                last_update_ms: 5,
                call_id: 6,
                connection: id(0, 3),
                caller_pid: 7,
                caller_tid: 8,
                object: id(0, 9),
                operation: id(0, 10),
            }
            .into(),
            "04 02 0201 6150bb19 02000000 09000000 0500000000000000 06000000 03000000 07000000 08000000 \
             09000000 0a000000",
        ),
        (
            ClientCall {
                opnum: 1,
                servicing_thread: id(0, 2),
                interface_start: 0x19bb_5061,
                endpoint: Name::new("1120"),
                call_id: 3,
                target: id(0, 4),
                object: id(0, 5),
                operation: id(0, 6),
            }
            .into(),
            "05 00 0100 6150bb19 02000000 03000000 04000000 04 31313230 0000000000000000 000000 05000000 06000000",
        ),
        (
            CallTarget {
                protocol_sequence: ProtocolSequence::TCP,
                last_update_ms: 9,
                server: Name::new("h"),
                endpoint: Name::new("135"),
            }
            .into(),
            "06 00 0700 00000000 0900000000000000 01 68 0000000000000000000000000000000000000000000000 00 03 313335",
        ),
        (
            Interface { version: 1, uuid: Guid::from_u128(UUID), name: Name::new("IRemoteActivation") }
                .into(),
            "07 00 0100 b84a9f4d1c7dcf11861e0020af6e7c57 11 4952656d6f746541637469766174696f6e",
        ),
        (
            Operation { opnum: 3, interface: id(1, 2), name: Name::new("Get") }.into(),
            "08 00 0300 02000100 03 476574",
        ),
        (
            ObjectCall { ipid: Guid::from_u128(UUID), causality_id: Guid::from_u128(1) }.into(),
            "09 00 0000 00000000 b84a9f4d1c7dcf11861e0020af6e7c57 00000000000000000000000000000001",
        ),
        (
            ConnectionTotals { fragments_sent: 1, fragments_received: 2, bytes_sent: 3, bytes_received: 4 }
                .into(),
            "0a 00 0000 00000000 0100000000000000 0200000000000000 0300000000000000 0400000000000000",
        ),
    ]
}

const UUID: u128 = 0x4d9f_4ab8_7d1c_11cf_861e_0020_af6e_7c57;

fn words(cell: &Cell) -> CopyWords {
    match cell {
        Cell::Endpoint(object) => encode(object),
        Cell::Thread(object) => encode(object),
        Cell::Connection(object) => encode(object),
        Cell::ServerCall(object) => encode(object),
        Cell::ClientCall(object) => encode(object),
        Cell::CallTarget(object) => encode(object),
        Cell::Interface(object) => encode(object),
        Cell::Operation(object) => encode(object),
        Cell::ObjectCall(object) => encode(object),
        Cell::ConnectionTotals(object) => encode(object),
    }
}

#[test]
fn each_field_stands_where_the_tables_say() {
    for (cell, expected) in examples() {
        let bytes: Vec<u8> = words(&cell).into_iter().flat_map(u64::to_le_bytes).collect();
        let mut hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected: String = expected.split_whitespace().collect();
        let rest = hex.split_off(expected.len());
        assert_eq!(hex, expected, "{cell:?}");
        assert!(rest.bytes().all(|digit| digit == b'0'), "{cell:?}");
        assert_eq!(Cell::decode(&words(&cell)), Ok(Some(cell)));
    }
}

#[test]
fn names_are_cut_between_characters_and_show_that_they_are_cut() {
    fn check<const N: usize>(name: &str, expected: &str) {
        let cut = Name::<N>::new(name);
        assert_eq!(cut.as_str(), expected);
        assert_eq!(Name::from_padded(cut.len(), cut.padded()), Some(cut), "it is read as it was written");
    }
    check::<24>("host", "host");
    check::<12>("0123456789ab", "0123456789ab");
    check::<12>("0123456789abc", "012345678…");
    check::<12>("0123456789é", "0123456789é");
    check::<12>("01234567éabc", "01234567…");
    check::<28>(&"é".repeat(20), &format!("{}…", "é".repeat(12)));
    check::<12>("𝄞𝄞𝄞", "𝄞𝄞𝄞");
    check::<12>("𝄞𝄞𝄞𝄞", "𝄞𝄞…");
    assert!(Name::<12>::new("\\PIPE\\svcctl2").is_front_of("\\PIPE\\svcctl2"));
    assert!(!Name::<12>::new("1120").is_front_of("11201"));
}

#[test]
fn a_cell_that_no_writer_wrote_is_refused_with_the_field() {
    let broken = |byte: usize, value: u8, cell: Cell| {
        let mut copy = words(&cell);
        let mut bytes = copy[byte / 8].to_le_bytes();
        bytes[byte % 8] = value;
        copy[byte / 8] = u64::from_le_bytes(bytes);
        Cell::decode(&copy)
    };
    let [endpoint, .., client_call, target, interface, operation, _, _] = examples().map(|(cell, _)| cell);
    assert_eq!(broken(0, 99, endpoint), Err(Malformed::Kind(Kind(99))));
    assert_eq!(broken(4, 29, endpoint), Err(Malformed::Name { field: "EndpointName" }));
    assert_eq!(broken(5, 0xff, endpoint), Err(Malformed::Name { field: "EndpointName" }));
    assert_eq!(broken(20, 13, client_call), Err(Malformed::Name { field: "Endpoint" }));
    assert_eq!(broken(16, 25, target), Err(Malformed::Name { field: "TargetServer" }));
    assert_eq!(broken(42, 13, target), Err(Malformed::Name { field: "Endpoint" }));
    assert_eq!(broken(20, 33, interface), Err(Malformed::Name { field: "InterfaceName" }));
    assert_eq!(broken(8, 48, operation), Err(Malformed::Name { field: "OperationName" }));
    assert_eq!(broken(0, 0, target), Ok(None));
}

proptest! {
    #[test]
    fn what_is_read_is_read_again_after_it_is_written(copy: CopyWords, kind in 0_u8..12) {
        let mut copy = copy;
        copy[0] = copy[0] & !0xff | u64::from(kind);
        if let Ok(Some(cell)) = Cell::decode(&copy) {
            prop_assert_eq!(Cell::decode(&words(&cell)), Ok(Some(cell)));
            prop_assert_eq!(cell.kind(), Kind(kind));
        }
    }

    #[test]
    fn a_name_is_the_longest_front_that_fits(text: String) {
        let name = Name::<28>::new(&text);
        if text.len() > 28 {
            let front = name.as_str().strip_suffix('…').expect("it shows that it was cut");
            let rest = text.strip_prefix(front).expect("the front of the name");
            let next = rest.chars().next().expect("there is more");
            prop_assert!(name.as_str().len() <= 28 && name.as_str().len() + next.len_utf8() > 28);
        } else {
            prop_assert_eq!(name.as_str(), text);
        }
    }
}
