use std::fs;
use std::io::Read;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::guard::Fingerprint;
use crate::config::SecretSource;
use crate::file;

/// A secret file may have so many bytes.
const SECRET_BYTES_MAX: usize = 64 << 10;
/// Rounds that make a guess at a stored fingerprint expensive.
const STORED_ROUNDS: u32 = 100_000;

/// Reads a secret now.
///
/// # Errors
/// A sentence without the secret in it.
pub fn read(source: &SecretSource) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut bytes = match source {
        SecretSource::File(path) => {
            let mut bytes = Zeroizing::new(Vec::new());
            let read = file::read_into(&mut bytes, path, SECRET_BYTES_MAX);
            read.map_err(|error| format!("password file {} {error}", path.display()))?;
            bytes
        }
        SecretSource::Environment(name) => match std::env::var(name) {
            Ok(value) => Zeroizing::new(value.into_bytes()),
            Err(_) => return Err(format!("the environment has no variable `{name}`")),
        },
    };
    drop_one_newline(&mut bytes);
    match std::str::from_utf8(&bytes) {
        Ok("") => Err(format!("{} is empty", describe(source))),
        Ok(_) => Ok(bytes),
        Err(_) => Err(format!("{} is not UTF-8", describe(source))),
    }
}

/// Editors and `echo` leave one; a password that ends in a newline needs two.
fn drop_one_newline(bytes: &mut Vec<u8>) {
    if bytes.ends_with(b"\r\n") {
        bytes.truncate(bytes.len() - 2);
    } else if bytes.ends_with(b"\n") {
        bytes.truncate(bytes.len() - 1);
    }
}

fn describe(source: &SecretSource) -> String {
    match source {
        SecretSource::File(path) => format!("password file {}", path.display()),
        SecretSource::Environment(name) => format!("environment variable `{name}`"),
    }
}

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

    fn read_file(contents: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), contents).unwrap();
        read(&SecretSource::File(file.path().to_owned()))
    }

    #[test]
    fn one_trailing_newline_is_dropped_and_no_more() {
        assert_eq!(read_file(b"hunter2\n").unwrap().as_slice(), b"hunter2");
        assert_eq!(read_file(b"hunter2\r\n").unwrap().as_slice(), b"hunter2");
        assert_eq!(read_file(b" hunter2\n\n").unwrap().as_slice(), b" hunter2\n");
    }

    #[test]
    fn a_secret_that_cannot_be_used_is_an_error_without_the_secret() {
        assert!(read_file(b"\n").unwrap_err().ends_with("is empty"));
        assert!(read_file(b"hunter\xff").unwrap_err().ends_with("is not UTF-8"));
        let missing = read(&SecretSource::File("/nonexistent/secret".into())).unwrap_err();
        assert!(missing.contains("/nonexistent/secret"), "{missing}");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [folder.path().to_owned(), pipe] {
            let refused = read(&SecretSource::File(path)).unwrap_err();
            assert!(refused.ends_with(", not a file"), "{refused}");
        }
        let missing = read(&SecretSource::Environment("PERFMON_TEST_NO_SUCH".into())).unwrap_err();
        assert!(missing.contains("PERFMON_TEST_NO_SUCH"), "{missing}");
    }

    #[test]
    fn the_stored_fingerprint_is_pbkdf2() {
        // Witness: Python, hashlib.pbkdf2_hmac('sha256', b'hunter2', bytes(range(32)), 100000).hex()
        let salt = Salt(std::array::from_fn(|index| u8::try_from(index).unwrap()));
        let found: String =
            salt.stored_fingerprint(b"hunter2").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, "d269d79fd465c708599b3114850e6a20bb8cb90c8fbba32574954ab158d23a7c");
    }
}
