use ms_pcq::types::BlockType;
use ms_pcq::wire::{CounterHeader, DataHeader, QueryData, RawValue};

use super::data::query_data;
use crate::input::Input;

/// One block of the kind that the first byte says, around the rest: what the reader makes of it is what the simplest
/// possible reader makes of it, which is here.
pub fn blocks(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let block_type = BlockType(u32::from(input.byte() % 8));
    let body = input.rest();
    let body = &body[..body.len() / 8 * 8];
    let data = around(block_type, body);
    let parsed = QueryData::parse(&data).expect("the header is right");
    let mut blocks = parsed.blocks();
    let block = blocks.next().expect("there is one block");
    assert!(blocks.next().is_none());
    let expected = plain(block_type, body);
    assert_eq!(block.is_ok(), expected.is_some(), "{block_type}: {block:?}");
    if let (Ok(block), Some(expected)) = (block, expected) {
        let values = |value: RawValue<'_>| match value {
            RawValue::U32(value) => value.to_le_bytes().to_vec(),
            RawValue::U64(value) => value.to_le_bytes().to_vec(),
            RawValue::Other(bytes) => bytes.to_vec(),
        };
        let found: Vec<Plain> = block
            .instances()
            .map(|one| (one.instance_id.0, one.name.as_bytes().to_vec(), one.values.map(values).collect()))
            .collect();
        assert_eq!(found, expected);
        // Whoever folds over values sees what those see who take them one by one.
        let folded = block.instances().map(|one| one.values.fold(0, |count, _| count + 1)).sum::<usize>();
        assert_eq!(folded, expected.iter().map(|(_, _, values)| values.len()).sum::<usize>());
    }
    query_data(&data);
}

/// Header, block header, body.
fn around(block_type: BlockType, body: &[u8]) -> Vec<u8> {
    let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let block_bytes = CounterHeader::FIXED_PART_SIZE + body.len();
    let total_size_bytes = size(DataHeader::FIXED_PART_SIZE + block_bytes);
    let header = DataHeader { total_size_bytes, num_counters: 1, ..DataHeader::default() };
    let block = CounterHeader { status: ms_dtyp::Win32Error(0), block_type, size_bytes: size(block_bytes) };
    [&crate::law::encoded(&header), &crate::law::encoded(&block), body].concat()
}

/// Number, name and values of an instance.
type Plain = (u32, Vec<u8>, Vec<Vec<u8>>);

/// The instances of a block, or nothing where it contradicts itself.
fn plain(block_type: BlockType, body: &[u8]) -> Option<Vec<Plain>> {
    let nameless = |values| vec![(u32::MAX, Vec::new(), values)];
    match block_type {
        BlockType::PERF_SINGLE_COUNTER => Some(nameless(vec![value(body)?.0])),
        BlockType::PERF_MULTI_COUNTERS => {
            let (count, rest) = ids(body)?;
            Some(nameless(values(rest, count)?.0))
        }
        BlockType::PERF_MULTI_INSTANCES => instances(body, 1),
        BlockType::PERF_COUNTERSET => {
            let (count, rest) = ids(body)?;
            instances(rest, count)
        }
        // An error, and what nobody knows.
        _ => Some(Vec::new()),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(word)).ok()
}

/// A structure of at least eight bytes that has its size at `at`.
fn sized(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    let size = word(bytes, at)?;
    (bytes.len() >= 8 && size >= 8 && size % 8 == 0).then(|| bytes.split_at_checked(size))?
}

/// Data size and size, then the value.
fn value(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (value, rest) = sized(bytes, 4)?;
    Some((value[8..].get(..word(value, 0)?)?.to_vec(), rest))
}

fn values(mut bytes: &[u8], count: usize) -> Option<(Vec<Vec<u8>>, &[u8])> {
    let mut values = Vec::new();
    for _ in 0..count {
        let (value, rest) = value(bytes)?;
        values.push(value);
        bytes = rest;
    }
    Some((values, bytes))
}

/// How many counters there are, and what is behind their ids. The padding may be missing in the size.
fn ids(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (size, count) = (word(bytes, 0)?, word(bytes, 4)?);
    let fits = size >= 8 && size <= bytes.len() && count.checked_mul(4)? <= size - 8;
    fits.then(|| (count, &bytes[size.next_multiple_of(8).min(bytes.len())..]))
}

/// Size and number, then the instances.
fn instances(bytes: &[u8], values_each: usize) -> Option<Vec<Plain>> {
    let (inside, _) = sized(bytes, 0)?;
    let (count, mut rest) = (word(inside, 4)?, &inside[8..]);
    let mut instances = Vec::new();
    for _ in 0..count {
        let (header, behind) = sized(rest, 0)?;
        let id = u32::try_from(word(header, 4)?).ok()?;
        let units: Vec<&[u8]> = header[8..].chunks(2).collect();
        let end = units.iter().position(|unit| *unit == [0, 0]);
        let name = units[..if units.is_empty() { 0 } else { end? }].concat();
        let (values, behind) = values(behind, values_each)?;
        instances.push((id, name, values));
        rest = behind;
    }
    Some(instances)
}
