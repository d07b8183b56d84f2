use crate::{Column, LogHeader};
use jiff::tz::TimeZone;

use crate::database::Error;

/// A log as PDH's tables describe it: its name, its counters, and its time zone.
#[derive(Clone, Debug)]
pub struct Log {
    pub(crate) name: String,
    /// One for each column of the log.
    pub(crate) counters: Vec<Counter>,
    pub(crate) zone: TimeZone,
}

/// [MS-PLA] 2.2.2.7: a row of `CounterDetails` without its `CounterID`. `ParentObjectID` is always null, because parents have
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Counter {
    /// With two backslashes before it, as PDH writes it.
    pub(crate) machine: String,
    pub(crate) object: String,
    pub(crate) counter: String,
    pub(crate) counter_type: i32,
    pub(crate) default_scale: i32,
    /// Null where the counterset has one instance only, as is its index then.
    pub(crate) instance: Option<String>,
    pub(crate) instance_index: Option<i32>,
    pub(crate) parent: Option<String>,
    pub(crate) time_base: Halves,
}

/// The low and the high half of a number of 64 bits, as the tables have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Halves {
    pub(crate) low: i32,
    pub(crate) high: i32,
}

impl Log {
    /// A log of this name, `DisplayString` of the table `DisplayToID`. A log with the name of an earlier one continues it.
    ///
    /// Names of counters that are longer than the tables' 1,024 characters are cut, and NUL becomes U+FFFD in them.
    ///
    /// # Errors
    /// The name is empty, too long or has control characters, or there are too many columns.
    pub fn new(name: &str, header: LogHeader) -> Result<Self, Error> {
        let characters = name.chars().count();
        if characters == 0 || characters > TEXT_CHARACTERS_MAX || name.chars().any(char::is_control) {
            return Err(Error::Name { characters, max: TEXT_CHARACTERS_MAX });
        }
        let columns = header.columns.len();
        if columns > COLUMNS_MAX {
            return Err(Error::TooManyColumns { log: name.to_owned(), columns, max: COLUMNS_MAX });
        }
        let counters = header.columns.iter().map(Counter::of).collect();
        Ok(Self { name: name.to_owned(), counters, zone: header.zone })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Counter {
    fn of(column: &Column) -> Self {
        let index = i32::try_from(column.instance_index).unwrap_or(i32::MAX);
        Self {
            machine: fitting(&format!(r"\\{}", column.machine)),
            object: fitting(&column.object),
            counter: fitting(&column.counter),
            counter_type: column.counter_type.cast_signed(),
            default_scale: column.default_scale,
            instance: column.instance.as_deref().map(fitting),
            instance_index: column.instance.as_ref().map(|_| index),
            parent: column.parent.as_deref().map(fitting),
            time_base: Halves::of(column.time_base),
        }
    }
}

impl Halves {
    pub(crate) const fn of(number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
        Self { low: i32::from_le_bytes([a, b, c, d]), high: i32::from_le_bytes([e, f, g, h]) }
    }
}

/// Hosts choose these texts; one that the tables cannot hold must not keep a log from the others.
fn fitting(text: &str) -> String {
    let is_nul = |character| if character == '\0' { char::REPLACEMENT_CHARACTER } else { character };
    text.chars().take(TEXT_CHARACTERS_MAX).map(is_nul).collect()
}

/// What PDH's columns of names have room for.
pub(crate) const TEXT_CHARACTERS_MAX: usize = 1024;

/// Maximum number of counters of a log.
pub const COLUMNS_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn column() -> Column {
        Column {
            machine: "WEB1".to_owned(),
            object: "Process".to_owned(),
            parent: None,
            instance: Some("svchost".to_owned()),
            instance_index: 2,
            counter: "% Processor Time".to_owned(),
            counter_type: 0xA041_0500,
            default_scale: -1,
            time_base: 0x0000_0001_8000_0000,
        }
    }

    #[test]
    fn numbers_above_31_bits_keep_their_bits() {
        let counter = Counter::of(&column());
        assert_eq!(counter.machine, r"\\WEB1");
        assert_eq!(counter.counter_type, -0x5FBE_FB00);
        assert_eq!(counter.time_base, Halves { low: i32::MIN, high: 1 });
        assert_eq!(counter.instance_index, Some(2));
    }

    #[test]
    fn a_counterset_with_one_instance_has_no_index() {
        let counter = Counter::of(&Column { instance: None, instance_index: 0, ..column() });
        assert_eq!((counter.instance, counter.instance_index), (None, None));
    }

    #[test]
    fn a_text_that_a_host_made_too_long_is_cut_at_a_character() {
        let counter =
            Counter::of(&Column { instance: Some(format!("\0{}", "ä".repeat(2_000))), ..column() });
        let instance = counter.instance.expect("the column has one");
        assert_eq!(instance.chars().count(), TEXT_CHARACTERS_MAX);
        assert!(instance.starts_with("\u{FFFD}ä"));
    }

    #[test]
    fn a_name_that_the_table_cannot_hold_is_refused() {
        let header = || LogHeader { columns: vec![], zone: TimeZone::UTC, description: String::new() };
        for name in ["", "a\nb", &"x".repeat(1_025)] {
            assert!(matches!(Log::new(name, header()), Err(Error::Name { .. })), "{name:?}");
        }
        assert!(Log::new(&"x".repeat(1_024), header()).is_ok());
    }
}
