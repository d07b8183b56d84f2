//! How a server is reached, and what is said of one that is not.

use std::fmt;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

use super::trouble::Trouble;

/// A byte stream to a server.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A stream that is being opened.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Stream>, Failure>> + Send + 'a>>;

/// How a server is reached.
pub trait Connector: Send + Sync + 'static {
    /// Opens a stream, which the protocol is spoken on at once.
    fn connect(&self) -> Connecting<'_>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why, as a word.
    pub trouble: Trouble,
    /// Why, as a sentence.
    pub message: String,
}

impl Failure {
    /// A failure with this message.
    pub fn new(trouble: Trouble, message: impl fmt::Display) -> Self {
        Self { trouble, message: message.to_string() }
    }

    /// An error with all its causes.
    #[must_use]
    pub fn of(trouble: Trouble, doing: &str, error: &dyn std::error::Error) -> Self {
        let mut message = format!("{doing}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Self { trouble, message }
    }
}
