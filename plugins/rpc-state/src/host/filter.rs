//! Which ports of a host are asked.

use std::ops::RangeInclusive;

use rpc::SyntaxId;
use serde::Deserialize;

/// A port or a range of them, as `135` or `49152-65535`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "PortText", expecting = "a port or a range of ports such as `49152-65535`")]
pub(super) struct Ports(RangeInclusive<u16>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a port or a range of ports such as `49152-65535`")]
enum PortText {
    Number(u16),
    Text(String),
}

impl TryFrom<PortText> for Ports {
    type Error = String;

    fn try_from(text: PortText) -> Result<Self, String> {
        let range = match text {
            PortText::Number(port) => Some(port..=port),
            PortText::Text(text) => {
                let (first, last) = text.split_once('-').unwrap_or((&text, &text));
                let port = |digits: &str| digits.trim().parse::<u16>().ok();
                port(first).zip(port(last)).map(|(first, last)| first..=last)
            }
        };
        let is_range = |range: &RangeInclusive<u16>| *range.start() > 0 && !range.is_empty();
        let wrong = || "write a port or a range of ports such as `49152-65535`".to_owned();
        range.filter(is_range).map(Self).ok_or_else(wrong)
    }
}

/// Which ports are asked. What is empty selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) ports: Vec<Ports>,
    /// By the UUID of an interface that is registered there: patterns.
    pub(super) interfaces: Vec<String>,
    /// By what a program says of itself: patterns.
    pub(super) annotations: Vec<String>,
}

impl Filter {
    /// Whether a port is asked because of an interface that is registered there.
    pub(super) fn selects(&self, port: u16, interface: &SyntaxId, annotation: &str) -> bool {
        let is_described = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, text))
        };
        self.selects_port(port)
            && is_described(&self.interfaces, &interface.uuid.to_string())
            && is_described(&self.annotations, annotation)
    }

    /// The same for the mapper's own port, which has nothing registered.
    pub(super) fn selects_mapper(&self, port: u16) -> bool {
        self.selects_port(port) && self.interfaces.is_empty() && self.annotations.is_empty()
    }

    fn selects_port(&self, port: u16) -> bool {
        self.ports.is_empty() || self.ports.iter().any(|Ports(range)| range.contains(&port))
    }
}

/// Whether a pattern describes the whole text: `*` stands for any characters, `?` for one. Case does not matter.
fn matches(pattern: &str, text: &str) -> bool {
    let fold = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (pattern, text) = (fold(pattern), fold(text));
    let (mut at, mut read) = (0, 0);
    // The last `*`, and how far it reaches: it is enough to let that one grow.
    let mut star = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[read] => (at, read) = (at + 1, read + 1),
            _ => {
                let Some((place, end)) = star else { return false };
                star = Some((place, end + 1));
                (at, read) = (place + 1, end + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_describes_whole_texts() {
        for (pattern, text) in [
            ("*", ""),
            ("remote*", "RemoteRegistry Interface"),
            ("*interface", "RemoteRegistry Interface"),
            ("*a*b?", "xxaYYaZZabc"),
            ("338CD001-*", "338cd001-2244-31f1-aaaa-900038001003"),
            ("", ""),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("remote", "RemoteRegistry"), ("?", ""), ("*a*b?", "ab"), ("", "x"), ("a*b", "abc")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_its_text_times_itself() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
        assert!(!matches(&format!("{}b", "*a".repeat(500)), &"a".repeat(20_000)));
    }
}
