/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no expression of XPath 1.0.
    #[error("the expression is wrong at character {at}: {reason}")]
    Syntax {
        /// The character, from 1.
        at: usize,
        /// What is wrong.
        reason: String,
    },
    /// It is longer than is read.
    #[error("the expression has {bytes} bytes, above the limit of {max}")]
    Length {
        /// Its bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// Expressions are in one another deeper than is read.
    #[error("the expression has more than {max} expressions in one another at character {at}")]
    Depth {
        /// The character, from 1.
        at: usize,
        /// The limit.
        max: u32,
    },
    /// An operand or argument is no set of nodes, and has to be one.
    #[error("{what} has to be a set of nodes")]
    NoNodes {
        /// Which operand.
        what: &'static str,
    },
    /// The work that was allowed is done.
    #[error("evaluating takes more work than is allowed")]
    Work,
}

impl Error {
    /// The same error, whose place is a byte, with its character from 1.
    pub(super) fn in_chars(mut self, text: &str) -> Self {
        if let Self::Syntax { at, .. } | Self::Depth { at, .. } = &mut self {
            *at = text.get(..*at).unwrap_or(text).chars().count() + 1;
        }
        self
    }
}
