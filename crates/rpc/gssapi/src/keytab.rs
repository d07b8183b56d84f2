//! Keys of a keytab, read without the library: MIT's file format, version 2.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{EncryptionType, Error, Reason};

/// The long-term key of a principal. Erased when dropped; prints as `***`.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Key {
    #[zeroize(skip)]
    pub encryption_type: EncryptionType,
    pub bytes: Vec<u8>,
}

impl Key {
    /// The newest key of `principal` in the content of a keytab: of its types the first that is in `types`.
    ///
    /// # Errors
    /// If the content is no keytab, or has no such key.
    pub fn of_keytab(content: &[u8], principal: &str, types: &[EncryptionType]) -> Result<Self, Error> {
        let mut entries = entries(content)?;
        entries.retain(|entry| entry.is_of(principal));
        let Some(newest) = entries.iter().map(|entry| entry.version).max() else {
            let message = format!("the keytab has no key of {principal}");
            return Err(Error { reason: Reason::NoKeytabEntry, message });
        };
        let rank_of = |entry: &Entry<'_>| types.iter().position(|one| *one == entry.encryption_type);
        let of_newest = entries.iter().filter(|entry| entry.version == newest);
        let best = of_newest.filter_map(|entry| Some((rank_of(entry)?, entry))).min_by_key(|(rank, _)| *rank);
        let Some((_, Entry { encryption_type, key, .. })) = best else {
            let types: Vec<String> = types.iter().map(ToString::to_string).collect();
            let types = types.join(" or ");
            let message =
                format!("the keytab has no key of {principal}, version {newest}, that is of type {types}");
            return Err(Error { reason: Reason::EncryptionType, message });
        };
        Ok(Self { encryption_type: *encryption_type, bytes: key.to_vec() })
    }

    /// `TYPE:HEX`, the number of the type and the bytes in hexadecimal.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = Zeroizing::new(String::with_capacity(16 + 2 * self.bytes.len()));
        text.push_str(&self.encryption_type.0.to_string());
        text.push(':');
        for byte in &self.bytes {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }

    /// The key of a text that [`Key::to_text`] made.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (number, digits) = text.split_once(':')?;
        let encryption_type = EncryptionType(number.parse().ok()?);
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        rest.is_empty().then_some(Self { encryption_type, bytes: bytes? })
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("***")
    }
}

const VERSION_2: [u8; 2] = [5, 2];

fn entries(content: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let not_one = |what: &str| Error { reason: Reason::File, message: format!("not a keytab: {what}") };
    let Some(mut rest) = content.strip_prefix(&VERSION_2) else {
        return Err(not_one("it does not begin with the bytes 05 02"));
    };
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (len, after) = rest.split_first_chunk().ok_or_else(|| not_one("it is cut short"))?;
        let len = i32::from_be_bytes(*len);
        let size = usize::try_from(len.unsigned_abs()).unwrap_or(usize::MAX);
        let (record, after) = after.split_at_checked(size).ok_or_else(|| not_one("it is cut short"))?;
        rest = after;
        // Where an entry was deleted there is a hole, which has a negative size; zeros are the end.
        match len {
            0 => break,
            ..0 => {}
            _ => entries.push(Entry::read(record).ok_or_else(|| not_one("an entry is longer than it says"))?),
        }
    }
    Ok(entries)
}

struct Entry<'a> {
    realm: &'a [u8],
    components: Vec<&'a [u8]>,
    version: u32,
    encryption_type: EncryptionType,
    key: &'a [u8],
}

impl<'a> Entry<'a> {
    fn read(record: &'a [u8]) -> Option<Self> {
        let mut rest = record;
        let components = u16_of(&mut rest)?;
        let realm = counted(&mut rest)?;
        let components: Option<Vec<_>> = (0..components).map(|_| counted(&mut rest)).collect();
        // The name's type and the time when the entry was written.
        let (_, after) = rest.split_first_chunk::<8>()?;
        let ([version], after) = after.split_first_chunk()?;
        rest = after;
        let encryption_type = EncryptionType(u16_of(&mut rest)?.into());
        let key = counted(&mut rest)?;
        // The version is repeated with more bits, by programs that know of them; zero stands for the shorter one.
        let long = rest.first_chunk().map(|long| u32::from_be_bytes(*long)).filter(|long| *long != 0);
        let version = long.unwrap_or_else(|| (*version).into());
        Some(Self { realm, components: components?, version, encryption_type, key })
    }

    fn is_of(&self, principal: &str) -> bool {
        [&self.components.join(&b'/')[..], self.realm].join(&b'@') == principal.as_bytes()
    }
}

fn u16_of(rest: &mut &[u8]) -> Option<u16> {
    let (value, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u16::from_be_bytes(*value))
}

fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = u16_of(rest)?.into();
    let (bytes, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `kadmin.local ktadd` of MIT Kerberos 1.20.1, for an account that never was outside one machine.
    const KEYTAB: &[u8] = &[
        5, 2, 0, 0, 0, 0x47, 0, 1, 0, 13, b'P', b'E', b'E', b'R', b'S', b'.', b'E', b'X', b'A', b'M', b'P',
        b'L', b'E', 0, 3, b's', b'v', b'c', 0, 0, 0, 1, 0x6b, 0x0c, 0x51, 0xd8, 1, 0, 18, 0, 32, 0x36, 0x07,
        0x1c, 0x31, 0x5c, 0xd3, 0x07, 0xf4, 0x65, 0x80, 0xe8, 0x6a, 0xf7, 0x70, 0xd4, 0xd0, 0x7a, 0x08, 0x77,
        0x16, 0x71, 0x12, 0x46, 0xc2, 0x7b, 0xbc, 0xa2, 0xe8, 0xc0, 0x22, 0x18, 0x94, 0, 0, 0, 1, 0, 0, 0,
        0x37, 0, 1, 0, 13, b'P', b'E', b'E', b'R', b'S', b'.', b'E', b'X', b'A', b'M', b'P', b'L', b'E', 0,
        3, b's', b'v', b'c', 0, 0, 0, 1, 0x6b, 0x0c, 0x51, 0xd8, 1, 0, 17, 0, 16, 0x56, 0x65, 0xeb, 0x95,
        0x9e, 0xb1, 0x2b, 0xe9, 0x6a, 0x5b, 0x2f, 0x95, 0x99, 0x42, 0x2f, 0xea, 0, 0, 0, 1,
    ];
    const SVC: &str = "svc@PEERS.EXAMPLE";
    const TYPES: &[EncryptionType] = &EncryptionType::WITHOUT_LIBRARY;

    #[test]
    fn the_newest_key_of_the_best_type_is_found() {
        let key = Key::of_keytab(KEYTAB, SVC, TYPES).unwrap();
        let strong = "18:36071c315cd307f46580e86af770d4d07a087716711246c27bbca2e8c0221894";
        assert_eq!(*key.to_text(), strong);
        assert_eq!(Key::from_text(strong), Some(key));
        let weak = Key::of_keytab(KEYTAB, SVC, &[EncryptionType::AES128_SHA1]).unwrap();
        assert_eq!(*weak.to_text(), "17:5665eb959eb12be96a5b2f9599422fea");
        // Another version of the second entry, and then a hole in place of the first.
        let newer = [&KEYTAB[..KEYTAB.len() - 1], &[2]].concat();
        assert_eq!(Key::of_keytab(&newer, SVC, TYPES).unwrap(), weak);
        let mut deleted = KEYTAB.to_vec();
        deleted[2..6].copy_from_slice(&(-0x47_i32).to_be_bytes());
        assert_eq!(Key::of_keytab(&deleted, SVC, TYPES).unwrap(), weak);
    }

    #[test]
    fn a_key_that_is_not_there_is_told_with_its_reason() {
        let reason =
            |content: &[u8], principal| Key::of_keytab(content, principal, TYPES).unwrap_err().reason;
        assert_eq!(reason(KEYTAB, "other@PEERS.EXAMPLE"), Reason::NoKeytabEntry);
        assert_eq!(reason(KEYTAB, "svc@OTHER.EXAMPLE"), Reason::NoKeytabEntry);
        assert_eq!(reason(&KEYTAB[..2], SVC), Reason::NoKeytabEntry);
        assert_eq!(reason(b"Passw0rd", SVC), Reason::File);
        let sha2 = &[EncryptionType::AES256_SHA384];
        assert_eq!(Key::of_keytab(KEYTAB, SVC, sha2).unwrap_err().reason, Reason::EncryptionType);
        // Only the older version is of a type that is spoken.
        let newer = [&KEYTAB[..KEYTAB.len() - 1], &[2]].concat();
        let strong = &[EncryptionType::AES256_SHA1];
        assert_eq!(Key::of_keytab(&newer, SVC, strong).unwrap_err().reason, Reason::EncryptionType);
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error_and_no_panic() {
        for len in 0..KEYTAB.len() {
            let _ = Key::of_keytab(&KEYTAB[..len], SVC, TYPES);
        }
        for position in 0..KEYTAB.len() {
            for value in [0, 0x7f, 0x80, 0xff] {
                let mut changed = KEYTAB.to_vec();
                changed[position] = value;
                let _ = Key::of_keytab(&changed, SVC, TYPES);
            }
        }
        for text in ["", "18", "18:a", "18:ag", ":ab", "x:ab", "18:äb"] {
            assert_eq!(Key::from_text(text), None, "{text}");
        }
    }
}
