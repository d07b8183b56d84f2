use core::fmt;

/// What values are in, as far as a type or a name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Unknown.
    None,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Parts of one.
    Ratio,
    /// Cycles a second.
    Hertz,
    /// Degrees Celsius.
    Celsius,
}

impl Unit {
    /// The word that exposition formats use; empty for [`Unit::None`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Ratio => "ratio",
            Self::Hertz => "hertz",
            Self::Celsius => "celsius",
        }
    }

    /// The unit of values that are amounts, for which a name with percent means nothing.
    pub(crate) const fn amount(self) -> Self {
        match self {
            Self::Ratio => Self::None,
            other => other,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an English counter name says about the unit of its raw values.
///
/// Only what is safe: `Bytes` as a word of its own that is what is counted (`Bytes Received/sec`, `Private Bytes`,
/// `Avg. Disk Bytes/Read`), and a `%` at the beginning. Multiples (`MBytes`, `KB`) stay without a unit, since their
/// values would have to be changed on a guess.
#[must_use]
pub fn unit_of_name(name: &str) -> Unit {
    if name.trim_start().starts_with('%') {
        return Unit::Ratio;
    }
    // What stands behind a slash is what is divided by.
    let counted = name.split('/').next().unwrap_or_default();
    let is_bytes = |word: &str| word.eq_ignore_ascii_case("bytes");
    if counted.split(|c: char| !c.is_alphanumeric()).any(is_bytes) { Unit::Bytes } else { Unit::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_bytes_and_percent_and_nothing_else() {
        let check = |name, unit| assert_eq!(unit_of_name(name), unit, "{name}");
        check("Bytes Received/sec", Unit::Bytes);
        check("Private Bytes", Unit::Bytes);
        check("Avg. Disk Bytes/Read", Unit::Bytes);
        check("FileSystem Bytes Read", Unit::Bytes);
        check("% Performance Limit", Unit::Ratio);
        check("Available MBytes", Unit::None);
        check("Packets/Bytes", Unit::None);
        check("Cache Hits %", Unit::None);
        check("Kilobytes Sent", Unit::None);
        check("", Unit::None);
    }
}
