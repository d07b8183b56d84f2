//! What a reader says it can read.

use exposition::{Coding, Escaping, Format, Representation, negotiate};

use crate::exporter::Input;

/// Accept and Accept-Encoding: whatever they say, the answer is something that we can write and that they do not rule
/// out; and what we then call it is understood as the same.
pub fn accept(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let accept = String::from_utf8_lossy(input.chunk().unwrap_or_default()).into_owned();
    let encoding = String::from_utf8_lossy(input.rest()).into_owned();
    representation(&accept);
    coding(&encoding);
}

fn representation(accept: &str) {
    let chosen = negotiate(Some(accept));
    let Representation { format, version, escaping } = chosen;
    let is_version = match format {
        Format::Text => ["0.0.4", "1.0.0"].contains(&version),
        Format::OpenMetrics => ["0.0.1", "1.0.0"].contains(&version),
        Format::Protobuf => version.is_empty(),
    };
    assert!(is_version, "{chosen:?}");
    assert!(escaping != Escaping::AllowUtf8 || ["", "1.0.0"].contains(&version), "quotes in {chosen:?}");
    assert_eq!(negotiate(Some(&chosen.content_type())), chosen, "what we say is what we mean");
    // A reader that accepts no format of ours gets text. An unknown format at the end changes nothing.
    let with_stranger = format!("{accept},application/x-nobody;q=0.001");
    if accept.split(',').count() < 60 {
        assert_eq!(negotiate(Some(&with_stranger)), chosen);
    }
}

fn coding(header: &str) {
    let chosen = Coding::negotiate(Some(header));
    let names = |wanted: &[&str]| {
        let entries = header.split(',').map(|entry| entry.split(';').next().unwrap_or_default().trim());
        entries.into_iter().any(|entry| wanted.iter().any(|wanted| entry.eq_ignore_ascii_case(wanted)))
    };
    match chosen {
        Some(Coding::Gzip) => assert!(names(&["gzip", "x-gzip", "*"]), "gzip for {header:?}"),
        Some(Coding::Zstd) => assert!(names(&["zstd", "*"]), "zstd for {header:?}"),
        Some(Coding::Identity) => {}
        None => assert!(names(&["identity", "*"]), "nothing at all for {header:?}"),
    }
}
