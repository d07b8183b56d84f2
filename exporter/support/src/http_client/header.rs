//! Values of headers, and the secrets among them.

use crate::input::secret::{self, SecretSource};
use hyper::header::HeaderValue;

use super::connector::Failure;
use super::trouble::Trouble;

/// Where a header's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// It is no secret.
    Plain(String),
    /// It is one: `{file: …}` or `{env: …}`, with `prefix` before it.
    Secret {
        /// `prefix`: `Bearer `, say.
        prefix: String,
        source: SecretSource,
    },
}

/// The value of a header. Secrets are read again each time, so that those that were renewed are used.
///
/// # Errors
/// A secret cannot be read, or does not fit into a header.
pub fn header_value(source: &HeaderSource) -> Result<HeaderValue, Failure> {
    let value = match source {
        HeaderSource::Plain(text) => HeaderValue::from_str(text),
        HeaderSource::Secret { prefix, source } => {
            let secret = secret::read(source).map_err(|message| Failure::new(Trouble::Secret, message))?;
            let whole = zeroize::Zeroizing::new([prefix.as_bytes(), &secret].concat());
            HeaderValue::from_bytes(&whole)
        }
    };
    // The error does not show the value.
    let mut value =
        value.map_err(|_| Failure::new(Trouble::Secret, "a secret does not fit into a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The name and version of this program.
pub const USER_AGENT: &str = concat!("perfmon-exporter/", env!("CARGO_PKG_VERSION"));
