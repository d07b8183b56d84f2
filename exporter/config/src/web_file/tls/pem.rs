use std::fmt;
use std::path::{Path, PathBuf};

use crate::node::Position;
use crate::section::Section;

/// A text in PEM, with where the configuration has it.
#[derive(Clone, Debug)]
pub struct Pem {
    /// Where it comes from.
    pub source: PemSource,
    /// The key that says so.
    pub key: &'static str,
    /// Where that key stands.
    pub position: Position,
}

/// Where a text in PEM comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum PemSource {
    /// A file, looked at again and again.
    File(PathBuf),
    /// The configuration itself.
    Inline(String),
}

impl fmt::Debug for PemSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Inline(_) => f.write_str("***"),
        }
    }
}

/// One of two keys, without which there is no TLS.
pub(super) fn required(
    section: &mut Section<'_>,
    inline: &'static str,
    file: &'static str,
    base: &Path,
) -> Option<Pem> {
    if section.get(inline).is_none() {
        section.require(file, "without TLS leave tls_server_config out")?;
    }
    read(section, inline, file, base)
}

/// One of two keys, the text itself or a file.
pub(super) fn read(
    section: &mut Section<'_>,
    inline: &'static str,
    file: &'static str,
    base: &Path,
) -> Option<Pem> {
    match (section.get(inline), section.get(file)) {
        (Some(_), Some(file_item)) => {
            file_item.problem(format!("`{inline}` is also set"), Some("keep one of them".to_owned()));
            None
        }
        (Some(item), None) => {
            let source = PemSource::Inline(item.text()?.to_owned());
            Some(Pem { source, key: inline, position: item.position() })
        }
        (None, Some(item)) => {
            let source = PemSource::File(item.file(base)?);
            Some(Pem { source, key: file, position: item.position() })
        }
        (None, None) => None,
    }
}
