//! What a request says beside its path.

use std::time::Duration;

use http_server::parsers;
use web;

use crate::exporter::Input;

/// A query of `/probe` with the header that says how long the scrape may take: what comes out was asked for, is small
/// and without control characters, and a query made of it asks for the same.
pub fn probe(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let timeout = input.chunk().filter(|timeout| !timeout.is_empty());
    let query = input.rest();
    match web::parsers::probe_request(query, timeout) {
        None => {}
        Some(Err(message)) => {
            assert!(!message.is_empty() && message.len() <= 4 * query.len() + 256, "{message}");
        }
        Some(Ok(asked)) => {
            let texts = [Some(&asked.target), asked.identity.as_ref(), asked.transport.as_ref()];
            let texts: Vec<&String> = texts.into_iter().flatten().chain(&asked.modules).collect();
            assert!(texts.iter().all(|text| !text.is_empty() && !text.contains(char::is_control)));
            assert!(texts.iter().map(|text| text.len()).sum::<usize>() <= query.len());
            assert!(asked.timeout.is_none_or(|timeout| timeout <= Duration::from_secs(86_400)));
            assert_eq!(asked.timeout.is_some(), timeout.is_some());
            let mut again =
                format!("target={}&debug={}&labels={}", quoted(&asked.target), asked.debug, asked.labels);
            asked.modules.iter().for_each(|module| again += &format!("&module={}", quoted(module)));
            asked.identity.iter().for_each(|identity| again += &format!("&identity={}", quoted(identity)));
            asked
                .transport
                .iter()
                .for_each(|transport| again += &format!("&transport={}", quoted(transport)));
            // Each byte may take three, and a query has a limit.
            if again.len() < 8 << 10 && asked.modules.len() < 60 {
                let again = web::parsers::probe_request(again.as_bytes(), timeout).expect("it is an URI");
                assert_eq!(format!("{again:?}"), format!("{:?}", Ok::<_, String>(asked)));
            }
        }
    }
}

fn quoted(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The value of `Authorization`: a user's name is text, and name and password are no longer than what was sent.
pub fn credentials(bytes: &[u8]) {
    let header = Input::new(bytes).rest();
    if let Some((user, password)) = parsers::credentials(header) {
        assert!(header[..6].eq_ignore_ascii_case(b"Basic "));
        assert!(!user.contains(':') && 4 * (user.len() + 1 + password.len()) <= 3 * header.len());
    }
}

/// The HTTP parser gets the same bytes however the stream is cut: those that were sent, except that a lone line feed
/// becomes a NUL, and that far too long URIs are shortened.
pub fn heads(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let piece = usize::from(input.byte()) + 1;
    let sent = input.rest();
    let passed = parsers::heads(&[sent]);
    assert_eq!(passed, parsers::heads(&sent.chunks(piece).collect::<Vec<_>>()), "cut into pieces of {piece}");
    assert_eq!(passed, parsers::heads(&sent.chunks(1).collect::<Vec<_>>()), "byte by byte");
    let is_ended = |at: usize| at > 0 && passed[at - 1] == b'\r';
    let ends = passed.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    assert!(ends.into_iter().all(|(at, _)| is_ended(at)), "a lone line feed is passed on");
    let mut left = sent.iter();
    for byte in &passed {
        let same = |other: &u8| other == byte || (*byte == 0 && *other == b'\n');
        assert!(left.any(same), "what is passed on was sent, in this order");
    }
    // A lone line feed ends no line.
    if String::from_utf8_lossy(sent).split("\r\n").all(|line| line.len() <= 8 << 10) {
        assert_eq!(passed.len(), sent.len(), "nothing was left out");
    }
}

/// A client's certificate: its names are in it, and its times are of the years that it can say.
pub fn certificate(bytes: &[u8]) {
    let der = Input::new(bytes).rest();
    if let Some((not_before_s, not_after_s, names)) = parsers::certificate(der) {
        let years = -62_200_000_000..=253_500_000_000;
        assert!(
            years.contains(&not_before_s) && years.contains(&not_after_s),
            "{not_before_s} {not_after_s}"
        );
        // An address of four bytes takes fifteen as text.
        assert!(names.iter().map(String::len).sum::<usize>() <= 8 * der.len());
    }
}
