//! The verdicts that outlive the process: which accounts' secrets were refused, and when.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::guard::{Fingerprint, Refusal, Refused, Scope};
use super::secret::Salt;

const FILE_NAME: &str = "credentials.json";
const FILE_BYTES_MAX: u64 = 16 << 20;
const VERSION: u32 = 1;

/// A small JSON file that says which accounts' secrets were refused. Of a secret it holds a salted, slow hash, so
/// that a changed one is known; nothing in it lets anyone log in.
#[derive(Debug)]
pub struct VerdictFile {
    path: PathBuf,
    /// Made when the file is.
    pub salt: Salt,
    /// What it holds.
    pub verdicts: Vec<Stored>,
}

/// One refused secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Whose.
    pub scope: Scope,
    /// Of which secret.
    pub fingerprint: Fingerprint,
    /// What happened.
    pub refused: Refused,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    salt: String,
    refused: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    realm: String,
    username: String,
    local: bool,
    fingerprint: String,
    verdict: String,
    host: String,
    since_unix_s: u64,
}

impl VerdictFile {
    /// Opens the file in `folder`, or begins one.
    ///
    /// # Errors
    /// When the folder cannot be made or the file cannot be read. A file that makes no sense is one: it may hold
    /// the verdict that keeps an account from being locked, so it is not simply written over.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder).map_err(|error| in_path(folder, &error))?;
        let path = folder.join(FILE_NAME);
        Self::read(&path).map_err(|error| in_path(&path, &error))
    }

    fn read(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { path, salt: Salt::random()?, verdicts: Vec::new() })
            }
            Err(error) => Err(error),
            Ok(metadata) if metadata.len() > FILE_BYTES_MAX => Err(invalid("is too large")),
            Ok(_) => {
                let document: Document =
                    serde_json::from_slice(&fs::read(&path)?).map_err(io::Error::other)?;
                if document.version != VERSION {
                    return Err(invalid("is of another version"));
                }
                let salt = unhex(&document.salt).map(Salt).ok_or_else(|| invalid("has a broken salt"))?;
                let verdicts = document.refused.into_iter().map(Row::into_stored);
                let verdicts =
                    verdicts.collect::<Option<_>>().ok_or_else(|| invalid("has a broken verdict"))?;
                Ok(Self { path, salt, verdicts })
            }
        }
    }

    /// Puts `stored` in the place of what was known of its scope.
    ///
    /// # Errors
    /// When the file cannot be written; the old one then is still there.
    pub fn keep(&mut self, stored: Stored) -> io::Result<()> {
        self.verdicts.retain(|known| known.scope != stored.scope);
        self.verdicts.push(stored);
        self.write().map_err(|error| in_path(&self.path, &error))
    }

    /// Forgets what was known of a scope.
    ///
    /// # Errors
    /// As [`VerdictFile::keep`].
    pub fn forget(&mut self, scope: &Scope) -> io::Result<()> {
        let before = self.verdicts.len();
        self.verdicts.retain(|known| known.scope != *scope);
        if self.verdicts.len() == before {
            return Ok(());
        }
        self.write().map_err(|error| in_path(&self.path, &error))
    }

    fn write(&self) -> io::Result<()> {
        let refused = self.verdicts.iter().map(Row::new).collect();
        let document = Document { version: VERSION, salt: hex(&self.salt.0), refused };
        let bytes = serde_json::to_vec_pretty(&document).map_err(io::Error::other)?;
        let beside = self.path.with_extension("json.new");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(beside, &self.path)
    }
}

impl Row {
    fn new(stored: &Stored) -> Self {
        Self {
            realm: stored.scope.realm.clone(),
            username: stored.scope.username.clone(),
            local: stored.scope.is_local,
            fingerprint: hex(&stored.fingerprint.0),
            verdict: stored.refused.refusal.word().to_owned(),
            host: stored.refused.host.clone(),
            since_unix_s: stored.refused.since_unix_s,
        }
    }

    fn into_stored(self) -> Option<Stored> {
        let refusals = [Refusal::Rejected, Refusal::Locked];
        let refusal = refusals.into_iter().find(|refusal| refusal.word() == self.verdict)?;
        let fingerprint = Fingerprint(unhex(&self.fingerprint)?);
        let refused = Refused { refusal, host: self.host, since_unix_s: self.since_unix_s };
        let scope = Scope { realm: self.realm, username: self.username, is_local: self.local };
        Some(Stored { scope, fingerprint, refused })
    }
}

/// The error with the path that it is about.
fn in_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_the_file_that_it_is_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let refused = || VerdictFile::open(folder.path()).unwrap_err().to_string();
        fs::write(&path, "{").unwrap();
        assert!(refused().starts_with(&path.display().to_string()), "{}", refused());
        let other = format!("{{\"version\": 2, \"salt\": \"{}\", \"refused\": []}}", "0".repeat(64));
        fs::write(&path, other).unwrap();
        assert_eq!(refused(), format!("{}: is of another version", path.display()));
        // A folder that is a file.
        let inside = VerdictFile::open(&path).unwrap_err().to_string();
        assert!(inside.starts_with(&path.display().to_string()), "{inside}");
    }
}
