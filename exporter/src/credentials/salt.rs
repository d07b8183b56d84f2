use std::fs;
use std::io::Read;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::guard::Fingerprint;

/// Rounds that make a guess at a stored fingerprint expensive.
const STORED_ROUNDS: u32 = 100_000;

/// Random bytes that make fingerprints of this process, or of one state file, incomparable with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salt(pub [u8; 32]);

impl Salt {
    /// A new one from the kernel.
    ///
    /// # Errors
    /// When the kernel's device cannot be read.
    pub fn random() -> std::io::Result<Self> {
        let mut salt = [0; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut salt)?;
        Ok(Self(salt))
    }

    /// Cheap: for comparing within this process.
    #[must_use]
    pub fn fingerprint(&self, secret: &[u8]) -> Fingerprint {
        Fingerprint(self.mac(&[secret]))
    }

    /// Slow on purpose, since it is written to disk: PBKDF2-HMAC-SHA256 (RFC 8018) of one block, with the secret as
    /// the password.
    #[must_use]
    pub fn stored_fingerprint(&self, secret: &[u8]) -> Fingerprint {
        let keyed = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
        let round = |input: &[u8], counter: &[u8]| -> [u8; 32] {
            let mut mac = keyed.clone();
            mac.update(input);
            mac.update(counter);
            mac.finalize().into_bytes().into()
        };
        let mut last = round(&self.0, &1_u32.to_be_bytes());
        let mut sum = last;
        for _ in 1..STORED_ROUNDS {
            last = round(&last, &[]);
            sum.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
        }
        Fingerprint(sum)
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_fingerprint_is_pbkdf2() {
        // Witness: Python, hashlib.pbkdf2_hmac('sha256', b'hunter2', bytes(range(32)), 100000).hex()
        let salt = Salt(std::array::from_fn(|index| u8::try_from(index).unwrap()));
        let found: String =
            salt.stored_fingerprint(b"hunter2").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, "d269d79fd465c708599b3114850e6a20bb8cb90c8fbba32574954ab158d23a7c");
    }
}
