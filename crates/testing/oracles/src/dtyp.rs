//! Laws of the types of [MS-DTYP].

use wire::{FileTime, Guid, ReadCursor, Sid, SystemTime};

use crate::input::Input;
use crate::law;

/// Values in structures of every protocol, and what they print as.
pub fn values(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    law::exact::<Guid>(bytes);
    law::exact::<Sid>(bytes);
    law::exact::<FileTime>(bytes);
    law::exact::<SystemTime>(bytes);
    if let Some(first) = bytes.first_chunk() {
        let guid = Guid::from_bytes(*first);
        assert_eq!(guid.to_string().parse::<Guid>().as_ref(), Ok(&guid));
    }
    if let Some(first) = bytes.first_chunk() {
        times(FileTime(u64::from_le_bytes(*first)));
    }
    if let Ok(sid) = wire::decode::<Sid>(bytes) {
        assert!(sid.to_string().starts_with("S-1-"));
    }
    // Any text is a GUID or an error.
    if let Ok(guid) = String::from_utf8_lossy(bytes).parse::<Guid>() {
        assert_eq!(guid.to_string().parse::<Guid>().as_ref(), Ok(&guid));
    }
    text(bytes);
}

fn times(time: FileTime) {
    let calendar = SystemTime::from(time);
    assert!((1..=12).contains(&calendar.month) && (1..=31).contains(&calendar.day));
    assert!(calendar.day_of_week < 7 && calendar.hour < 24 && calendar.minute < 60 && calendar.second < 60);
    assert_eq!(FileTime::from_unix_nanos(time.to_unix_nanos()), time);
}

/// UTF-16 that is read can be written, and is the same.
fn text(bytes: &[u8]) {
    if let Ok(text) = wire::decode_utf16(bytes) {
        assert_eq!(wire::encode_utf16(&text), bytes);
        assert_eq!(wire::utf16_len_bytes(&text), bytes.len());
    }
    let mut src = ReadCursor::new(bytes);
    src.align("text", 8).unwrap_or_default();
    assert_eq!(src.pos(), 0);
}
