//! CSV and TSV as PDH writes them. `gaps.toml` has what its documents leave open.

use std::io::Write as _;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::header::{LogHeader, LogZone};
use crate::batch::Row;

/// The two formats of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextFormat {
    /// `plaCommaSeparated` of [MS-PLA] 2.2.2.7.
    Csv,
    /// `plaTabSeparated` of [MS-PLA] 2.2.2.7.
    Tsv,
}

/// Writes the lines of one file.
///
/// Each line has a cell for the time, one for each column, and one for the description if there is one. Cells are in quotes,
/// lines end with CR and LF. Times are those of a clock that is `UTC - bias` for the whole file, with the bias that its header
/// has; when daylight saving begins or ends, the times of a file neither jump nor repeat.
///
/// The text is UTF-8. All but the names in the header is ASCII; if these are not, a byte order mark comes first.
///
/// ```
/// use counter_log::{Batch, Column, LogHeader, Sample, TextFormat, TextLog};
///
/// let available = Column {
///     machine: "WEB1".to_owned(),
///     object: "Memory".to_owned(),
///     parent: None,
///     instance: None,
///     instance_index: 0,
///     counter: "Available MBytes".to_owned(),
///     counter_type: 0x10000,
///     default_scale: 0,
///     time_base: 10_000_000,
/// };
/// let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
/// let header = LogHeader { columns: vec![available], zone, description: String::new() };
/// let start = "2026-01-31T12:00:00.25Z".parse().unwrap();
/// let mut batch = Batch::new(1);
/// batch.push(start, [Sample { value: Some(512.0), raw: None }]);
///
/// let log = TextLog::new(TextFormat::Csv, &header, start);
/// let mut text = log.header().to_vec();
/// for row in batch.rows() {
///     log.write_row(row, &mut text);
/// }
/// assert_eq!(
///     String::from_utf8(text).unwrap(),
///     concat!(
///         "\"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)\",\"\\\\WEB1\\Memory\\Available MBytes\"\r\n",
///         "\"01/31/2026 13:00:00.250\",\"512\"\r\n",
///     ),
/// );
/// ```
#[derive(Clone, Debug)]
pub struct TextLog {
    header: Vec<u8>,
    /// What is between two cells, with the quotes around it.
    between: [u8; 3],
    offset: Offset,
    columns: usize,
    has_description: bool,
}

impl TextLog {
    /// The lines of a file that is begun at `start`.
    #[must_use]
    pub fn new(format: TextFormat, header: &LogHeader, start: Timestamp) -> Self {
        let (separator, name) = match format {
            TextFormat::Csv => (b',', "PDH-CSV 4.0"),
            TextFormat::Tsv => (b'\t', "PDH-TSV 4.0"),
        };
        let between = [b'"', separator, b'"'];
        let zone = LogZone::new(&header.zone, start);
        let mut line = format!("\"({name}) ({})({})", Cell(&zone.name), zone.bias_minutes).into_bytes();
        let mut add = |text: &str| {
            line.extend_from_slice(&between);
            // A vector takes all that is written.
            let _ = write!(line, "{}", Cell(text));
        };
        for column in &header.columns {
            add(&column.to_string());
        }
        let has_description = !header.description.is_empty();
        if has_description {
            add(&header.description);
        }
        line.extend_from_slice(END);
        if !line.is_ascii() {
            line.splice(..0, BYTE_ORDER_MARK);
        }
        Self { header: line, between, offset: zone.offset, columns: header.columns.len(), has_description }
    }

    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Adds the line of a record. A value that is missing, or no number, is a blank.
    pub fn write_row(&self, row: Row<'_>, text: &mut Vec<u8>) {
        text.reserve(CELL_BYTES_MAX * (self.columns + 2));
        text.push(b'"');
        write_time(self.offset.to_datetime(row.time), text);
        let mut digits = zmij::Buffer::new();
        for index in 0..self.columns {
            text.extend_from_slice(&self.between);
            match row.samples.get(index).and_then(|sample| sample.value) {
                Some(value) if value.is_finite() => write_value(value, &mut digits, text),
                _ => text.push(b' '),
            }
        }
        if self.has_description {
            text.extend_from_slice(&self.between);
        }
        text.extend_from_slice(END);
    }
}

/// The quote that ends the last cell, and the end of the line.
const END: &[u8] = b"\"\r\n";

/// Says that a text is UTF-8. Excel would take it for the code page of the machine otherwise.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// A number of 17 digits with sign, point and exponent, and what is around it.
const CELL_BYTES_MAX: usize = 28;

/// A text inside quotes: quotes are doubled, and what would end the line or the cell becomes a blank.
struct Cell<'a>(&'a str);

impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write as _;
        for letter in self.0.chars() {
            match letter {
                '"' => f.write_str("\"\"")?,
                letter if letter.is_control() => f.write_char(' ')?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// `MM/DD/YYYY HH:MM:SS.mmm`. What is below a millisecond is cut off.
fn write_time(time: DateTime, text: &mut Vec<u8>) {
    let year = time.year().unsigned_abs();
    let [hundreds, years] = [year / 100, year % 100].map(u32::from);
    let millisecond = time.subsec_nanosecond().unsigned_abs() / 1_000_000;
    let two = |number: i8| pair(u32::from(number.unsigned_abs()));
    let [m1, m2] = two(time.month());
    let [d1, d2] = two(time.day());
    let ([y1, y2], [y3, y4]) = (pair(hundreds), pair(years));
    let ([h1, h2], [n1, n2], [s1, s2]) = (two(time.hour()), two(time.minute()), two(time.second()));
    let ([_, f1], [f2, f3]) = (pair(millisecond / 100), pair(millisecond % 100));
    text.extend_from_slice(&[
        m1, m2, b'/', d1, d2, b'/', y1, y2, y3, y4, b' ', h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2,
        f3,
    ]);
}

/// The least digits that are the same number when they are read, as integers without a point.
fn write_value(value: f64, digits: &mut zmij::Buffer, text: &mut Vec<u8>) {
    let written = digits.format_finite(value);
    text.extend_from_slice(written.strip_suffix(".0").unwrap_or(written).as_bytes());
}

/// The two digits of a number below 100.
fn pair(number: u32) -> [u8; 2] {
    [digit(number / 10), digit(number)]
}

fn digit(number: u32) -> u8 {
    b"0123456789"[(number % 10) as usize]
}

#[cfg(test)]
mod tests;
