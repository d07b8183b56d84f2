//! Patterns of the names of files and folders, [MS-PLA] 2.2.3.1.

use core::fmt::Write as _;
use core::str::FromStr;

use jiff::ZonedDateTime;
use jiff::civil::Weekday;

/// [MS-PLA] 2.2.3.1: a pattern of the name of a file or a folder, as `SubdirectoryFormatPattern` and `FileNameFormatPattern`
/// have it: `yyyyMMdd\-NNNNNN`.
///
/// | letters | meaning |
/// | --- | --- |
/// | `D`, `DDD` | the day of the year; with three digits |
/// | `d`, `dd`, `ddd`, `dddd` | the day of the month; with two digits; the day of the week in short; in full |
/// | `M`, `MM`, `MMM`, `MMMM` | the month; with two digits; in short; in full |
/// | `y`, `yy`, `yyyy` | the year of the century; with two digits; the year |
/// | `h`, `hh`, `H`, `HH` | the hour of 12, of 24; with two digits |
/// | `m`, `mm`, `s`, `ss` | the minute, the second; with two digits |
/// | `t`, `tt` | `A` or `P`; `AM` or `PM` |
/// | `z`, `zz` | the hours by which the time zone is ahead of UTC, with a sign; with two digits |
/// | `N`, `NN`, … | the serial number, with as many digits at least |
/// | `\` and a character | the character |
///
/// `T` means `t`. Blanks, commas and colons mean themselves. Other characters, and other numbers of letters, are refused.
/// Names of days and months are English.
///
/// ```
/// use pla_engine::PathPattern;
///
/// let pattern: PathPattern = r"yyyyMMdd\-NNNNNN".parse()?;
/// let time = "2020-09-14T16:30[Europe/Berlin]".parse()?;
/// assert_eq!(pattern.text(10, &time), "20200914-000010");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PathPattern(Vec<Piece>);

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pattern of a name: {reason}, at character {}", position + 1)]
pub struct PathPatternError {
    /// Characters before the mistake.
    pub position: usize,
    /// What is wrong there, and what belongs there.
    pub reason: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Char(char),
    Serial { digits: usize },
    Field(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    DayOfYear { digits: usize },
    Day { digits: usize },
    WeekDay { is_full: bool },
    Month { digits: usize },
    MonthName { is_full: bool },
    YearOfCentury { digits: usize },
    Year,
    Hour12 { digits: usize },
    Hour24 { digits: usize },
    Minute { digits: usize },
    Second { digits: usize },
    HalfDay { is_full: bool },
    Offset { digits: usize },
}

/// The longest pattern, in characters.
const CHARS_MAX: usize = 255;
/// As many digits as the highest serial number has, and some more.
const SERIAL_DIGITS_MAX: usize = 16;

impl PathPattern {
    /// The text for a run with a serial number that starts at a time, in the time zone that it is in.
    #[must_use]
    pub fn text(&self, serial_number: u32, time: &ZonedDateTime) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match *piece {
                Piece::Char(c) => text.push(c),
                Piece::Serial { digits } => push_number(&mut text, serial_number, digits),
                Piece::Field(field) => push_field(&mut text, field, time),
            }
        }
        text
    }

    /// Whether it adds nothing to a name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for PathPattern {
    type Err = PathPatternError;

    fn from_str(text: &str) -> Result<Self, PathPatternError> {
        let chars: Vec<char> = text.chars().take(CHARS_MAX + 1).collect();
        if chars.len() > CHARS_MAX {
            return Err(PathPatternError { position: CHARS_MAX, reason: "it is longer than 255 characters" });
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            let fail = |reason| PathPatternError { position: at, reason };
            if c == '\\' {
                let escaped = chars.get(at + 1).copied();
                pieces.push(Piece::Char(
                    escaped.ok_or_else(|| fail("a character is missing behind this backslash"))?,
                ));
                at += 2;
            } else if means_itself(c) {
                pieces.push(Piece::Char(c));
                at += 1;
            } else {
                let letter = letter(c);
                let count = chars[at..].iter().take_while(|c| self::letter(**c) == letter).count();
                pieces.push(piece(letter, count).map_err(fail)?);
                at += count;
            }
        }
        Ok(Self(pieces))
    }
}

/// White space, and the punctuation of the example in [MS-PLA] 2.2.3.1.
fn means_itself(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ':')
}

/// The example has `Tt`, too.
const fn letter(c: char) -> char {
    if c == 'T' { 't' } else { c }
}

/// The piece that some equal letters are.
fn piece(letter: char, count: usize) -> Result<Piece, &'static str> {
    let digits = count;
    let field = match (letter, count) {
        ('N', 1..=SERIAL_DIGITS_MAX) => return Ok(Piece::Serial { digits }),
        ('N', _) => return Err("more than 16 digits of the serial number"),
        ('D', 1 | 3) => Field::DayOfYear { digits },
        ('d', 1 | 2) => Field::Day { digits },
        ('d', 3 | 4) => Field::WeekDay { is_full: count == 4 },
        ('M', 1 | 2) => Field::Month { digits },
        ('M', 3 | 4) => Field::MonthName { is_full: count == 4 },
        ('y', 1 | 2) => Field::YearOfCentury { digits },
        ('y', 4) => Field::Year,
        ('h', 1 | 2) => Field::Hour12 { digits },
        ('H', 1 | 2) => Field::Hour24 { digits },
        ('m', 1 | 2) => Field::Minute { digits },
        ('s', 1 | 2) => Field::Second { digits },
        ('t', 1 | 2) => Field::HalfDay { is_full: count == 2 },
        ('z', 1 | 2) => Field::Offset { digits },
        ('D', _) => return Err("the day of the year is `D` or `DDD`"),
        ('d', _) => return Err("a day is `d`, `dd`, `ddd` or `dddd`"),
        ('M', _) => return Err("a month is `M`, `MM`, `MMM` or `MMMM`"),
        ('y', _) => return Err("a year is `y`, `yy` or `yyyy`"),
        ('h' | 'H' | 'm' | 's' | 't' | 'z', _) => return Err("this letter is written once or twice"),
        _ => return Err("this character has no meaning: write a backslash before it to have it in the name"),
    };
    Ok(Piece::Field(field))
}

fn push_field(text: &mut String, field: Field, time: &ZonedDateTime) {
    let half_day = if time.hour() < 12 { "AM" } else { "PM" };
    let hour_12 = (time.hour() + 11) % 12 + 1;
    match field {
        Field::DayOfYear { digits } => push_number(text, time.day_of_year(), digits),
        Field::Day { digits } => push_number(text, time.day(), digits),
        Field::WeekDay { is_full } => *text += shortened(week_day(time.weekday()), is_full),
        Field::Month { digits } => push_number(text, time.month(), digits),
        Field::MonthName { is_full } => *text += shortened(month(time.month()), is_full),
        Field::YearOfCentury { digits } => push_number(text, time.year().rem_euclid(100), digits),
        Field::Year => push_number(text, time.year().unsigned_abs(), 4),
        Field::Hour12 { digits } => push_number(text, hour_12, digits),
        Field::Hour24 { digits } => push_number(text, time.hour(), digits),
        Field::Minute { digits } => push_number(text, time.minute(), digits),
        Field::Second { digits } => push_number(text, time.second(), digits),
        Field::HalfDay { is_full } => *text += if is_full { half_day } else { &half_day[..1] },
        Field::Offset { digits } => {
            let seconds = time.offset().seconds();
            text.push(if seconds < 0 { '-' } else { '+' });
            push_number(text, (seconds / 3_600).unsigned_abs(), digits);
        }
    }
}

/// A number with as many digits at least.
pub(crate) fn push_number(text: &mut String, number: impl core::fmt::Display, digits: usize) {
    // Writing to a string does not fail.
    let _ = write!(text, "{number:0digits$}");
}

/// The first three letters, or all.
fn shortened(name: &'static str, is_full: bool) -> &'static str {
    if is_full { name } else { &name[..3] }
}

const fn week_day(day: Weekday) -> &'static str {
    match day {
        Weekday::Sunday => "Sunday",
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
    }
}

const fn month(month: i8) -> &'static str {
    match month {
        1 => "January",
        2 => "February",
        3 => "March",
        4 => "April",
        5 => "May",
        6 => "June",
        7 => "July",
        8 => "August",
        9 => "September",
        10 => "October",
        11 => "November",
        _ => "December",
    }
}
