use crate::batch::Batch;

/// Where the records of one log go: a file, or tables of a database.
pub trait LogSink: Send + 'static {
    /// Writes records in their order. A sink that has failed may be called again with what is left.
    fn write(&mut self, batch: &Batch) -> impl Future<Output = Written> + Send;

    /// Ends the log. Nothing is written after it. The result is the bytes that this adds to those of [`Written::bytes`].
    fn finish(&mut self) -> impl Future<Output = Result<u64, SinkError>> + Send;
}

/// What came of writing a batch.
#[derive(Debug, Default)]
pub struct Written {
    /// The first so many records are kept for sure: they survive the end of this process.
    pub records: usize,
    /// Bytes that they took, as far as the sink knows.
    pub bytes: u64,
    /// Why the others are not.
    pub failure: Option<SinkError>,
}

/// Why a sink does not take records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SinkError {
    /// What kind of failure it is.
    pub kind: SinkErrorKind,
    /// What failed, where, and the next step.
    pub message: String,
}

/// Kinds of failures, a label of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SinkErrorKind {
    /// The disk, or what of it may be used, is full.
    Full,
    /// The folder or file may not be written.
    Denied,
    /// The folder, the file or the server is not there.
    Unavailable,
    /// It refuses the data: a table of another form, for example.
    Refused,
    Other,
}

impl SinkErrorKind {
    /// All kinds, in their order.
    pub const ALL: [Self; 5] = [Self::Full, Self::Denied, Self::Unavailable, Self::Refused, Self::Other];

    /// Its name in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Denied => "denied",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Other => "other",
        }
    }
}
