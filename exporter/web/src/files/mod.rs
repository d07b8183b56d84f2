//! `/logs/files/TARGET/SET/RUN/FILE`: a file that a source keeps of its target, where `storage.downloads` allows it.
//!
//! What is in such a file comes from hosts. A browser opens reports only, without scripts and as if from nowhere; everything
//! else it saves.

use std::fmt::Write;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use http_server::{Caller, header, plain};
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_RANGE, RANGE, REFERRER_POLICY,
    RETRY_AFTER,
};
use hyper::{Request, Response, StatusCode};
use targets::storage::{FilePath, Opened, open};
use tracing::debug;

use super::body::Answer;
use super::download::Download;
use super::metrics::Site;

/// Where files are on this site.
pub(super) const FILES: &str = "/logs/files/";

pub(super) async fn answer<B>(site: &Site, request: &Request<B>, caller: &Caller) -> Response<Answer> {
    let files = &site.page_state.files;
    let Some(kept) = files.kept() else {
        return plain(StatusCode::NOT_FOUND, "no files are kept: `storage.directory` is not set\n");
    };
    if !kept.downloads {
        let text = "files are listed only: set `storage.downloads: true` in the configuration to have them downloaded\n";
        return plain(StatusCode::FORBIDDEN, text);
    }
    let path = request.uri().path().strip_prefix(FILES).and_then(FilePath::parse);
    let Some(path) = path else { return no_file() };
    let Some((permit, thread)) = files.download(caller.peer, Arc::clone(&caller.end)).await else {
        let mut busy = plain(StatusCode::SERVICE_UNAVAILABLE, "too many files are being sent; try again\n");
        busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
        return busy;
    };
    let name = path.file().to_owned();
    let opened = tokio::task::spawn_blocking(move || (open(&kept.directory, &path), thread)).await;
    match opened {
        Ok((Ok(opened), thread)) => {
            debug!(file = name, bytes = opened.bytes, "File sent");
            let (part, etag) = asked(request, &opened);
            let Some(part) = part else { return beyond(&opened) };
            let body = Download::new(opened.file, part.bytes(), (permit, thread));
            let head = Head { name: &name, whole: opened.bytes, part, etag };
            head.respond(Answer::File(Box::new(body)))
        }
        Ok((Err(error), _)) if error.kind() == io::ErrorKind::NotFound => no_file(),
        Ok((Err(error), _)) => {
            debug!(file = name, %error, "File not opened");
            plain(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot open the file: {}\n", error.kind()))
        }
        Err(_panicked) => plain(StatusCode::INTERNAL_SERVER_ERROR, "cannot open the file\n"),
    }
}

fn no_file() -> Response<Answer> {
    plain(StatusCode::NOT_FOUND, "there is no such file; it may have been removed since the page was shown\n")
}

fn beyond(opened: &Opened) -> Response<Answer> {
    let mut response = plain(StatusCode::RANGE_NOT_SATISFIABLE, "the file ends before that\n");
    if let Ok(range) = HeaderValue::from_str(&format!("bytes */{}", opened.bytes)) {
        response.headers_mut().insert(CONTENT_RANGE, range);
    }
    response
}

/// The part of the file that is asked for, if there is one, and what the file is recognised by.
fn asked<B>(request: &Request<B>, opened: &Opened) -> (Option<Part>, String) {
    let changed = opened.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let etag = format!("\"{:x}-{:x}\"", opened.bytes, changed.unwrap_or_default().as_nanos());
    // A part of a file that has changed since the first part was sent is of no use.
    let is_same = header(request, &IF_RANGE).is_none_or(|known| known.trim() == etag);
    let range = header(request, &RANGE).filter(|_| is_same);
    (part(range.as_deref(), opened.bytes), etag)
}

/// What is said of a file before it is sent.
struct Head<'a> {
    name: &'a str,
    whole: u64,
    part: Part,
    etag: String,
}

impl Head<'_> {
    fn respond(&self, body: Answer) -> Response<Answer> {
        let mut response = Response::new(body);
        let Kind { content_type, is_page } = kind_of(self.name);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        let bytes = self.part.bytes();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.end - bytes.start));
        let mut text = |name: HeaderName, value: String| {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        };
        text(ETAG, self.etag.clone());
        text(CONTENT_DISPOSITION, disposition(self.name, is_page));
        if let Part::Some(bytes) = &self.part {
            text(
                CONTENT_RANGE,
                format!("bytes {}-{}/{}", bytes.start, bytes.end.saturating_sub(1), self.whole),
            );
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        response
    }
}

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// What a browser may do with a file: show its text, its own style and pictures in it. `sandbox` forbids scripts, forms and
/// windows once more, and makes it a page from nowhere, which cannot read ours.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; sandbox";

struct Kind {
    content_type: &'static str,
    /// A browser shows it.
    is_page: bool,
}

/// By the ending of a file's name.
fn kind_of(name: &str) -> Kind {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = KINDS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    let content_type = known.map_or("application/octet-stream", |(_, content_type)| content_type);
    Kind { content_type, is_page: is_page(name) }
}

/// Whether a browser shows a file of this name.
pub(super) fn is_page(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ["html", "htm"].iter().any(|page| ending.eq_ignore_ascii_case(page)))
}

const KINDS: &[(&str, &str)] = &[
    ("html", "text/html; charset=utf-8"),
    ("htm", "text/html; charset=utf-8"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain; charset=utf-8"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("parquet", "application/vnd.apache.parquet"),
    ("cab", "application/vnd.ms-cab-compressed"),
    ("sqlite", "application/vnd.sqlite3"),
    ("db", "application/vnd.sqlite3"),
];

/// Under which name a file is saved: in ASCII for old programs, and as it is.
fn disposition(name: &str, is_page: bool) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let ascii: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut text = format!("{}; filename=\"{ascii}\"", if is_page { "inline" } else { "attachment" });
    if ascii != name {
        text.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => text.push(char::from(byte)),
                // Writing into a string does not fail.
                other => drop(write!(text, "%{other:02X}")),
            }
        }
    }
    text
}

// Which part of a file is asked for, RFC 9110 section 14.

/// What is sent of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// All of it, so many bytes.
    All(u64),
    Some(Range<u64>),
}

impl Part {
    fn bytes(&self) -> Range<u64> {
        match self {
            Self::All(bytes) => 0..*bytes,
            Self::Some(bytes) => bytes.clone(),
        }
    }
}

/// The part of a file of `whole` bytes that the header `Range` asks for; nothing if it begins after the file's end. A
/// header that makes no sense, and one with several ranges, may be ignored, and is.
fn part(range: Option<&str>, whole: u64) -> Option<Part> {
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
    fn a_file_is_saved_under_a_name_that_cannot_be_a_path_or_a_header() {
        assert_eq!(disposition("a b.csv", false), "attachment; filename=\"a b.csv\"");
        assert_eq!(disposition("report.html", true), "inline; filename=\"report.html\"");
        let hostile = disposition("a\"; x=\u{202e}b/ü.csv", false);
        assert_eq!(
            hostile,
            "attachment; filename=\"a__ x__b__.csv\"; filename*=UTF-8''a%22%3B%20x%3D%E2%80%AEb%2F%C3%BC.csv"
        );
    }

    #[test]
    fn only_pages_are_shown_and_unknown_files_have_no_type() {
        for (name, content_type, is_page) in [
            ("report.html", "text/html; charset=utf-8", true),
            ("REPORT.HTM", "text/html; charset=utf-8", true),
            ("a.csv", "text/csv", false),
            ("a.html.svg", "application/octet-stream", false),
            ("html", "application/octet-stream", false),
            ("report.xml", "application/xml", false),
        ] {
            let kind = kind_of(name);
            assert_eq!((kind.content_type, kind.is_page), (content_type, is_page), "{name}");
        }
    }

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
