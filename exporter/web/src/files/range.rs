//! Which part of a file is asked for, RFC 9110 section 14.

use std::ops::Range;

/// What is sent of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it, so many bytes.
    All(u64),
    Some(Range<u64>),
}

impl Part {
    pub(super) fn bytes(&self) -> Range<u64> {
        match self {
            Self::All(bytes) => 0..*bytes,
            Self::Some(bytes) => bytes.clone(),
        }
    }
}

/// The part of a file of `whole` bytes that the header `Range` asks for; nothing if it begins after the file's end. A
/// header that makes no sense, and one with several ranges, may be ignored, and is.
pub(super) fn part(range: Option<&str>, whole: u64) -> Option<Part> {
    let all = Some(Part::All(whole));
    let Some(range) = range.and_then(|range| range.trim().strip_prefix("bytes=")) else { return all };
    let Some((first, last)) = range.split_once('-') else { return all };
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // One that is too large is after the end of any file.
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => all,
        (Some(first), last) if last.is_some() || last_is_open(range) => {
            let end = last.map_or(whole, |last| last.saturating_add(1).min(whole));
            (first < whole).then_some(Part::Some(first..end))
        }
        (None, Some(bytes)) if first.is_empty() => {
            (bytes > 0 && whole > 0).then(|| Part::Some(whole.saturating_sub(bytes)..whole))
        }
        _ => all,
    }
}

fn last_is_open(range: &str) -> bool {
    range.ends_with('-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_range_is_answered_and_what_makes_no_sense_is_ignored() {
        let check = |range: &str, expected: Option<Range<u64>>| {
            assert_eq!(part(Some(range), 100), expected.map(Part::Some), "{range}");
        };
        check("bytes=0-0", Some(0..1));
        check("bytes=10-19", Some(10..20));
        check("bytes=90-", Some(90..100));
        check("bytes=90-1000", Some(90..100));
        check("bytes=-10", Some(90..100));
        check("bytes=-1000", Some(0..100));
        check("bytes=99-99999999999999999999999", Some(99..100));
        check("bytes=100-", None);
        check("bytes=99999999999999999999999-", None);
        check("bytes=-0", None);
        let ignored = [
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=5-4",
            "bytes=0-1,5-6",
            "bytes=+1-2",
            "lines=1-2",
            "bytes 1-2",
        ];
        for range in ignored {
            assert_eq!(part(Some(range), 100), Some(Part::All(100)), "{range}");
        }
        assert_eq!(part(None, 100), Some(Part::All(100)));
        assert_eq!(part(Some("bytes=0-"), 0), None, "nothing is in it");
        assert_eq!(part(None, 0), Some(Part::All(0)));
    }

    proptest! {
        #[test]
        fn a_part_is_in_the_file_and_is_not_empty(range in "(bytes=)?[0-9]{0,22}-[0-9,x-]{0,22}", whole: u64) {
            match part(Some(&range), whole) {
                Some(Part::Some(bytes)) => prop_assert!(bytes.start < bytes.end && bytes.end <= whole),
                Some(Part::All(bytes)) => prop_assert_eq!(bytes, whole),
                None => {}
            }
        }
    }
}
