//! What outlives the process: what hosts said of accounts' secrets, and when.

use std::fs;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use support::input::file;

use super::Salt;
use super::guard::{Fingerprint, Host, Refusal, Refused, Remembered, Scope};

const FILE_NAME: &str = "credentials.json";
const FILE_BYTES_MAX: usize = 16 << 20;
const VERSION: u32 = 1;
/// Accounts in the file; the one that was written longest ago goes first.
const ACCOUNTS_MAX: usize = 4_096;
/// Hosts of an account in the file, of each kind; the oldest go first.
const HOSTS_MAX: usize = 256;

/// A small JSON file with the accounts whose secrets were refused or accepted, and by which hosts. It has a salted,
/// slow hash of each secret to detect changes; it cannot be used to log in.
#[derive(Debug)]
pub struct VerdictFile {
    path: PathBuf,
    /// Made when the file is.
    pub salt: Salt,
    pub verdicts: Vec<Stored>,
}

/// What is known of one secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub scope: Scope,
    pub fingerprint: Fingerprint,
    pub remembered: Remembered,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    salt: String,
    /// Secrets that are withheld.
    refused: Vec<RefusedRow>,
    /// Secrets that were accepted and are not withheld.
    #[serde(default)]
    accepted: Vec<AcceptedRow>,
}

#[derive(Serialize, Deserialize)]
struct RefusedRow {
    realm: String,
    username: String,
    local: bool,
    fingerprint: String,
    #[serde(flatten)]
    refusal: RefusalRow,
}

#[derive(Serialize, Deserialize)]
struct AcceptedRow {
    realm: String,
    username: String,
    local: bool,
    fingerprint: String,
    accepted_by: Option<HostRow>,
    used_up: Vec<HostRow>,
    left_out: Vec<RefusalRow>,
}

#[derive(Serialize, Deserialize)]
struct RefusalRow {
    verdict: String,
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<IpAddr>,
    since_unix_s: u64,
}

#[derive(Serialize, Deserialize)]
struct HostRow {
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<IpAddr>,
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
        let bytes = match file::read(&path, FILE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => {
                return Ok(Self { path, salt: Salt::random()?, verdicts: Vec::new() });
            }
            Err(error) => return Err(io::Error::new(error.kind(), error)),
        };
        let document: Document = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
        if document.version != VERSION {
            return Err(invalid("is of another version"));
        }
        let salt = unhex(&document.salt).map(Salt).ok_or_else(|| invalid("has a broken salt"))?;
        let refused = document.refused.into_iter().map(RefusedRow::into_stored);
        let accepted = document.accepted.into_iter().map(AcceptedRow::into_stored);
        let verdicts = refused.chain(accepted).collect::<Option<_>>();
        Ok(Self { path, salt, verdicts: verdicts.ok_or_else(|| invalid("has a broken verdict"))? })
    }

    /// Replaces the entry of its scope by `stored`; [`VerdictFile::write`] writes it to disk.
    pub fn put(&mut self, stored: Stored) {
        self.verdicts.retain(|known| known.scope != stored.scope);
        if self.verdicts.len() >= ACCOUNTS_MAX {
            // Of accounts of the hosts themselves there may be many; one of a domain is never pushed out by them.
            let oldest = self.verdicts.iter().position(|known| known.scope.is_local).unwrap_or(0);
            self.verdicts.remove(oldest);
        }
        self.verdicts.push(stored);
    }

    /// Forgets what was known of a scope; returns true if there was something.
    pub fn forget(&mut self, scope: &Scope) -> bool {
        let before = self.verdicts.len();
        self.verdicts.retain(|known| known.scope != *scope);
        self.verdicts.len() < before
    }

    /// Writes everything.
    ///
    /// # Errors
    /// When the file cannot be written; the old one then is still there.
    pub fn write(&self) -> io::Result<()> {
        self.try_write().map_err(|error| in_path(&self.path, &error))
    }

    fn try_write(&self) -> io::Result<()> {
        let (mut refused, mut accepted) = (Vec::new(), Vec::new());
        for stored in &self.verdicts {
            match &stored.remembered.withheld {
                Some(verdict) => refused.push(RefusedRow::new(stored, verdict)),
                None => accepted.push(AcceptedRow::new(stored)),
            }
        }
        let document = Document { version: VERSION, salt: hex(&self.salt.0), refused, accepted };
        let bytes = serde_json::to_vec_pretty(&document).map_err(io::Error::other)?;
        let beside = self.path.with_extension("json.new");
        // What is left of an earlier try, or is no file at all, would be written into, or hold us for ever.
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(beside, &self.path)
    }
}

impl RefusedRow {
    fn new(stored: &Stored, refused: &Refused) -> Self {
        Self {
            realm: stored.scope.realm.clone(),
            username: stored.scope.username.clone(),
            local: stored.scope.is_local,
            fingerprint: hex(&stored.fingerprint.0),
            refusal: RefusalRow::new(refused),
        }
    }

    fn into_stored(self) -> Option<Stored> {
        let withheld = Some(self.refusal.into_refused()?);
        let remembered = Remembered { withheld, ..Remembered::default() };
        let fingerprint = Fingerprint(unhex(&self.fingerprint)?);
        let scope = Scope { realm: self.realm, username: self.username, is_local: self.local };
        Some(Stored { scope, fingerprint, remembered })
    }
}

impl AcceptedRow {
    fn new(stored: &Stored) -> Self {
        let Remembered { withheld: _, accepted_by, used_up, doubted } = &stored.remembered;
        Self {
            realm: stored.scope.realm.clone(),
            username: stored.scope.username.clone(),
            local: stored.scope.is_local,
            fingerprint: hex(&stored.fingerprint.0),
            accepted_by: accepted_by.as_ref().map(HostRow::new),
            used_up: latest(used_up).map(HostRow::new).collect(),
            left_out: latest(doubted).map(RefusalRow::new).collect(),
        }
    }

    fn into_stored(self) -> Option<Stored> {
        let doubted = self.left_out.into_iter().map(RefusalRow::into_refused).collect::<Option<_>>()?;
        let used_up = self.used_up.into_iter().map(HostRow::into_host).collect();
        let accepted_by = self.accepted_by.map(HostRow::into_host);
        let remembered = Remembered { withheld: None, accepted_by, used_up, doubted };
        let fingerprint = Fingerprint(unhex(&self.fingerprint)?);
        let scope = Scope { realm: self.realm, username: self.username, is_local: self.local };
        Some(Stored { scope, fingerprint, remembered })
    }
}

impl RefusalRow {
    fn new(refused: &Refused) -> Self {
        let HostRow { host, address } = HostRow::new(&refused.host);
        let verdict = refused.refusal.as_str().to_owned();
        Self { verdict, host, address, since_unix_s: refused.since_unix_s }
    }

    fn into_refused(self) -> Option<Refused> {
        let refusal = Refusal::ALL.into_iter().find(|refusal| refusal.as_str() == self.verdict)?;
        let host = Host::new(&self.host, self.address);
        Some(Refused { refusal, host, since_unix_s: self.since_unix_s })
    }
}

impl HostRow {
    fn new(host: &Host) -> Self {
        Self { host: host.name().to_owned(), address: host.address() }
    }

    fn into_host(self) -> Host {
        Host::new(&self.host, self.address)
    }
}

/// The last ones of a list whose oldest is the first.
fn latest<T>(list: &[T]) -> impl Iterator<Item = &T> {
    list.iter().skip(list.len().saturating_sub(HOSTS_MAX))
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

    fn pipe(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn a_pipe_in_the_place_of_the_file_holds_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        pipe(&path);
        let refused = VerdictFile::open(folder.path()).unwrap_err().to_string();
        assert_eq!(refused, format!("{}: is a pipe, not a file", path.display()));
        fs::remove_file(&path).unwrap();
        let file = VerdictFile::open(folder.path()).unwrap();
        pipe(&folder.path().join("credentials.json.new"));
        file.write().unwrap();
        assert_eq!(VerdictFile::open(folder.path()).unwrap().salt, file.salt);
    }

    fn refused(name: &str, address: Option<IpAddr>, since_unix_s: u64) -> Refused {
        Refused { refusal: Refusal::Locked, host: Host::new(name, address), since_unix_s }
    }

    fn stored(realm: &str, remembered: Remembered) -> Stored {
        let scope = Scope { realm: realm.to_owned(), username: "svc".to_owned(), is_local: false };
        Stored { scope, fingerprint: Fingerprint([7; 32]), remembered }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = VerdictFile::open(folder.path()).unwrap();
        let address = Some(IpAddr::from([10, 0, 0, 1]));
        let withheld = Some(refused("web1", address, 5));
        let host = |name| Host::new(name, None);
        let accepted = Remembered {
            withheld: None,
            accepted_by: Some(Host::new("web2", address)),
            used_up: vec![host("web3"), host("web4")],
            doubted: vec![refused("web5", None, 6)],
        };
        let all = [stored("one", Remembered { withheld, ..Remembered::default() }), stored("two", accepted)];
        all.iter().cloned().for_each(|stored| file.put(stored));
        file.write().unwrap();
        assert_eq!(VerdictFile::open(folder.path()).unwrap().verdicts, all);
    }

    #[test]
    fn a_file_of_an_earlier_version_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let number = "0".repeat(64);
        let text = format!(
            r#"{{"version": 1, "salt": "{number}", "refused": [{{"realm": "corp", "username": "svc", "local": false,
                "fingerprint": "{number}", "verdict": "locked", "host": "web1", "since_unix_s": 7}}]}}"#
        );
        fs::write(folder.path().join(FILE_NAME), text).unwrap();
        let file = VerdictFile::open(folder.path()).unwrap();
        let withheld = Some(refused("web1", None, 7));
        let expected = Stored {
            fingerprint: Fingerprint([0; 32]),
            ..stored("corp", Remembered { withheld, ..Remembered::default() })
        };
        assert_eq!(file.verdicts, [expected]);
    }

    #[test]
    fn accounts_of_hosts_push_none_of_a_domain_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = VerdictFile::open(folder.path()).unwrap();
        file.put(stored("corp", Remembered::default()));
        for number in 0..2 * ACCOUNTS_MAX {
            let mut of_host = stored(&number.to_string(), Remembered::default());
            of_host.scope.is_local = true;
            file.put(of_host);
        }
        assert_eq!(file.verdicts.len(), ACCOUNTS_MAX);
        assert_eq!(file.verdicts[0].scope.realm, "corp");
    }
}
