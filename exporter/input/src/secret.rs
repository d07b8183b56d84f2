//! Secrets come from files and from the environment, never from the configuration itself.

use std::path::PathBuf;

use zeroize::Zeroizing;

use crate::file;

/// Maximum size of a secret file.
const SECRET_BYTES_MAX: usize = 64 << 10;

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The contents of a file, read each time that it is leased; one trailing newline is dropped.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
}

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

#[cfg(test)]
mod tests {
    use std::fs;

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
}
