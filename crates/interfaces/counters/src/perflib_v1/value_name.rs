use std::fmt::Write as _;

/// The value with all objects but the costly ones. Request it only if all of them are needed: the host calls every
/// provider.
pub const GLOBAL: &str = "Global";
/// The value with the costly objects.
pub const COSTLY: &str = "Costly";

/// The name of the value of `HKEY_PERFORMANCE_DATA` that holds these objects: their indexes with spaces between them.
///
/// ```
/// assert_eq!(counters::perflib_v1::value_name(&[2, 238]), "2 238");
/// ```
#[must_use]
pub fn value_name(objects: &[u32]) -> String {
    let mut name = String::with_capacity(objects.len() * 5);
    for object in objects {
        if !name.is_empty() {
            name.push(' ');
        }
        // Writing into a string does not fail.
        let _ = write!(name, "{object}");
    }
    name
}

/// Which of a host's tables of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// Names of objects and counters.
    Counter,
    Help,
}

impl NameKind {
    /// The name of the value that holds the table in a language, which is its primary identifier: 9 for English.
    #[must_use]
    pub fn value_name(self, language: u16) -> String {
        let table = match self {
            Self::Counter => "Counter",
            Self::Help => "Help",
        };
        format!("{table} {language:03X}")
    }
}
