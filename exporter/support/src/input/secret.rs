//! Secrets come from files and from the environment, never from the configuration itself.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use rustix::io::Errno;
use safe_text::secret::secret_of;
use zeroize::Zeroizing;

use crate::input::file;

/// Maximum size of a secret file.
const SECRET_BYTES_MAX: usize = 64 << 10;

/// Maximum size of a keytab.
const KEYTAB_BYTES_MAX: usize = 1 << 20;

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The contents of a file, read each time that it is leased; a byte order mark and one trailing newline are dropped.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
}

/// A secret, which is wiped from memory when it goes.
pub type SecretBytes = Zeroizing<Vec<u8>>;

/// Reads a secret now.
///
/// # Errors
/// A sentence without the secret in it.
pub fn read(source: &SecretSource) -> Result<SecretBytes, String> {
    match source {
        SecretSource::File(path) => read_password(path, path),
        SecretSource::Environment(name) => match std::env::var(name) {
            Ok(value) => checked(&Zeroizing::new(value.into_bytes()), &source.described()),
            Err(_) => Err(format!("the environment has no variable `{name}`")),
        },
    }
}

/// Reads a password now, from [`readable`] of the file that the configuration names.
///
/// # Errors
/// A sentence without the password in it.
pub fn read_password(named: &Path, readable: &Path) -> Result<SecretBytes, String> {
    let described = format!("password file {}", named.display());
    let mut bytes = Zeroizing::new(Vec::new());
    file::read_into(&mut bytes, readable, SECRET_BYTES_MAX)
        .map_err(|error| format!("{described} {error}"))?;
    checked(&bytes, &described)
}

/// The same for a keytab.
///
/// # Errors
/// A sentence without a key in it.
pub fn read_keytab(named: &Path, readable: &Path) -> Result<SecretBytes, String> {
    let said = |what: &str| format!("keytab {} {what}", named.display());
    let mut bytes = Zeroizing::new(Vec::new());
    file::read_into(&mut bytes, readable, KEYTAB_BYTES_MAX).map_err(|error| said(&error.to_string()))?;
    match bytes.as_slice() {
        // The version of the format: big-endian, or the order of the machine that wrote it.
        [5, 1 | 2, ..] => Ok(bytes),
        [] => Err(said("is empty")),
        _ => Err(said("is not one: it does not begin with the bytes 5 and 2")),
    }
}

/// The file itself; or, where the user of a systemd service may not read it, the credential of its unit with the file's own
/// name, `LoadCredential=NAME:FILE`. It is for secrets whose files have names of their own, so that none is taken for another.
#[must_use]
pub fn readable(path: &Path) -> Cow<'_, Path> {
    let is_refused = rustix::fs::access(path, Access::READ_OK) == Err(Errno::ACCESS);
    let instead =
        is_refused.then(|| credential_of_unit(path, std::env::var_os("CREDENTIALS_DIRECTORY"))).flatten();
    instead.map_or(Cow::Borrowed(path), Cow::Owned)
}

fn checked(bytes: &[u8], described: &str) -> Result<SecretBytes, String> {
    match secret_of(bytes) {
        Ok(secret) => Ok(Zeroizing::new(secret.as_bytes().to_vec())),
        Err(reason) => Err(format!("{described} {reason}")),
    }
}

fn credential_of_unit(path: &Path, folder: Option<OsString>) -> Option<PathBuf> {
    let file = Path::new(&folder?).join(path.file_name()?);
    file.is_file().then_some(file)
}

/// What of a secret was hardly meant to be a part of it, though it is used as such. It says nothing of the rest.
#[must_use]
pub fn oddity(secret: &[u8]) -> Option<&'static str> {
    safe_text::secret::oddity(str::from_utf8(secret).unwrap_or_default())
}

impl SecretSource {
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::File(path) => format!("password file {}", path.display()),
            Self::Environment(name) => format!("environment variable `{name}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read_file(contents: &[u8]) -> Result<SecretBytes, String> {
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
    fn what_editors_leave_is_dropped_or_told() {
        assert_eq!(read_file(b"\xef\xbb\xbfhunter2\r\n").unwrap().as_slice(), b"hunter2");
        assert!(read_file(b"\xef\xbb\xbf\n").unwrap_err().ends_with("is empty"));
        for utf_16 in [&b"\xff\xfeh\0u\0"[..], b"\xfe\xff\0h\0u"] {
            assert!(read_file(utf_16).unwrap_err().ends_with("is UTF-16; save it as UTF-8"));
        }
        for (contents, expected) in [
            (&b"hunter2"[..], None),
            (b"hunter 2\n", None),
            (b"hunter2\r\n", None),
            (b"hunter2 \n", Some("white space")),
            (b"\thunter2", Some("white space")),
            ("hunter2\u{a0}".as_bytes(), Some("white space")),
            (b"hunter2\n\n", Some("more than one line end")),
            (b"hunter2\r\n\r\n", Some("more than one line end")),
            (b"hunter2\nhunter3\n", Some("more than one line end")),
            (b"hunter2\x1b", Some("not seen")),
            ("hunter\u{200b}2".as_bytes(), Some("not seen")),
        ] {
            let odd = oddity(&read_file(contents).unwrap());
            assert_eq!(odd.is_some(), expected.is_some(), "{contents:?}: {odd:?}");
            assert!(
                odd.is_none_or(|odd| odd.contains(expected.unwrap()) && !odd.contains("hunter")),
                "{odd:?}"
            );
        }
    }

    #[test]
    fn a_service_reads_the_credential_of_its_unit_with_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), "hunter2").unwrap();
        let of_unit = |path: &str| credential_of_unit(Path::new(path), Some(folder.path().into()));
        assert_eq!(of_unit("/etc/perfmon-exporter/secret"), Some(folder.path().join("secret")));
        assert_eq!(of_unit("/etc/perfmon-exporter/other"), None);
        assert_eq!(of_unit(".."), None);
        assert_eq!(credential_of_unit(Path::new("/etc/secret"), None), None);
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
}
