use counters::pcq::types::{BlockType, CounterId};
use counters::pcq::wire::{
    Block, Clocks, CounterHeader, CounterIdentifier, CounterRegInfo, CounterSetRegInfo,
    CounterSetRegistration, CounterStrings, DataHeader, InstanceInfo, Layout, MultiCounters, MultiInstances,
    Padding, QueryData, QueryDataWriter, RawValue, StringBufferHeader, StringCounterHeader,
};

use super::plain::{Plain, Way, decided, strict};
use super::query_data;
use crate::input::Input;
use crate::law::{encoded, exact, lossless};

/// One block of the kind that the first byte says, around the rest: what the reader makes of it is what the simplest
/// possible reader makes of it, which is in `plain`. Where it can be read in two ways, the reader takes the way that
/// the host has proved, or the one that is right for certain, or none; and the same each time.
pub fn blocks(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let block_type = BlockType(u32::from(input.byte() % 8));
    let body = input.rest();
    let data = around(block_type, body);
    let alone = decided(block_type.0, body);
    check(&data, &mut Layout::default(), alone.as_ref());
    for (padding, way) in [(Padding::None, Way::BySize), (Padding::Uncounted, Way::OverPadding)] {
        let expected = strict(block_type.0, body, way).or_else(|| alone.clone());
        let mut layout = proven(padding);
        let before = layout;
        check(&data, &mut layout, expected.as_ref());
        assert_eq!(layout, before, "what was proven stays so");
    }
    query_data(&data);
}

/// A host that was seen to go this way.
fn proven(padding: Padding) -> Layout {
    let mut writer = QueryDataWriter::new(Clocks::default()).with_padding(padding, Padding::Counted);
    writer.multi_counters(&[CounterId(1)], &[RawValue::U32(1)]).expect("it is small");
    let mut layout = Layout::default();
    QueryData::parse_with(&writer.finish().expect("it is small"), &mut layout).expect("it is right");
    assert_ne!(layout, Layout::default(), "one counter can be read in one way only");
    layout
}

fn check(data: &[u8], layout: &mut Layout, expected: Option<&Vec<Plain>>) {
    let parsed = QueryData::parse_with(data, layout).expect("the header is right");
    let mut blocks = parsed.blocks();
    let block = blocks.next().expect("there is one block");
    assert!(blocks.next().is_none());
    assert_eq!(block.is_ok(), expected.is_some(), "{block:?}, not {expected:?}");
    if let (Ok(block), Some(expected)) = (block, expected) {
        assert_eq!(&found(&block), expected);
        // Folding over values gives the same as taking them one by one.
        let folded = block.instances().map(|one| one.values.fold(0, |count, _| count + 1)).sum::<usize>();
        assert_eq!(folded, expected.iter().map(|(_, _, values)| values.len()).sum::<usize>());
    }
}

fn found(block: &Block<'_>) -> Vec<Plain> {
    let values = |value: RawValue<'_>| match value {
        RawValue::U32(value) => value.to_le_bytes().to_vec(),
        RawValue::U64(value) => value.to_le_bytes().to_vec(),
        RawValue::Other(bytes) => bytes.to_vec(),
    };
    let instance = |one: counters::pcq::wire::InstanceValues<'_>| {
        (one.instance_id.0, one.name.as_bytes().to_vec(), one.values.map(values).collect())
    };
    block.instances().map(instance).collect()
}

/// Header, block header, body.
fn around(block_type: BlockType, body: &[u8]) -> Vec<u8> {
    let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let block_bytes = CounterHeader::FIXED_PART_SIZE + body.len();
    let total_size_bytes = size(DataHeader::FIXED_PART_SIZE + block_bytes);
    let header = DataHeader { total_size_bytes, num_counters: 1, ..DataHeader::default() };
    let block = CounterHeader { status: wire::Win32Error(0), block_type, size_bytes: size(block_bytes) };
    [&crate::law::encoded(&header), &crate::law::encoded(&block), body].concat()
}

/// More than any input has room for is refused by its size, more than this by its number.
const COUNT_MAX: u32 = 500;

/// The other buffers and all structures: a list has no more elements than its reader accepts and its bytes hold, and
/// reads the same again.
pub fn lists(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    exact::<DataHeader>(bytes);
    exact::<CounterHeader>(bytes);
    exact::<MultiInstances>(bytes);
    exact::<CounterRegInfo>(bytes);
    exact::<CounterSetRegInfo>(bytes);
    exact::<StringBufferHeader>(bytes);
    exact::<StringCounterHeader>(bytes);
    lossless!(bytes, CounterIdentifier);
    lossless!(bytes, MultiCounters<'_>);
    lossless!(bytes, RawValue<'_>);
    registration(bytes);
    strings(bytes);
    instances(bytes);
    identifiers(bytes);
}

fn registration(bytes: &[u8]) {
    let Ok(registration) = CounterSetRegistration::decode(bytes, COUNT_MAX) else { return };
    assert_eq!(u32::try_from(registration.counters.len()), Ok(registration.info.num_counters));
    let again = encoded(&registration);
    assert!(again.len() <= bytes.len() && registration.info.num_counters <= COUNT_MAX);
    assert_eq!(CounterSetRegistration::decode(&again, COUNT_MAX), Ok(registration));
}

fn strings(bytes: &[u8]) {
    let Ok(strings) = CounterStrings::decode(bytes, COUNT_MAX) else { return };
    assert!(strings.entries.len() <= bytes.len() / 8);
    // Counters may point to one text; together they must not blow a small buffer up.
    let texts = strings.entries.iter().filter_map(|(_, text)| text.as_deref());
    let text_bytes: usize = texts.map(wire::utf16_len_bytes).sum();
    assert!(text_bytes <= TEXT_BYTES_MAX.max(bytes.len()), "{text_bytes} bytes from {}", bytes.len());
    let again = encoded(&strings);
    assert_eq!(CounterStrings::decode(&again, COUNT_MAX), Ok(strings));
}

/// What may come out of a buffer that is smaller.
const TEXT_BYTES_MAX: usize = 256 << 10;

fn instances(bytes: &[u8]) {
    let Ok(instances) = InstanceInfo::decode_list(bytes, COUNT_MAX) else { return };
    assert!(
        instances.len() <= bytes.len() / 8 && u32::try_from(instances.len()).is_ok_and(|n| n <= COUNT_MAX)
    );
    let again = InstanceInfo::encode_list(&instances).expect("what was read can be written");
    assert_eq!(InstanceInfo::decode_list(&again, COUNT_MAX), Ok(instances));
}

fn identifiers(bytes: &[u8]) {
    let Ok(identifiers) = CounterIdentifier::decode_list(bytes, COUNT_MAX) else { return };
    assert!(identifiers.len() <= bytes.len() / CounterIdentifier::FIXED_PART_SIZE);
    let again = CounterIdentifier::encode_list(&identifiers).expect("what was read can be written");
    // The input may lack the NUL of each name and the padding after it.
    assert!(again.len() <= bytes.len() + 8 * identifiers.len());
    assert_eq!(CounterIdentifier::decode_list(&again, COUNT_MAX), Ok(identifiers));
}
