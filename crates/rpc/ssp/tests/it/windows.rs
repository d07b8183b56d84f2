//! A sealed conversation of Windows, verified by its session key.

use ssp::{Message, NegotiateFlags, Protection, Session, SessionKey, Side};

const CONVERSATION: &str = include_str!("../data/windows_sealed_ntlm.txt");

const FLAGS: NegotiateFlags = NegotiateFlags(
    NegotiateFlags::SIGN
        | NegotiateFlags::SEAL
        | NegotiateFlags::EXTENDED_SESSION_SECURITY
        | NegotiateFlags::KEY_128
        | NegotiateFlags::KEY_EXCHANGE,
);

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The lines with this letter.
fn lines(letter: &str) -> Vec<Vec<u8>> {
    let words = CONVERSATION.lines().filter_map(|line| line.split_once(' '));
    words.filter(|(word, _)| *word == letter).map(|(_, hex)| bytes(hex)).collect()
}

fn session(side: Side, flags: NegotiateFlags) -> Session {
    let key: [u8; 16] = lines("k").remove(0).try_into().unwrap();
    Session::new(SessionKey::new(key), flags, side).unwrap()
}

/// A PDU cut into header, stub data, sec_trailer and signature; `None` if it has no signature.
fn parts(pdu: &mut [u8]) -> Option<Message<'_>> {
    let signature_len = usize::from(u16::from_le_bytes([pdu[10], pdu[11]]));
    if signature_len == 0 {
        return None;
    }
    let end = pdu.len() - signature_len;
    let (message, signature) = pdu.split_at_mut(end);
    let (message, trailer) = message.split_at_mut(end - 8);
    let (header, body) = message.split_at_mut(24);
    Some(Message { protection: Protection::Privacy, header, body, trailer, signature })
}

#[test]
fn a_sealed_conversation_of_windows_is_read_and_written_as_it_was() {
    for (letter, reader, writer, sealed) in
        [("c", Side::Server, Side::Client, 4), ("s", Side::Client, Side::Server, 2)]
    {
        let (mut reader, mut writer) = (session(reader, FLAGS), session(writer, FLAGS));
        let mut count = 0;
        for theirs in lines(letter) {
            let mut plain = theirs.clone();
            let Some(message) = parts(&mut plain) else { continue };
            reader.unwrap(message).unwrap();
            let mut ours = plain.clone();
            parts(&mut ours).unwrap().signature.fill(0);
            writer.wrap(parts(&mut ours).unwrap());
            assert_eq!(ours, theirs, "{letter}");
            count += 1;
        }
        assert_eq!(count, sealed);
    }
}

#[test]
fn a_bit_that_is_changed_anywhere_is_noticed() {
    let pdu = lines("c").remove(0);
    // But for auth_length, with which the parts are others.
    for at in (0..pdu.len()).filter(|at| !(10..12).contains(at)) {
        let mut changed = pdu.clone();
        changed[at] ^= 1;
        session(Side::Server, FLAGS).unwrap(parts(&mut changed).unwrap()).unwrap_err();
    }
}

#[test]
fn a_session_without_extended_security_is_none() {
    let flags = NegotiateFlags(FLAGS.0 & !NegotiateFlags::EXTENDED_SESSION_SECURITY);
    let key = SessionKey::new([7; 16]);
    let Err(error) = Session::new(key, flags, Side::Client) else { panic!("it is weak") };
    assert_eq!(error.to_string(), "the other side does not agree to extended session security");
}
