//! The names of files and folders, [MS-PLA] 2.2.2.1.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use safe_text::component;

use crate::path_pattern::push_number;
use crate::{PathPattern, PathPatternError};

/// [MS-PLA] 2.2.2.1 `AutoPathFormat` with its pattern: what is added to the name of a file or a folder.
///
/// The parts come in the order of the document: computer, name, pattern, month to hour, serial number, year and day of the
/// year, year and month, year to day, year to hour, month to minute. The pattern is directly after the name; underscores
/// join all other parts that are not empty.
///
/// ```
/// use pla_engine::{NameFormat, NameParts};
///
/// // As Windows names the folders of a set by default: computer and pattern.
/// let format = NameFormat::new(3, r"yyyyMMdd\-NNNNNN")?;
/// let time = "2020-09-14T16:30[Europe/Berlin]".parse()?;
/// let folder = format.component(&NameParts { computer: "WEB1", base: "", serial_number: 10, time: &time });
/// assert_eq!(folder.as_deref(), Some("WEB1_20200914-000010"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NameFormat {
    bits: u32,
    /// Empty without its bit.
    pattern: PathPattern,
}

/// What a name is made of.
#[derive(Clone, Copy, Debug)]
pub struct NameParts<'a> {
    /// The name of the host whose data it is.
    pub computer: &'a str,
    /// `Subdirectory` of a set, or `FileName` of a data collector.
    pub base: &'a str,
    /// The serial number of the run or the segment.
    pub serial_number: u32,
    /// When it starts, in the time zone of the set.
    pub time: &'a ZonedDateTime,
}

impl NameFormat {
    /// A format from the value of `SubdirectoryFormat` or `FileNameFormat` and its pattern. Bits without a meaning are
    /// ignored, as is a pattern without the bit `plaPattern`.
    ///
    /// # Errors
    /// When the pattern is none.
    pub fn new(bits: u32, pattern: &str) -> Result<Self, PathPatternError> {
        let pattern = if bits & PATTERN == 0 { PathPattern::default() } else { pattern.parse()? };
        Ok(Self { bits, pattern })
    }

    /// The name as the set has it. It may be empty, and have any character: [`component`](Self::component) is for files.
    #[must_use]
    pub fn text(&self, parts: &NameParts<'_>) -> String {
        let computer = Some(parts.computer.to_owned()).filter(|_| self.has(COMPUTER));
        let base = format!("{}{}", parts.base, self.pattern.text(parts.serial_number, parts.time));
        let added = FIELDS.iter().filter(|(bit, _)| self.has(*bit)).map(|(_, fields)| {
            let mut text = String::new();
            fields.iter().for_each(|field| field.push(&mut text, parts));
            text
        });
        let all: Vec<String> =
            computer.into_iter().chain([base]).chain(added).filter(|text| !text.is_empty()).collect();
        all.join(SEPARATOR)
    }

    /// The name of a file or folder on any system, as [`component`](safe_text::component) makes it of the [text](Self::text).
    /// None if that is empty: the set has no folder of its own for a run, or the collector no name.
    #[must_use]
    pub fn component(&self, parts: &NameParts<'_>) -> Option<String> {
        Some(self.text(parts)).filter(|text| !text.is_empty()).map(|text| component(&text))
    }

    /// Whether names depend on the time, and so on the time zone.
    #[must_use]
    pub fn has_time(&self) -> bool {
        let name = |second| {
            let time = Timestamp::from_second(second).unwrap_or_default().to_zoned_datetime(TimeZone::UTC);
            self.text(&NameParts { computer: "", base: "", serial_number: 0, time: &time })
        };
        // Of 1970-01-01 00:00 and 2001-12-23 13:47 all parts differ.
        name(0) != name(1_009_115_220)
    }

    const fn has(&self, bit: u32) -> bool {
        self.bits & bit != 0
    }
}

/// A number in a name.
#[derive(Clone, Copy, Debug)]
enum Field {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    DayOfYear,
    SerialNumber,
}

impl Field {
    fn push(self, text: &mut String, parts: &NameParts<'_>) {
        let time = parts.time;
        match self {
            Self::Year => push_number(text, time.year().unsigned_abs(), 4),
            Self::Month => push_number(text, time.month(), 2),
            Self::Day => push_number(text, time.day(), 2),
            Self::Hour => push_number(text, time.hour(), 2),
            Self::Minute => push_number(text, time.minute(), 2),
            Self::DayOfYear => push_number(text, time.day_of_year(), 3),
            Self::SerialNumber => push_number(text, parts.serial_number, 6),
        }
    }
}

const SEPARATOR: &str = "_";
const PATTERN: u32 = 0x0001;
const COMPUTER: u32 = 0x0002;
const SERIAL_NUMBER: u32 = 0x0200;
/// The bits of what follows the pattern, in their order.
const FIELDS: [(u32, &[Field]); 7] = [
    (0x0100, &[Field::Month, Field::Day, Field::Hour]),
    (SERIAL_NUMBER, &[Field::SerialNumber]),
    (0x0400, &[Field::Year, Field::DayOfYear]),
    (0x0800, &[Field::Year, Field::Month]),
    (0x1000, &[Field::Year, Field::Month, Field::Day]),
    (0x2000, &[Field::Year, Field::Month, Field::Day, Field::Hour]),
    (0x4000, &[Field::Month, Field::Day, Field::Hour, Field::Minute]),
];
