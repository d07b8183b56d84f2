//! Words of `dbgrpc` for values, and texts that a terminal can be given.

use crate::{CallFlags, ProtocolSequence};

/// How `dbgrpc` abbreviates a protocol sequence; its number if it has no abbreviation.
#[must_use]
pub fn short(protocol_sequence: ProtocolSequence) -> String {
    match protocol_sequence {
        ProtocolSequence::TCP => "TCP".to_owned(),
        ProtocolSequence::UDP => "UDP".to_owned(),
        ProtocolSequence::NAMED_PIPE => "NMP".to_owned(),
        ProtocolSequence::LOCAL => "LRPC".to_owned(),
        ProtocolSequence::HTTP => "HTTP".to_owned(),
        other => format!("{:#04x}", other.0),
    }
}

/// A value's name as a label, `Dispatched`; its number if it has none.
#[must_use]
pub fn label(name: Option<&str>, number: u32) -> String {
    let Some(name) = name else { return format!("{number:#x}") };
    let mut letters = name.chars();
    let first = letters.next().into_iter();
    first
        .chain(letters.map(|letter| letter.to_ascii_lowercase()))
        .map(|c| if c == '_' { ' ' } else { c })
        .collect()
}

/// The flags of a call: `cached, LRPC`.
pub(crate) fn call_flags(flags: CallFlags) -> String {
    let known = [
        (CallFlags::CACHED, "cached"),
        (CallFlags::ASYNC, "async"),
        (CallFlags::PIPE, "pipe"),
        (CallFlags::LRPC, "LRPC"),
    ];
    let mut words: Vec<String> =
        known.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, word)| (*word).to_owned()).collect();
    let rest = known.iter().fold(flags.0, |rest, (flag, _)| rest & !flag.0);
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_a_name_are_numbers() {
        assert_eq!(label(Some("PKT_PRIVACY"), 6), "Pkt privacy");
        assert_eq!(label(None, 9), "0x9");
        assert_eq!(call_flags(CallFlags(0x19)), "cached, LRPC, 0x10");
        assert_eq!(call_flags(CallFlags(0)), "none");
        assert_eq!(short(ProtocolSequence(0x13)), "0x13");
    }
}
