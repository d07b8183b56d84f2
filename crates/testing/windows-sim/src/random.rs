use std::hash::{BuildHasher, RandomState};

use wire::Guid;

/// Bytes that a client cannot guess: SipHash under a key that the standard library takes from the system.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    for (index, chunk) in bytes.chunks_mut(8).enumerate() {
        let word = RandomState::new().hash_one(index).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
    bytes
}

/// A GUID that a client cannot guess.
pub(crate) fn guid() -> Guid {
    Guid::from_bytes(bytes())
}
