use jiff::Timestamp;

/// Records of a log, side by side. A batch is cleared and filled again, so that the steady state allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    columns: usize,
    times: Vec<Timestamp>,
    /// INVARIANT: `columns` for each time.
    samples: Vec<Sample>,
}

/// What a record has in one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The value as Windows shows it, unscaled; nothing where there is none.
    pub value: Option<f64>,
    /// What the host sent; nothing where it sent nothing.
    pub raw: Option<RawSample>,
}

/// The numbers of a counter as a host sends them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawSample {
    pub first: i64,
    /// Its base, or the clock that it is measured by.
    pub second: i64,
    /// How many values a multi-counter adds up.
    pub multi_count: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// When the samples were taken.
    pub time: Timestamp,
    /// One for each column.
    pub samples: &'a [Sample],
}

impl Batch {
    /// A batch without records, for a log of so many columns.
    #[must_use]
    pub const fn new(columns: usize) -> Self {
        Self { columns, times: Vec::new(), samples: Vec::new() }
    }

    /// Adds a record. Columns that `samples` does not have are without a value; what is above the columns is dropped.
    pub fn push(&mut self, time: Timestamp, samples: impl IntoIterator<Item = Sample>) {
        self.times.push(time);
        self.samples.extend(samples.into_iter().take(self.columns));
        self.samples.resize(self.times.len() * self.columns, Sample::default());
    }

    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.times.iter().enumerate().map(|(index, time)| Row {
            time: *time,
            samples: &self.samples[index * self.columns..(index + 1) * self.columns],
        })
    }

    /// How many records there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// How many columns a record has.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The record with this number.
    #[must_use]
    pub fn row(&self, index: usize) -> Option<Row<'_>> {
        let time = *self.times.get(index)?;
        let samples = self.samples.get(index * self.columns..(index + 1) * self.columns)?;
        Some(Row { time, samples })
    }

    /// Becomes a copy of `other`, in the memory that is there.
    pub fn copy_from(&mut self, other: &Self) {
        self.columns = other.columns;
        self.times.clone_from(&other.times);
        self.samples.clone_from(&other.samples);
    }

    /// Forgets the first so many records, and keeps their memory.
    pub fn remove_first(&mut self, count: usize) {
        let count = count.min(self.times.len());
        self.times.drain(..count);
        self.samples.drain(..count * self.columns);
    }

    /// Forgets the records, and keeps their memory.
    pub fn clear(&mut self) {
        self.times.clear();
        self.samples.clear();
    }
}

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
