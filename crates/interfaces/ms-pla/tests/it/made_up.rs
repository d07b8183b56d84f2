//! A request and a reply of each method of [MS-PLA] with made-up values, written without the declarations of this crate: from
//! the kinds of parameters in `tests/data/methods.txt`. The client of go-msrpc under `crates/xtask/peers/gomsrpc` makes up the
//! same values. The example `pla_stubs` uses this module, too.

use com::oaut::{ArrayParameter, Bstr, SafeArray, Value, Variant, VariantBool};
use ms_pla::{AnyVariant, Object};
use rpc::Direction;
use rpc::ndr::{ConformantBytes, Enum, EnumForm, InterfacePointer, Writer};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis};
use wire::Guid;

/// A line of the table: interface, opnum, kinds of parameters in and out.
pub(crate) struct Row {
    pub(crate) interface: &'static str,
    pub(crate) opnum: u16,
    requests: Vec<&'static str>,
    replies: Vec<&'static str>,
}

pub(crate) fn rows() -> impl Iterator<Item = Row> {
    let lines = include_str!("../data/methods.txt").lines().filter(|line| !line.starts_with('#'));
    let kinds = |text: &'static str| text.split(' ').filter(|kind| *kind != "-").collect();
    lines.filter_map(move |line| {
        let (head, replies) = line.split_once(" -> ")?;
        let mut words = head.splitn(4, ' ');
        let (interface, opnum, _) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        Some(Row { interface, opnum, requests: kinds(words.next()?), replies: kinds(replies) })
    })
}

/// What each reply returns: PLA_S_PROPERTY_IGNORED.
const STATUS: u32 = 0x0030_0100;

/// Both directions, and the words by which lines of stubs call them.
pub(crate) const DIRECTIONS: [(Direction, &str); 2] = [(Direction::Request, "in"), (Direction::Reply, "out")];

impl Row {
    fn kinds(&self, direction: Direction) -> &[&'static str] {
        match direction {
            Direction::Request => &self.requests,
            Direction::Reply => &self.replies,
        }
    }

    /// go-msrpc leaves out the pointer that a VARIANT is ([MS-OAUT] 2.2.29.2) in requests, though not in replies.
    pub(crate) fn has_variant_without_pointer(&self, direction: Direction) -> bool {
        direction == Direction::Request && self.requests.contains(&"variant")
    }

    /// The bytes, and the values in words.
    pub(crate) fn stub(
        &self,
        direction: Direction,
        enums: EnumForm,
    ) -> rpc::ndr::EncodeResult<(Vec<u8>, String)> {
        let mut dst = Writer::new().with_enums(enums);
        match direction {
            Direction::Request => {
                dst.write(&OrpcThis::new(ComVersion::V5_7, Guid::from_u128(7 << 96)))?;
            }
            Direction::Reply => dst.write(&OrpcThat::default())?,
        }
        let mut words = Vec::new();
        for (kind, seed) in self.kinds(direction).iter().zip(u32::from(self.opnum) * 16..) {
            words.push(write(kind, seed, &mut dst)?);
        }
        if direction == Direction::Reply {
            dst.write(&STATUS)?;
            words.push(STATUS.to_string());
        }
        Ok((dst.into_stub(), words.join("; ")))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a value of a kind of the table, and says it in words.
fn write(kind: &str, seed: u32, dst: &mut Writer) -> rpc::ndr::EncodeResult<String> {
    let low = i32::from_le_bytes(seed.to_le_bytes());
    let [first, second, ..] = seed.to_le_bytes();
    let words = match kind {
        "u32" => {
            let number = 0xee00_0000 + seed;
            dst.write(&number)?;
            number.to_string()
        }
        "i32" => {
            let number = 0x1100_0000 + low;
            dst.write(&number)?;
            number.to_string()
        }
        "u64" => {
            let number = 0x1122_3344_0000_0000 + u64::from(seed);
            dst.write(&number)?;
            number.to_string()
        }
        "bool" => {
            let is_odd = seed % 2 == 1;
            dst.write(if is_odd { &VariantBool::TRUE } else { &VariantBool::FALSE })?;
            if is_odd { "-1" } else { "0" }.to_owned()
        }
        "enum" => {
            dst.write(&Enum(u16::from_le_bytes([first, second])))?;
            seed.to_string()
        }
        "guid" => {
            let guid = Guid::from_u128(u128::from(seed) << 96 | 0x1111_2222 << 64);
            dst.write(&guid)?;
            guid.to_string()
        }
        "text" => {
            let text = format!("text {seed}");
            dst.write(&Bstr::new(&text)?)?;
            text
        }
        "texts" => {
            let texts = [format!("first {seed}"), "second".to_owned()];
            let bstrs = texts.iter().map(|text| Bstr::new(text)).collect::<Result<_, _>>()?;
            dst.write(&ArrayParameter::Single(Some(Box::new(SafeArray::of_bstrs(bstrs)?))))?;
            texts.join(", ")
        }
        "bytes" => {
            let bytes = [first, second, 3];
            let array = SafeArray::of_bytes(ConformantBytes(bytes[..].into()))?;
            dst.write(&ArrayParameter::Single(Some(Box::new(array))))?;
            hex(&bytes)
        }
        "variant" => {
            let variant: AnyVariant<'_> = Some(Box::new(Variant::new(Value::I4(-low))?));
            dst.write(&variant)?;
            format!("variant 3 {}", -low)
        }
        "object" => {
            let data = [&b"MEOW"[..], &seed.to_le_bytes()].concat();
            let words = hex(&data);
            let object: Object<'_> = Some(Box::new(InterfacePointer { size: 8, data: data.into() }));
            dst.write(&object)?;
            words
        }
        _ => unreachable!("methods.txt has no parameter of the kind {kind}"),
    };
    Ok(words)
}
