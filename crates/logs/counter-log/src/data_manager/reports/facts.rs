use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What a report says of the run itself.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The name of the data collector set.
    pub set: String,
    pub host: String,
    /// When the run began.
    pub start: Timestamp,
    pub end: Timestamp,
    /// The time zone in which the report shows times.
    pub zone: TimeZone,
    /// [MS-PLA] 3.2.4.1: the serial number of the run; nothing where the set has none.
    pub serial_number: Option<u32>,
    /// The files of the run, in their order.
    pub files: Vec<RunFile>,
    /// Times in which nothing was recorded.
    pub gaps: Vec<Gap>,
    /// Records that were written; nothing where that is not known.
    pub records: Option<u64>,
    /// Records that were taken and could not be written; nothing where that is not known.
    pub records_lost: Option<u64>,
    /// Sentences on what was otherwise than the set asks for, such as a format that was replaced.
    pub remarks: Vec<String>,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// Its name, without folders.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its records, where they were counted.
    pub records: Option<u64>,
}

/// A time in which nothing was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub start: Timestamp,
    pub end: Timestamp,
    /// Why, as a phrase: `the host did not answer`.
    pub reason: String,
}
