//! Laws of `counter-log`: what it reads of the journal that a process left behind.

use counter_log::parquet::journal;

use crate::input::Input;

/// A journal: what is read of it is whole, is the same without what follows, and is written as it was read. Checksums are put
/// right before, as far as there are frames, so that it is read at all.
pub fn journal(bytes: &[u8]) {
    let bytes = with_checksums(Input::new(bytes).rest());
    let Ok(read) = journal::read(&bytes) else { return };
    assert!(read.whole_bytes <= bytes.len());
    assert!(read.records.columns() == read.header.columns.len());
    let again = journal::read(&bytes[..read.whole_bytes]).expect("the first frame is there");
    assert_eq!((again.whole_bytes, again.records.len()), (read.whole_bytes, read.records.len()));
    let mut records = Vec::new();
    for row in read.records.rows() {
        journal::put_record(row, &mut records);
    }
    assert!(bytes[..read.whole_bytes].ends_with(&records), "records are written as they were read");
    let mut written =
        journal::begin(&read.header, read.end, &read.footer).expect("no longer than what was read");
    written.extend(records);
    let written = journal::read(&written).expect("an honest journal");
    assert_eq!(written.header.columns, read.header.columns);
    assert_eq!((written.end, &written.footer), (read.end, &read.footer));
    assert_eq!(written.records.len(), read.records.len());
}

/// A journal of two records.
pub(crate) fn honest_journal() -> Vec<u8> {
    use counter_log::{Batch, Column, LogHeader, RawSample, Sample};

    let column = |instance: Option<&str>| Column {
        machine: "WEB1".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: instance.map(str::to_owned),
        instance_index: 0,
        counter: "ID".to_owned(),
        counter_type: 0x10000,
        default_scale: 0,
        time_base: 10_000_000,
    };
    let columns = vec![column(None), column(Some("svchost"))];
    let header = LogHeader { columns, zone: jiff::tz::TimeZone::UTC, description: "Night".to_owned() };
    let mut bytes = journal::begin(&header, 4, b"footer").expect("few columns");
    let mut batch = Batch::new(2);
    for second in [0, 1] {
        let raw = RawSample { first: 1, second: 2, multi_count: 3 };
        let samples = [Sample { value: Some(0.5), raw: Some(raw) }, Sample { value: None, raw: Some(raw) }];
        batch.push(jiff::Timestamp::constant(1_800_000_000 + second, 0), samples);
    }
    for row in batch.rows() {
        journal::put_record(row, &mut bytes);
    }
    bytes
}

const START_BYTES: usize = 8;

/// Puts the checksum of each frame right, as far as there are any.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = START_BYTES;
    while let Some(length) = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>) {
        let content = at + 8;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some(sum) = bytes.get(content..content.saturating_add(length)).map(checksum) else { break };
        bytes[at + 4..content].copy_from_slice(&sum.to_le_bytes());
        at = content + length;
    }
    bytes
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 0 { sum >> 1 } else { (sum >> 1) ^ 0xEDB8_8320 },
        )
    })
}
