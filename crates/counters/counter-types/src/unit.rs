use core::fmt;

/// The unit of values, as far as the type or the name defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    None,
    Seconds,
    Bytes,
    Bits,
    Ratio,
    Hertz,
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
            Self::Bits => "bits",
            Self::Ratio => "ratio",
            Self::Hertz => "hertz",
            Self::Celsius => "celsius",
        }
    }

    /// The unit of values that are amounts; percent in the name is ignored.
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

/// The unit of a counter's raw values by its English name.
///
/// Only safe cases: `Bytes` as a separate word before a slash (`Bytes Received/sec`, `Private Bytes`, `Avg. Disk
/// Bytes/Read`), and a leading `%`. Multiples (`MBytes`, `KB`) get no unit, because their values would have to be
/// converted on a guess.
#[must_use]
pub fn unit_of_name(name: &str) -> Unit {
    if name.trim_start().starts_with('%') {
        return Unit::Ratio;
    }
    // The part after a slash is the divisor.
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
