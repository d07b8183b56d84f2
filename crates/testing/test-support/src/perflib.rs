//! A second reader of performance data, for tests that judge the first one: written from what perflib.h says of each
//! structure, and from how Microsoft's sample for its PerfLib functions goes through them. It shares no code with this
//! project's decoders, stops at the first thing that is not as published, and takes what documents leave open from who
//! calls it.
//!
//! As in the sample, the position of a result is the `Index` that `PerfQueryCounterInfo` gave its identifier, and
//! whoever goes on to the next structure adds the size that is in this one.

/// What padding comes after structures without being counted in their sizes; perflib.h knows of none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gaps {
    /// Behind the ids of an odd number of counters.
    pub id_lists: bool,
    pub blocks: bool,
}

/// One value, as it is on the wire.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawValue {
    /// The counterset, in the byte order of the wire.
    pub set: [u8; 16],
    /// The instance's name; empty where a counterset has one only.
    pub instance: String,
    /// The instance's number; `0xFFFF_FFFF` where the reply does not tell it.
    pub instance_id: u32,
    pub counter_id: u32,
    pub bytes: Vec<u8>,
}

impl RawValue {
    /// A value of four or eight bytes as a number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let mut wide = [0; 8];
        matches!(self.bytes.len(), 4 | 8).then(|| wide[..self.bytes.len()].copy_from_slice(&self.bytes))?;
        Some(u64::from_le_bytes(wide))
    }
}

struct Identifier {
    set: [u8; 16],
    counter_id: u32,
    instance_id: u32,
    index: u32,
    instance: String,
}

/// The buffer in the response of a method that fills one: `pdwOutSize`, `pdwRtnSize`, and an array that says its maximum,
/// its offset and its length before its bytes.
///
/// # Panics
/// When it is no such response, or not a success; so with all functions here.
#[must_use]
pub fn buffer(stub: &[u8]) -> &[u8] {
    let size = word(stub, 0);
    assert_eq!((word(stub, 12), word(stub, 16)), (0, size), "an array that begins at its beginning");
    let end = 20 + size;
    assert_eq!(word(stub, end.next_multiple_of(4)), 0, "ERROR_SUCCESS");
    &stub[20..end]
}

/// All values of a reply of `PerfQueryCounterData` to a query of which `PerfQueryCounterInfo` says that it is
/// `identifiers`, in order.
///
/// # Panics
/// At whatever is not as published.
#[must_use]
pub fn read(identifiers: &[u8], data: &[u8], gaps: Gaps) -> Vec<RawValue> {
    let identifiers = read_identifiers(identifiers);
    let blocks = blocks(data, gaps);
    assert_eq!(blocks.len(), identifiers.len(), "one result for each query specification");
    let mut taken = vec![false; blocks.len()];
    let mut values = Vec::new();
    for identifier in &identifiers {
        let position = as_usize(identifier.index);
        assert!(!std::mem::replace(&mut taken[position], true), "two results at position {position}");
        read_block(identifier, blocks[position], gaps, &mut values);
    }
    values.sort();
    values
}

fn read_identifiers(mut bytes: &[u8]) -> Vec<Identifier> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let size = word(bytes, 20);
        assert!(
            size >= 40 && size.is_multiple_of(8),
            "Size is that of the block with its string and padding: {size}"
        );
        found.push(Identifier {
            set: bytes[..16].try_into().expect("sixteen bytes"),
            counter_id: word32(bytes, 24),
            instance_id: word32(bytes, 28),
            index: word32(bytes, 32),
            instance: if size == 40 { String::new() } else { text(&bytes[40..size]) },
        });
        bytes = &bytes[size..];
    }
    found
}

/// `PERF_DATA_HEADER`, and then as many `PERF_COUNTER_HEADER` blocks as it says.
fn blocks(data: &[u8], gaps: Gaps) -> Vec<&[u8]> {
    let data = &data[..word(data, 0)];
    let mut rest = &data[48..];
    let mut blocks = Vec::new();
    for left in (0..word(data, 4)).rev() {
        let size = word(rest, 8);
        blocks.push(&rest[..size]);
        let gap = if gaps.blocks { size.next_multiple_of(8) - size } else { 0 };
        rest = &rest[(size + gap).min(if left == 0 { rest.len() } else { usize::MAX })..];
    }
    assert!(
        rest.is_empty(),
        "dwTotalSize is the size of the header and its blocks: {} bytes are left",
        rest.len()
    );
    blocks
}

fn read_block(identifier: &Identifier, block: &[u8], gaps: Gaps, values: &mut Vec<RawValue>) {
    let (status, kind, body) = (word(block, 0), word(block, 4), &block[16..]);
    let own = (identifier.instance.clone(), identifier.instance_id);
    let rest = match kind {
        // PERF_ERROR_RETURN
        0 => {
            assert_ne!(status, 0, "an error has a status");
            body
        }
        // PERF_SINGLE_COUNTER
        1 => read_values(identifier, &own, &[identifier.counter_id], body, values),
        // PERF_MULTIPLE_COUNTERS
        2 => {
            let (ids, rest) = read_ids(body, gaps);
            read_values(identifier, &own, &ids, rest, values)
        }
        // PERF_MULTIPLE_INSTANCES
        4 => read_instances(identifier, &[identifier.counter_id], body, values),
        // PERF_COUNTERSET
        6 => {
            let (ids, rest) = read_ids(body, gaps);
            read_instances(identifier, &ids, rest, values)
        }
        other => unreachable!("perflib.h has no result of type {other}"),
    };
    assert!(rest.len() < 8, "dwSize is the size of the block: {} bytes are left", rest.len());
}

/// `PERF_MULTI_COUNTERS`: the size of the structure and the ids, how many there are, the ids.
fn read_ids(bytes: &[u8], gaps: Gaps) -> (Vec<u32>, &[u8]) {
    let (size, count) = (word(bytes, 0), word(bytes, 4));
    let ids = (0..count).map(|index| word32(bytes, 8 + 4 * index)).collect();
    let end = if gaps.id_lists { size.next_multiple_of(8) } else { size };
    (ids, &bytes[end..])
}

/// `PERF_MULTI_INSTANCES`: the size of all of it, how many instances there are, and each with its values.
fn read_instances<'a>(
    identifier: &Identifier,
    ids: &[u32],
    bytes: &'a [u8],
    values: &mut Vec<RawValue>,
) -> &'a [u8] {
    let (total, count) = (word(bytes, 0), word(bytes, 4));
    let mut rest = &bytes[8..total];
    for _ in 0..count {
        let (size, id) = (word(rest, 0), word32(rest, 4));
        let instance = (text(&rest[8..size]), id);
        rest = read_values(identifier, &instance, ids, &rest[size..], values);
    }
    assert!(rest.is_empty(), "dwTotalSize is the size of all instances: {} bytes are left", rest.len());
    &bytes[total..]
}

/// `PERF_COUNTER_DATA` for each counter: the size of the data, the size with header and padding, the data.
fn read_values<'a>(
    identifier: &Identifier,
    (instance, instance_id): &(String, u32),
    ids: &[u32],
    mut bytes: &'a [u8],
    values: &mut Vec<RawValue>,
) -> &'a [u8] {
    for &counter_id in ids {
        let (data_size, size) = (word(bytes, 0), word(bytes, 4));
        values.push(RawValue {
            set: identifier.set,
            instance: instance.clone(),
            instance_id: *instance_id,
            counter_id,
            bytes: bytes[8..8 + data_size].to_vec(),
        });
        bytes = &bytes[size..];
    }
    bytes
}

/// UTF-16 up to its NUL.
fn text(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    let end = units.iter().position(|unit| *unit == 0).expect("a string ends with a NUL");
    String::from_utf16(&units[..end]).expect("UTF-16")
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn word(bytes: &[u8], at: usize) -> usize {
    as_usize(word32(bytes, at))
}

fn as_usize(value: u32) -> usize {
    usize::try_from(value).expect("a size of this machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Windows 11 answered to two counters of `_Total` of Processor Information: a 64-bit one and a 32-bit one.
    const WINDOWS_11: &str = "
        70000000 02000000 6fa6e15c25010000 00a40f7d3850dd01 8096980000000000 ea07090002001d00110020001700f302
        00000000 01000000 20000000 00000000 08000000 10000000 d64ce853f6020000
        00000000 01000000 20000000 00000000 04000000 10000000 c46e1956 00000000";

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).expect("digits");
        digits.chunks(2).map(byte).collect()
    }

    fn identifier(counter_id: u32, index: u32) -> Vec<u8> {
        let words = [0, 56, counter_id, u32::MAX, index, 0].map(u32::to_le_bytes).concat();
        let mut name: Vec<u8> = "_Total\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        name.resize(16, 0);
        [&[7; 16][..], &words, &name].concat()
    }

    #[test]
    fn a_reply_of_windows_is_read_by_the_positions_of_its_identifiers() {
        let identifiers = [identifier(27, 1), identifier(26, 0)].concat();
        let values = read(&identifiers, &hex(WINDOWS_11), Gaps::default());
        let found: Vec<_> =
            values.iter().map(|value| (value.instance.as_str(), value.counter_id, value.number())).collect();
        let expected = [("_Total", 26, Some(0x02f6_53e8_4cd6)), ("_Total", 27, Some(0x5619_6ec4))];
        assert_eq!(found, expected);
    }

    #[test]
    #[should_panic(expected = "two results at position 0")]
    fn two_results_at_one_position_are_not_as_published() {
        let identifiers = [identifier(26, 0), identifier(27, 0)].concat();
        let _values = read(&identifiers, &hex(WINDOWS_11), Gaps::default());
    }
}
