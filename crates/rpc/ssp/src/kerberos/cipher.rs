//! Encryption types of RFC 3962 and RFC 8009: keys that are derived from a key, and what is done with them.

use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit,
};
use aes::{Aes128, Aes256, Block};
use gssapi::EncryptionType;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384};
use zeroize::{Zeroize, Zeroizing};

use crate::Error;

/// Bytes of a block, and of a confounder.
pub(super) const BLOCK: usize = 16;
/// Bytes of the longest checksum.
pub(super) const CHECKSUM_MAX: usize = 24;

/// RFC 4121 2: what a key is used for, and by which side.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    AcceptorSeal = 22,
    AcceptorSign = 23,
    InitiatorSeal = 24,
    InitiatorSign = 25,
}

/// RFC 3961 5.3: the last byte of the constant that a key is derived with.
#[derive(Clone, Copy)]
enum Use {
    Encryption = 0xAA,
    Integrity = 0x55,
    Checksum = 0x99,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
}

impl Hash {
    /// RFC 3962 6 and RFC 8009 5 cut the HMAC.
    const fn checksum_len(self) -> usize {
        match self {
            Self::Sha1 => 12,
            Self::Sha256 => 16,
            Self::Sha384 => 24,
        }
    }
}

/// Which of the four types, and its key.
pub(super) struct Key<'a> {
    hash: Hash,
    bytes: &'a [u8],
}

impl<'a> Key<'a> {
    pub(super) fn new(encryption_type: EncryptionType, bytes: &'a [u8]) -> Result<Self, Error> {
        let (hash, len) = match encryption_type {
            EncryptionType::AES128_SHA1 => (Hash::Sha1, 16),
            EncryptionType::AES256_SHA1 => (Hash::Sha1, 32),
            EncryptionType::AES128_SHA256 => (Hash::Sha256, 16),
            EncryptionType::AES256_SHA384 => (Hash::Sha384, 32),
            _ => return Err(Error::EncryptionType { name: encryption_type.to_string() }),
        };
        if bytes.len() == len {
            Ok(Self { hash, bytes })
        } else {
            Err(Error::UnexpectedToken { reason: "the session's key has another length than its type" })
        }
    }

    pub(super) const fn checksum_len(&self) -> usize {
        self.hash.checksum_len()
    }

    pub(super) fn sealing(&self, purpose: Purpose) -> Result<Sealing, Error> {
        let encryption = self.derive(purpose, Use::Encryption, self.bytes.len());
        Ok(Sealing {
            cipher: Cipher::new(&encryption)?,
            code: self.code(purpose, Use::Integrity)?,
            encrypts_first: self.hash != Hash::Sha1,
        })
    }

    /// What signs messages that are sent in the clear.
    pub(super) fn signing(&self, purpose: Purpose) -> Result<Code, Error> {
        self.code(purpose, Use::Checksum)
    }

    fn code(&self, purpose: Purpose, use_: Use) -> Result<Code, Error> {
        let len = match self.hash {
            Hash::Sha1 => self.bytes.len(),
            // RFC 8009 5.
            Hash::Sha256 => 16,
            Hash::Sha384 => 24,
        };
        let key = self.derive(purpose, use_, len);
        let wrong = |_| Error::UnexpectedToken { reason: "a derived key of a wrong length" };
        Ok(match self.hash {
            Hash::Sha1 => Code::Sha1(Hmac::new_from_slice(&key).map_err(wrong)?),
            Hash::Sha256 => Code::Sha256(Hmac::new_from_slice(&key).map_err(wrong)?),
            Hash::Sha384 => Code::Sha384(Hmac::new_from_slice(&key).map_err(wrong)?),
        })
    }

    fn derive(&self, purpose: Purpose, use_: Use, len: usize) -> Zeroizing<Vec<u8>> {
        let constant = [0, 0, 0, purpose as u8, use_ as u8];
        match self.hash {
            Hash::Sha1 => derive_by_cipher(self.bytes, constant, len),
            Hash::Sha256 => derive_by_hash::<Hmac<Sha256>>(self.bytes, constant, len),
            Hash::Sha384 => derive_by_hash::<Hmac<Sha384>>(self.bytes, constant, len),
        }
    }
}

/// `DK` of RFC 3961 5.1, whose function of pseudo-random bits is the cipher.
fn derive_by_cipher(key: &[u8], constant: [u8; 5], len: usize) -> Zeroizing<Vec<u8>> {
    let mut derived = Zeroizing::new(Vec::with_capacity(len));
    let mut block = Block::from(fold(constant).to_be_bytes());
    let cipher = Cipher::new(key).ok();
    while let Some(cipher) = &cipher
        && derived.len() < len
    {
        match cipher {
            Cipher::Aes128(aes) => aes.encrypt_block(&mut block),
            Cipher::Aes256(aes) => aes.encrypt_block(&mut block),
        }
        derived.extend_from_slice(&block);
    }
    block.as_mut_slice().zeroize();
    derived
}

/// `KDF-HMAC-SHA2` of RFC 8009 3, whose results never need a second block.
fn derive_by_hash<M: Mac + hmac::KeyInit>(key: &[u8], constant: [u8; 5], len: usize) -> Zeroizing<Vec<u8>> {
    let bits = u32::try_from(len * 8).unwrap_or(u32::MAX);
    let Ok(mac) = <M as hmac::KeyInit>::new_from_slice(key) else { return Zeroizing::default() };
    let code = mac.chain_update(1_u32.to_be_bytes()).chain_update(constant).chain_update([0]);
    let mut code = code.chain_update(bits.to_be_bytes()).finalize().into_bytes();
    let derived = Zeroizing::new(code[..len].to_vec());
    code.as_mut_slice().zeroize();
    derived
}

/// `n-fold` of RFC 3961 5.1 of five bytes to sixteen: copies, each turned by 13 bits more than the one before, are added
/// in ones' complement.
fn fold(constant: [u8; 5]) -> u128 {
    const BITS: u32 = 40;
    // So many copies of five bytes are so many of sixteen.
    const COPIES: u32 = 16;
    let mut padded = [0; 8];
    padded[3..].copy_from_slice(&constant);
    let value = u64::from_be_bytes(padded);
    let mut all = Vec::with_capacity(80);
    for copy in 0..COPIES {
        let turn = 13 * copy % BITS;
        let turned = (value >> turn | value << (BITS - turn)) & ((1 << BITS) - 1);
        all.extend_from_slice(&turned.to_be_bytes()[3..]);
    }
    all.as_chunks().0.iter().fold(0_u128, |sum, chunk| {
        let (sum, carry) = sum.overflowing_add(u128::from_be_bytes(*chunk));
        sum + u128::from(carry)
    })
}

/// An HMAC with its key, before the first byte.
#[derive(Clone)]
pub(super) enum Code {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
}

impl Code {
    /// The checksum of the parts after one another; what is cut off is zero.
    pub(super) fn of(&self, parts: &[&[u8]]) -> [u8; CHECKSUM_MAX] {
        fn finish(mut mac: impl Mac, parts: &[&[u8]], len: usize) -> [u8; CHECKSUM_MAX] {
            for part in parts {
                mac.update(part);
            }
            let mut checksum = [0; CHECKSUM_MAX];
            checksum[..len].copy_from_slice(&mac.finalize().into_bytes()[..len]);
            checksum
        }
        match self.clone() {
            Self::Sha1(mac) => finish(mac, parts, Hash::Sha1.checksum_len()),
            Self::Sha256(mac) => finish(mac, parts, Hash::Sha256.checksum_len()),
            Self::Sha384(mac) => finish(mac, parts, Hash::Sha384.checksum_len()),
        }
    }
}

/// A message on its way through the cipher: a block, so many bytes in place, and what follows them.
pub(super) struct Text<'a> {
    pub(super) confounder: &'a mut [u8; BLOCK],
    pub(super) body: &'a mut [u8],
    /// One block to two.
    pub(super) end: &'a mut [u8],
}

/// What seals the messages of one direction.
pub(super) struct Sealing {
    cipher: Cipher,
    code: Code,
    /// RFC 8009: the checksum is of what is sent. Before, it was of what is meant.
    encrypts_first: bool,
}

impl Sealing {
    /// Encrypts, and answers with the checksum. Header and trailer are what the body stands between.
    pub(super) fn seal(&self, header: &[u8], text: &mut Text<'_>, trailer: &[u8]) -> [u8; CHECKSUM_MAX] {
        if self.encrypts_first {
            self.cipher.encrypt(text);
            self.checksum(header, text, trailer)
        } else {
            let checksum = self.checksum(header, text, trailer);
            self.cipher.encrypt(text);
            checksum
        }
    }

    /// Decrypts, and answers with the checksum that the message must have.
    pub(super) fn unseal(&self, header: &[u8], text: &mut Text<'_>, trailer: &[u8]) -> [u8; CHECKSUM_MAX] {
        if self.encrypts_first {
            let checksum = self.checksum(header, text, trailer);
            self.cipher.decrypt(text);
            checksum
        } else {
            self.cipher.decrypt(text);
            self.checksum(header, text, trailer)
        }
    }

    fn checksum(&self, header: &[u8], text: &Text<'_>, trailer: &[u8]) -> [u8; CHECKSUM_MAX] {
        // The state of the cipher before the first block, which RFC 8009 signs.
        let state: &[u8] = if self.encrypts_first { &[0; BLOCK] } else { &[] };
        self.code.of(&[state, &*text.confounder, header, &*text.body, trailer, &*text.end])
    }
}

enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl Cipher {
    fn new(key: &[u8]) -> Result<Self, Error> {
        let wrong = |_| Error::UnexpectedToken { reason: "a derived key of a wrong length" };
        match key.len() {
            16 => Aes128::new_from_slice(key).map(Self::Aes128).map_err(wrong),
            _ => Aes256::new_from_slice(key).map(Self::Aes256).map_err(wrong),
        }
    }

    fn encrypt(&self, text: &mut Text<'_>) {
        match self {
            Self::Aes128(aes) => encrypt(aes, text),
            Self::Aes256(aes) => encrypt(aes, text),
        }
    }

    fn decrypt(&self, text: &mut Text<'_>) {
        match self {
            Self::Aes128(aes) => decrypt(aes, text),
            Self::Aes256(aes) => decrypt(aes, text),
        }
    }
}

/// What ciphertext stealing is done with: the last whole block before, the rest of the body, and the end. These are two
/// blocks at least, and four at most, of which the last one may be cut short.
struct Tail {
    blocks: [Block; 4],
    len: usize,
}

impl Tail {
    fn read(parts: [&[u8]; 3]) -> Self {
        let mut bytes = [0; 4 * BLOCK];
        let mut len = 0;
        for part in parts {
            bytes[len..][..part.len()].copy_from_slice(part);
            len += part.len();
        }
        let mut blocks = [Block::default(); 4];
        for (block, bytes) in blocks.iter_mut().zip(bytes.as_chunks::<BLOCK>().0) {
            *block = Block::from(*bytes);
        }
        Self { blocks, len }
    }

    fn write(&self, parts: [&mut [u8]; 3]) {
        let mut bytes = [0; 4 * BLOCK];
        for (bytes, block) in bytes.as_chunks_mut::<BLOCK>().0.iter_mut().zip(&self.blocks) {
            *bytes = (*block).into();
        }
        let mut rest = &bytes[..];
        for part in parts {
            let (front, back) = rest.split_at(part.len());
            part.copy_from_slice(front);
            rest = back;
        }
    }

    /// Index of the last block, and how many of its bytes there are.
    const fn last(&self) -> (usize, usize) {
        let last = (self.len - 1) / BLOCK;
        (last, self.len - last * BLOCK)
    }
}

/// RFC 3962 5: CBC with ciphertext stealing, from a state of zeros; the last two blocks change places.
fn encrypt<C: BlockCipherEncrypt<BlockSize = aes::cipher::consts::U16>>(aes: &C, text: &mut Text<'_>) {
    let mut mode = cbc::Encryptor::inner_iv_init(aes, &Block::default());
    let (whole, rest) = text.body.as_chunks_mut::<BLOCK>();
    let before = match whole.split_last_mut() {
        Some((last, front)) => {
            mode.encrypt_block(text.confounder.into());
            mode.encrypt_blocks(Block::cast_slice_from_core_mut(front));
            last
        }
        None => text.confounder,
    };
    let mut tail = Tail::read([before, rest, text.end]);
    let (last, _) = tail.last();
    mode.encrypt_blocks(&mut tail.blocks[..=last]);
    tail.blocks.swap(last - 1, last);
    tail.write([before, rest, text.end]);
}

fn decrypt<C: BlockCipherDecrypt<BlockSize = aes::cipher::consts::U16>>(aes: &C, text: &mut Text<'_>) {
    let mut mode = cbc::Decryptor::inner_iv_init(aes, &Block::default());
    let (whole, rest) = text.body.as_chunks_mut::<BLOCK>();
    let before = match whole.split_last_mut() {
        Some((last, front)) => {
            mode.decrypt_block(text.confounder.into());
            mode.decrypt_blocks(Block::cast_slice_from_core_mut(front));
            last
        }
        None => text.confounder,
    };
    let mut tail = Tail::read([before, rest, text.end]);
    let (last, len) = tail.last();
    // The end of the last block was stolen: it is what the block before it decrypts to.
    let mut stolen = tail.blocks[last - 1];
    aes.decrypt_block(&mut stolen);
    tail.blocks[last][len..].copy_from_slice(&stolen[len..]);
    tail.blocks.swap(last - 1, last);
    mode.decrypt_blocks(&mut tail.blocks[..=last]);
    tail.write([before, rest, text.end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(digits: &str) -> Vec<u8> {
        let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    }

    #[test]
    fn text_of_two_blocks_and_more_is_encrypted_as_appendix_b_of_rfc_3962_has_it() {
        let cipher = Cipher::new(b"chicken teriyaki").unwrap();
        let text = b"I would like the General Gau's Chicken, please, and wonton soup.";
        for (len, encrypted) in [
            (32, "39312523a78662d5be7fcbcc98ebf5a8 97687268d6ecccc0c07b25e25ecfe584"),
            (
                47,
                "97687268d6ecccc0c07b25e25ecfe584 b3fffd940c16a18c1b5549d2f838029e 39312523a78662d5be7fcbcc98ebf5",
            ),
            (
                48,
                "97687268d6ecccc0c07b25e25ecfe584 9dad8bbb96c4cdc03bc103e1a194bbd8 \
                 39312523a78662d5be7fcbcc98ebf5a8",
            ),
            (
                64,
                "97687268d6ecccc0c07b25e25ecfe584 39312523a78662d5be7fcbcc98ebf5a8 \
                 4807efe836ee89a526730dbc2f7bc840 9dad8bbb96c4cdc03bc103e1a194bbd8",
            ),
        ] {
            for end_len in BLOCK..=(2 * BLOCK).min(len - BLOCK) {
                let mut confounder = *text.first_chunk().unwrap();
                let mut body = text[BLOCK..len - end_len].to_vec();
                let mut end = text[len - end_len..len].to_vec();
                let mut parts = Text { confounder: &mut confounder, body: &mut body, end: &mut end };
                cipher.encrypt(&mut parts);
                assert_eq!(
                    [&parts.confounder[..], parts.body, parts.end].concat(),
                    hex(encrypted),
                    "{len} {end_len}"
                );
                cipher.decrypt(&mut parts);
                assert_eq!(
                    [&parts.confounder[..], parts.body, parts.end].concat(),
                    text[..len],
                    "{len} {end_len}"
                );
            }
        }
    }

    #[test]
    fn keys_are_derived_as_appendix_a_of_rfc_8009_has_it() {
        let constant = |use_: Use| [0, 0, 0, 2, use_ as u8];
        let short = hex("3705D96080C17728A0E800EAB6E0D23C");
        let derive = |use_| derive_by_hash::<Hmac<Sha256>>(&short, constant(use_), 16);
        assert_eq!(*derive(Use::Checksum), hex("B31A018A48F54776F403E9A396325DC3"));
        assert_eq!(*derive(Use::Encryption), hex("9B197DD1E8C5609D6E67C3E37C62C72E"));
        assert_eq!(*derive(Use::Integrity), hex("9FDA0E56AB2D85E1569A688696C26A6C"));
        let long = hex("6D404D37FAF79F9DF0D33568D320669800EB4836472EA8A026D16B7182460C52");
        let derive = |use_, len| derive_by_hash::<Hmac<Sha384>>(&long, constant(use_), len);
        let checksum = hex("EF5718BE86CC84963D8BBB5031E9F5C4BA41F28FAF69E73D");
        assert_eq!(*derive(Use::Checksum, 24), checksum);
        let encryption = hex("56AB22BEE63D82D7BC5227F6773F8EA7A5EB1C825160C38312980C442E5C7E49");
        assert_eq!(*derive(Use::Encryption, 32), encryption);
        let integrity = hex("69B16514E3CD8E56B82010D5C73012B622C4D00FFC23ED1F");
        assert_eq!(*derive(Use::Integrity, 24), integrity);
    }
}
