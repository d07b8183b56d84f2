//! What the prefixes of one chunk have in common, so that encoders need not search them for labels.

use super::Labels;
use super::name::is_legacy_label;

/// The label names of a chunk's first series, in their order; nearly always those of all its series.
///
/// A series is regular if it has these labels, no name of them in quotes, no value with an escape, and each label
/// is short. Then the lengths of its values, which the chunk keeps in a byte each, say where everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Where the first label begins.
    head: usize,
    names: Vec<Box<str>>,
}

impl Shape {
    /// Stands for the length of a value of a series that is not regular.
    pub const IRREGULAR: u8 = u8::MAX;
    /// Name and value of a label that is short have together fewer bytes than this: in protobuf, the length of the
    /// label with its framing is one byte.
    pub const LABEL_BYTES_END: usize = 124;

    pub(super) fn of_prefix(prefix: &str) -> Self {
        match prefix.find('{') {
            Some(open) if open > 0 => {
                let names = Labels::of_prefix(prefix).map(|(name, _)| name.into());
                Self { head: open + 1, names: names.collect() }
            }
            _ => Self::default(),
        }
    }

    /// Appends the lengths of the values, one byte for each of [`Shape::names`]. Answers whether the series is regular.
    pub(super) fn measure(&self, prefix: &str, lengths: &mut Vec<u8>) -> bool {
        let begin = lengths.len();
        let mut labels = Labels::of_prefix(prefix);
        let regular = prefix.find('{').is_some_and(|open| open + 1 == self.head)
            && self.names.iter().all(|own| match labels.next_escaped() {
                Some((name, value)) => {
                    lengths.push(u8::try_from(value.len()).unwrap_or(Self::IRREGULAR));
                    name == &**own && is_legacy_label(name) && is_short(name, value) && !value.contains('\\')
                }
                None => false,
            })
            && labels.next_escaped().is_none();
        if !regular {
            lengths.truncate(begin);
            lengths.resize(begin + self.names.len(), Self::IRREGULAR);
        }
        regular
    }

    /// Where the first label's name begins in a prefix.
    #[must_use]
    pub fn head(&self) -> usize {
        self.head
    }

    #[must_use]
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }
}

fn is_short(name: &str, value: &str) -> bool {
    name.len() + value.len() < Shape::LABEL_BYTES_END
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(first: &str, prefix: &str) -> Vec<u8> {
        let mut lengths = vec![9];
        Shape::of_prefix(first).measure(prefix, &mut lengths);
        assert_eq!(lengths.remove(0), 9, "what was there stays");
        lengths
    }

    #[test]
    fn a_regular_series_is_known_by_the_lengths_of_its_values() {
        let first = r#"m{a="1",bc="22"} "#;
        assert_eq!((Shape::of_prefix(first).head(), Shape::of_prefix(first).names().len()), (2, 2));
        assert_eq!(lengths(first, first), [1, 2]);
        assert_eq!(lengths(first, r#"m{a="",bc="333"} "#), [0, 3]);
    }

    #[test]
    fn everything_else_is_irregular() {
        let first = r#"m{a="1",bc="22"} "#;
        let long = format!(r#"m{{a="1",bc="{}"}} "#, "x".repeat(200));
        let escaped = r#"m{a="1",bc="\\"} "#;
        for prefix in
            [r#"m{a="1"} "#, r#"m{a="1",bd="2"} "#, r#"m{a="1",bc="2",d="3"} "#, escaped, &long, "m "]
        {
            assert_eq!(lengths(first, prefix), [Shape::IRREGULAR; 2], "{prefix}");
        }
        let quoted = r#"m{"a.b"="1"} "#;
        assert_eq!(lengths(quoted, quoted), [Shape::IRREGULAR]);
        for none in ["m ", r#"{"m.m",a="1"} "#, r#"{"m.m"} "#] {
            assert_eq!(lengths(none, none), [] as [u8; 0]);
        }
    }
}
