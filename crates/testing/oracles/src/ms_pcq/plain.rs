//! The simplest possible reader of one block, which shares nothing with the one that is judged: it takes bytes away from
//! the front, so that no byte is ever read twice.

/// Number, name and values of an instance.
pub(super) type Plain = (u32, Vec<u8>, Vec<Vec<u8>>);

/// How to advance past an id list whose size is no multiple of 8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    BySize,
    OverPadding,
}

/// The result of reading a block in one way.
struct Read {
    instances: Vec<Plain>,
    /// Whether it ends where the block does, padding aside.
    ends: bool,
    /// Whether the sizes of all values and instances are multiples of 8.
    is_padded: bool,
}

/// The instances of a block, or nothing where it contradicts itself or can be read in two ways.
pub(super) fn decided(block_type: u32, body: &[u8]) -> Option<Vec<Plain>> {
    let by_size = read(block_type, body, Way::BySize);
    if !has_choice(block_type, body) {
        let read = by_size?;
        // A single counter has nothing after it that could be taken for something else.
        return (block_type == 1 || read.is_padded || read.ends).then_some(read.instances);
    }
    let exact = |read: Option<Read>| read.filter(|read| read.ends);
    match (exact(by_size), exact(read(block_type, body, Way::OverPadding))) {
        (Some(read), None) | (None, Some(read)) => Some(read.instances),
        (Some(one), Some(other)) => match (one.is_padded, other.is_padded) {
            _ if one.instances == other.instances => Some(one.instances),
            (true, false) => Some(one.instances),
            (false, true) => Some(other.instances),
            _ => None,
        },
        (None, None) => None,
    }
}

/// The instances where there are two ways and this one ends where the block does.
pub(super) fn strict(block_type: u32, body: &[u8], way: Way) -> Option<Vec<Plain>> {
    let read = read(block_type, body, way).filter(|read| read.ends && has_choice(block_type, body));
    read.map(|read| read.instances)
}

fn has_choice(block_type: u32, body: &[u8]) -> bool {
    matches!(block_type, 2 | 6) && word(body, 0).is_some_and(|size| size % 8 != 0)
}

fn read(block_type: u32, body: &[u8], way: Way) -> Option<Read> {
    let nameless = |values| vec![(u32::MAX, Vec::new(), values)];
    match block_type {
        1 => {
            let (value, rest, is_padded) = value(body)?;
            Some(Read { instances: nameless(vec![value]), ends: rest.len() < 8, is_padded })
        }
        2 => {
            let (count, rest) = ids(body, way)?;
            let (values, rest, is_padded) = values(rest, count)?;
            Some(Read { instances: nameless(values), ends: rest.len() < 8, is_padded })
        }
        4 => instances(body, 1),
        6 => {
            let (count, rest) = ids(body, way)?;
            instances(rest, count)
        }
        // An error, and unknown kinds.
        _ => Some(Read { instances: Vec::new(), ends: true, is_padded: true }),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(word)).ok()
}

/// A structure of at least eight bytes that has its size at `at`, what is after it, and whether it is padded.
fn sized(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8], bool)> {
    let size = word(bytes, at)?;
    let (structure, rest) = (bytes.len() >= 8 && size >= 8).then(|| bytes.split_at_checked(size))??;
    Some((structure, rest, size % 8 == 0))
}

/// Values, what is after them, and whether all of them are padded.
type Values<'a> = (Vec<Vec<u8>>, &'a [u8], bool);

/// Data size and size, then the value.
fn value(bytes: &[u8]) -> Option<(Vec<u8>, &[u8], bool)> {
    let (value, rest, is_padded) = sized(bytes, 4)?;
    Some((value[8..].get(..word(value, 0)?)?.to_vec(), rest, is_padded))
}

fn values(mut bytes: &[u8], count: usize) -> Option<Values<'_>> {
    let (mut values, mut are_padded) = (Vec::new(), true);
    for _ in 0..count {
        let (value, rest, is_padded) = value(bytes)?;
        values.push(value);
        are_padded &= is_padded;
        bytes = rest;
    }
    Some((values, bytes, are_padded))
}

/// How many counters there are, and what is after their ids.
fn ids(bytes: &[u8], way: Way) -> Option<(usize, &[u8])> {
    let (size, count) = (word(bytes, 0)?, word(bytes, 4)?);
    let fits = size >= 8 && size <= bytes.len() && count.checked_mul(4)? <= size - 8;
    let end = if way == Way::BySize { size } else { size.next_multiple_of(8) };
    fits.then(|| bytes.get(end..)).flatten().map(|rest| (count, rest))
}

/// Size and number, then the instances.
fn instances(bytes: &[u8], values_each: usize) -> Option<Read> {
    let (inside, behind_all, _) = sized(bytes, 0)?;
    let (count, mut rest) = (word(inside, 4)?, &inside[8..]);
    let (mut instances, mut are_padded) = (Vec::new(), true);
    for _ in 0..count {
        let (header, behind, has_padding) = sized(rest, 0)?;
        let id = u32::try_from(word(header, 4)?).ok()?;
        let units: Vec<&[u8]> = header[8..].chunks_exact(2).collect();
        let end = units.iter().position(|unit| *unit == [0, 0]);
        let name = units[..if header.len() == 8 { 0 } else { end? }].concat();
        let (values, behind, padded) = values(behind, values_each)?;
        are_padded &= has_padding && padded;
        instances.push((id, name, values));
        rest = behind;
    }
    Some(Read { instances, ends: rest.len() < 8 && behind_all.len() < 8, is_padded: are_padded })
}
