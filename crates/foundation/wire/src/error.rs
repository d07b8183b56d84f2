use core::fmt;

pub type DecodeResult<T> = Result<T, DecodeError>;

pub type EncodeResult<T> = Result<T, EncodeError>;

/// Bytes that could not be believed: which structure, which field, where, and why.
///
/// Holds no heap memory, so that a hostile peer cannot make errors expensive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The structure's name in its specification.
    pub context: &'static str,
    /// The field's name, or empty for the structure as a whole.
    pub field: &'static str,
    /// Bytes from the beginning of the buffer that the cursor was made over.
    pub offset: usize,
    pub kind: DecodeErrorKind,
}

/// Why bytes were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The buffer ends before the structure does.
    NotEnoughBytes {
        received: usize,
        /// Bytes that the structure needs.
        expected: usize,
    },
    /// A field has a value that the specification does not allow there.
    InvalidField {
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A count, length or size is above what this side accepts.
    LimitExceeded {
        /// What the peer says.
        value: u64,
        limit: u64,
    },
    /// A discriminant that this decoder cannot continue after.
    Unsupported { value: u64 },
}

impl DecodeError {
    /// The buffer ends before the structure, or `field` of it, does.
    #[must_use]
    pub const fn not_enough_bytes(
        context: &'static str,
        field: &'static str,
        offset: usize,
        received: usize,
        expected: usize,
    ) -> Self {
        Self { context, field, offset, kind: DecodeErrorKind::NotEnoughBytes { received, expected } }
    }

    /// `field` breaks a rule.
    #[must_use]
    pub const fn invalid_field(
        context: &'static str,
        field: &'static str,
        offset: usize,
        reason: &'static str,
    ) -> Self {
        Self { context, field, offset, kind: DecodeErrorKind::InvalidField { reason } }
    }

    /// `field` is larger than `limit`.
    #[must_use]
    pub const fn limit_exceeded(
        context: &'static str,
        field: &'static str,
        offset: usize,
        value: u64,
        limit: u64,
    ) -> Self {
        Self { context, field, offset, kind: DecodeErrorKind::LimitExceeded { value, limit } }
    }

    /// `field` holds an unknown discriminant.
    #[must_use]
    pub const fn unsupported(context: &'static str, field: &'static str, offset: usize, value: u64) -> Self {
        Self { context, field, offset, kind: DecodeErrorKind::Unsupported { value } }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { context, field, offset, kind } = self;
        f.write_str(context)?;
        if !field.is_empty() {
            write!(f, ": `{field}`")?;
        }
        match kind {
            DecodeErrorKind::NotEnoughBytes { received, expected } => {
                write!(f, ": {expected} bytes needed at offset {offset}, {received} there")
            }
            DecodeErrorKind::InvalidField { reason } => write!(f, ": {reason} (offset {offset})"),
            DecodeErrorKind::LimitExceeded { value, limit } => {
                write!(f, ": {value} is above the limit of {limit} (offset {offset})")
            }
            DecodeErrorKind::Unsupported { value } => {
                write!(f, ": unsupported value {value:#x} (offset {offset})")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// A value that the wire has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The structure's name in its specification.
    pub context: &'static str,
    pub field: &'static str,
    /// The rule that the value breaks.
    pub reason: &'static str,
}

impl EncodeError {
    /// `field` cannot be written.
    #[must_use]
    pub const fn new(context: &'static str, field: &'static str, reason: &'static str) -> Self {
        Self { context, field, reason }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { context, field, reason } = self;
        f.write_str(context)?;
        if !field.is_empty() {
            write!(f, ": `{field}`")?;
        }
        write!(f, ": {reason}")
    }
}

impl std::error::Error for EncodeError {}
