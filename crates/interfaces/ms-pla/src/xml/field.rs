//! How values are written in the XML of a set.

use core::fmt;

use wire::Guid;

use super::{Element, Error, Node};
use crate::types::{
    AutoPathFormat, ClockType, DataCollectorSetStatus, DataCollectorType, FileFormat, FolderActionSteps,
    ResourcePolicy, StreamMode, ValueMapType, WeekDays, parse_number,
};

/// What an element of a known name is.
pub(super) trait Field: Sized {
    /// Reads it; the element itself if it cannot be read, or says nothing.
    fn read(element: Element) -> Result<Self, Element>;

    fn write(&self, name: &str) -> Element;

    /// Why an element cannot be read, if it says something.
    fn unread(_element: &Element) -> Option<Error> {
        None
    }

    /// Why parts of it were not read.
    fn unread_parts(&self, _name: &str, _unread: &mut Vec<Error>) {}
}

impl Field for Element {
    fn read(element: Element) -> Result<Self, Element> {
        Ok(element)
    }

    fn write(&self, _name: &str) -> Element {
        self.clone()
    }
}

/// A value that is written as text.
trait Scalar: Sized {
    /// What it is, for errors.
    const WHAT: &'static str;

    fn parse(text: &str) -> Option<Self>;

    fn print(&self) -> String;
}

impl<T: Scalar> Field for T {
    fn read(element: Element) -> Result<Self, Element> {
        element.text().and_then(T::parse).ok_or(element)
    }

    fn unread(element: &Element) -> Option<Error> {
        let reason = match element.text() {
            None => "has elements, and should be text".to_owned(),
            Some(text) if text.trim().is_empty() => return None,
            Some(text) => format!("has `{}`, which is no {}", super::read::shown(text), T::WHAT),
        };
        Some(Error::new(element.position, "", reason))
    }

    fn write(&self, name: &str) -> Element {
        let text = self.print();
        let nodes = if text.is_empty() { Vec::new() } else { vec![Node::Text(text)] };
        Element { name: name.to_owned(), nodes, ..Element::default() }
    }
}

impl Scalar for String {
    const WHAT: &'static str = "text";

    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn print(&self) -> String {
        self.clone()
    }
}

impl Scalar for bool {
    const WHAT: &'static str = "boolean";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            text if text.eq_ignore_ascii_case("true") => Some(true),
            text if text.eq_ignore_ascii_case("false") => Some(false),
            text => parse_number(text).map(|number| number != 0),
        }
    }

    fn print(&self) -> String {
        if *self { "-1" } else { "0" }.to_owned()
    }
}

/// Numbers that are above the highest signed one may be written as negative ones.
impl Scalar for u32 {
    const WHAT: &'static str = "number of 32 bits";

    fn parse(text: &str) -> Option<Self> {
        let number = parse_number(text.trim())?;
        let signed = i32::try_from(number.cast_signed()).ok().map(i32::cast_unsigned);
        Self::try_from(number).ok().or(signed)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

macro_rules! enumerations {
    ($($name:ident)*) => {$(
        impl Scalar for $name {
            const WHAT: &'static str = stringify!($name);

            fn parse(text: &str) -> Option<Self> {
                parse_number(text.trim())?.try_into().ok().map(Self)
            }

            fn print(&self) -> String {
                self.0.to_string()
            }
        }
    )*};
}

enumerations! {
    AutoPathFormat ClockType DataCollectorSetStatus DataCollectorType FileFormat FolderActionSteps ResourcePolicy
    StreamMode ValueMapType WeekDays
}

/// In braces or without.
impl Scalar for Guid {
    const WHAT: &'static str = "GUID";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text).parse().ok()
    }

    fn print(&self) -> String {
        format!("{{{self}}}").to_uppercase()
    }
}

/// A day: `9/14/2020` or `09/14/2020`, as Windows writes it by default. It is written as the latter.
///
/// Tools and other languages of Windows write it otherwise: `2020-09-14`, `14.09.2020`, `14-9-2020`, and `14/9/2020`, where the
/// first number can be no month. A time after it that is midnight says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Date {
    /// The year, with four digits.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}/{:02}/{:04}", self.month, self.day, self.year)
    }
}

impl Scalar for Date {
    const WHAT: &'static str = "date as month/day/year";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = text.split_once(['T', ' ', '\u{a0}', '\u{202f}']).unwrap_or((text, ""));
        if !time.is_empty() && Time::parse(time)? != (Time { hour: 0, minute: 0, second: 0 }) {
            return None;
        }
        let separator = date.chars().find(|c| matches!(c, '/' | '.' | '-'))?;
        let mut parts = date.split(separator);
        let [first, second, third] = [parts.next()?, parts.next()?, parts.next()?];
        let is_year_first = first.len() == 4;
        let (year, [one, two]) = if is_year_first {
            (number(first, 4)?, [number(second, 2)?, number(third, 2)?])
        } else {
            (number(third, 4)?, [number(first, 2)?, number(second, 2)?])
        };
        let is_day_first = !is_year_first
            && match separator {
                '.' => true,
                '-' => two <= 12,
                _ => one > 12,
            };
        let (month, day) = if is_day_first { (two, one) } else { (one, two) };
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        let is_date = parts.next().is_none() && (1..=days).contains(&day) && year >= 1000;
        is_date.then_some(Self { year, month: month.try_into().ok()?, day: day.try_into().ok()? })
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

/// A time of day: `16:00:00` or `4:00:00 PM`. It is written as the former. Seconds may be left out, the signs between the numbers
/// may be points, and blanks before AM and PM may be of any kind or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    /// From 0 to 23.
    pub hour: u8,
    /// From 0 to 59.
    pub minute: u8,
    /// From 0 to 59.
    pub second: u8,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

impl Scalar for Time {
    const WHAT: &'static str = "time as hours:minutes:seconds";

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !matches!(c, '0'..='9' | ':' | '.')).unwrap_or(text.len());
        let (clock, half) = text.split_at(end);
        let separator = if clock.contains(':') { ':' } else { '.' };
        let mut parts = clock.split(separator);
        let [hour, minute, second] =
            [number(parts.next()?, 2)?, number(parts.next()?, 2)?, number(parts.next().unwrap_or("0"), 2)?];
        let half: String = half.chars().filter(|c| !c.is_whitespace() && *c != '.').collect();
        let hour = match half.to_ascii_uppercase().as_str() {
            "" => hour,
            // Noon and midnight are 12.
            "AM" if (1..=12).contains(&hour) => hour % 12,
            "PM" if (1..=12).contains(&hour) => hour % 12 + 12,
            _ => return None,
        };
        let is_time = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
        let [hour, minute, second] = [hour, minute, second].map(|part| part.try_into().unwrap_or_default());
        is_time.then_some(Self { hour, minute, second })
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

/// A number of at most so many digits.
fn number(text: &str, digits_max: usize) -> Option<u16> {
    let is_number =
        (1..=digits_max).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}
