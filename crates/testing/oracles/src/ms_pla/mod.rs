//! Laws of `ms-pla`: its XML, the forms of its messages, its value maps; and honest calls, whose laws are those of interfaces.

mod messages;

use std::collections::HashSet;

use com::oaut::{ArrayParameter, Bstr, Value, Variant, VariantBool};
use ms_pla::xml::{DataCollectorSet, Limits};
use rpc::ndr::{ConformantBytes, Enum, EnumForm, InterfacePointer, Writer};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis};
use wire::Guid;

pub use self::messages::{messages, value_maps};
use crate::ms_dcom::Call;

const MADE: &str = "our own encoders take it";

/// The methods as the IDL has them: interface, opnum, name, kinds of parameters in and out.
const METHODS: &str = include_str!("../../../../interfaces/ms-pla/tests/data/methods.txt");

/// A method of the table.
struct Row {
    interface: &'static str,
    opnum: u16,
    requests: &'static str,
    replies: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    METHODS.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (head, replies) = line.split_once(" -> ").expect("a row has an arrow");
        let mut words = head.splitn(4, ' ');
        let mut word = || words.next().expect("a row has four words before the arrow");
        let (interface, opnum, _name, requests) = (word(), word(), word(), word());
        Row { interface, opnum: opnum.parse().expect("an opnum is a number"), requests, replies }
    })
}

/// A call of each method of an interface.
pub(crate) fn honest(interface: &str) -> Vec<Call> {
    let of_interface = rows().filter(|row| row.interface == interface);
    of_interface.map(|row| (row.opnum, request(row.requests), reply(row.replies))).collect()
}

/// Whether no method before this one has the same parameters, so that it is worth a seed.
pub(crate) fn is_new(interface: &str, opnum: u16) -> bool {
    let mut before = rows().take_while(|row| (row.interface, row.opnum) != (interface, opnum));
    let this = rows().find(|row| (row.interface, row.opnum) == (interface, opnum));
    this.is_some_and(|this| !before.any(|row| (row.requests, row.replies) == (this.requests, this.replies)))
}

/// In the shorter form of enumerations, which misses what is cut off.
fn request(kinds: &str) -> Vec<u8> {
    let mut dst = Writer::new().with_enums(EnumForm::Short);
    dst.write(&OrpcThis::new(ComVersion::V5_7, Guid::from_u128(7))).expect(MADE);
    write(kinds, &mut dst);
    dst.into_stub()
}

fn reply(kinds: &str) -> Vec<u8> {
    let mut dst = Writer::new();
    dst.write(&OrpcThat::default()).expect(MADE);
    write(kinds, &mut dst);
    dst.u32(0);
    dst.into_stub()
}

fn write(kinds: &str, dst: &mut Writer) {
    for kind in kinds.split(' ') {
        parameter(kind, dst).expect(MADE);
    }
}

fn parameter(kind: &str, dst: &mut Writer) -> wire::EncodeResult<()> {
    match kind {
        "-" => Ok(()),
        "u32" | "i32" => dst.write(&7_u32),
        "u64" => dst.write(&7_u64),
        "bool" => dst.write(&VariantBool::TRUE),
        "enum" => dst.write(&Enum(3)),
        "guid" => dst.write(&Guid::from_u128(7)),
        "text" => dst.write(&Bstr::new("web")?),
        "texts" => dst.write(&ArrayParameter::of_bstrs(vec![Bstr::new("web")?, Bstr::null()])?),
        "bytes" => dst.write(&ArrayParameter::of_bytes(ConformantBytes(b"web"[..].into()))?),
        "variant" => dst.write(&Some(Box::new(Variant::new(Value::I4(7))?))),
        "object" => dst.write(&Some(Box::new(InterfacePointer { size: 4, data: b"MEOW"[..].into() }))),
        _ => Err(wire::EncodeError::new("methods.txt", "kind", "is none of a parameter")),
    }
}

/// Limits that an input can reach.
const LIMITS: Limits = Limits { bytes_max: 1 << 16, names_max: 256, depth_max: 8 };

/// A data collector set as XML: limits hold, what is read is written and read again as it is, errors say where.
pub fn xml(bytes: &[u8]) {
    match DataCollectorSet::read(bytes, &LIMITS) {
        Ok(set) => {
            // Indents and references may make it longer than what was read.
            let text = set.to_xml().expect("what was read can be written");
            assert!(text.matches('<').count() <= 2 * LIMITS.names_max + 1);
            let again = DataCollectorSet::read(text.as_bytes(), &Limits::default());
            assert_eq!(again.as_ref(), Ok(&set));
            let findings = set.validate();
            let properties: HashSet<&str> = findings.iter().map(|finding| &*finding.property).collect();
            assert_eq!(properties.len(), findings.len(), "each property is named once");
        }
        Err(error) => assert!(!error.reason.is_empty() && error.reason.len() < 1024, "{error}"),
    }
}

/// A set in two encodings.
pub(crate) fn documents() -> Vec<(&'static str, Vec<u8>)> {
    let text = concat!(
        "<?xml version=\"1.0\"?><DataCollectorSet><Duration>9</Duration><Segment>-1</Segment><Schedule><StartDate>",
        "9/14/2020</StartDate><StartTime>4:00:00 AM</StartTime></Schedule><TraceDataCollector><Guid>{00000000-0000-",
        "0000-0000-000000000000}</Guid></TraceDataCollector><Alert>\\a&lt;1</Alert><x y='1'>a<z/></x></DataCollectorSet>",
    );
    let units = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![("utf8", text.as_bytes().to_vec()), ("utf16", units)]
}

/// Inputs of the other oracles: oracle, name, bytes.
pub(crate) fn honest_inputs() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let first = |of: &str, opnum| rows().position(|row| (row.interface, row.opnum) == (of, opnum));
    let call = |of, opnum, reply, rest: &[u8]| {
        let [high, low] = u16::try_from(first(of, opnum).unwrap_or(0)).unwrap_or(0).to_be_bytes();
        [&[high, low, reply][..], rest].concat()
    };
    let index = [&[4, 2, 2][..], b"a", &[0; 2], b"b"].concat();
    vec![
        ("pla_messages", "commit", call("IDataCollectorSet", 60, 0, &[2, 65, 0, 66, 0, 1, 67, 0, 3, 0])),
        ("pla_messages", "keywords", call("IDataCollectorSet", 16, 1, &[2, 1, 65, 0, 0xfe, 0, 0, 0, 0, 0])),
        ("pla_messages", "filter", call("ITraceDataProvider", 19, 1, &[3, 0, 1, 2, 3, 0, 0, 0, 0])),
        ("pla_messages", "item", call("IValueMap", 8, 0, &[2, 1, 0, 0, 0, 0, 0, 0, 0])),
        ("pla_messages", "status", call("IDataCollectorSet", 33, 1, &[1, 0, 0, 0, 0, 0])),
        (
            "pla_messages",
            "collector",
            call("IDataCollectorCollection", 14, 1, b"\x04\0MEOW\x04\0MEOW\0\x01\x30\0"),
        ),
        (
            "pla_value_maps",
            "flags",
            [&[2, 3, 0][..], b"0x4", b"a\x01\x01\0\0\0\0\0\0\0b\x01\x02\0\0\0\0\0\0\0"].concat(),
        ),
        ("pla_value_maps", "key", [&[1, 1, 0][..], b"!", b"\x01\x01\x07\0\0\0\0\0\0\x80\x02\0"].concat()),
        ("pla_value_maps", "results", index),
    ]
}
