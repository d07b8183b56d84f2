use counters::pcq::wire::{
    CounterHeader, CounterIdentifier, CounterRegInfo, CounterSetRegInfo, CounterSetRegistration,
    CounterStrings, DataHeader, InstanceInfo, MultiCounters, MultiInstances, RawValue, StringBufferHeader,
    StringCounterHeader,
};

use crate::input::Input;
use crate::law::{encoded, exact, lossless};

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
