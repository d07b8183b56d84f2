//! Laws of what the exporter itself is handed: by plugins, by people in their files, by readers of its pages, by collectors
//! and receivers of alerts.
//!
//! Pages have no oracle: what any names and values become there is proved by `exporter/exposition/tests/it/expose_any.rs` and
//! `rules_any.rs`, with a strict reader for each format.

#![expect(clippy::panic, reason = "a law that is broken panics")]

mod answers;
mod config;
mod requests;
mod rules;
pub mod seeds;
mod store;

use std::time::{Duration, SystemTime};

use alerts::{Verdict, parsers};
use exposition::{Coding, Escaping, Format, Representation, negotiate};
use perfmon_tool::parsers::compat_file;
use regex::Regex;
use serde_json::Value;
use series::pipeline::{RelabelConfig, Rule, Rules};
use support::pause::Backoff;

pub use self::answers::answer as otlp_answer;
pub use self::config::{file as config_file, target_file as config_targets, web_file as config_web};
pub use self::requests::{
    certificate as web_certificate, credentials as web_credentials, heads as web_heads, probe as web_probe,
};
pub use self::rules::labels as rules_labels;
pub use crate::plugin::handed_over as plugin_data;
pub(crate) use test_support::oracle::{INPUT_BYTES_MAX, Input, Oracle};

use self::store::{accepts, plain_store};

/// All oracles, each by the name of its fuzz target and of its folder of inputs.
pub const ORACLES: [(&str, Oracle); 14] = [
    ("plugin_data", plugin_data),
    ("rules_pattern", rules_pattern),
    ("rules_labels", rules_labels),
    ("config_file", config_file),
    ("config_targets", config_targets),
    ("config_web", config_web),
    ("compat_files", compat_files),
    ("web_accept", web_accept),
    ("web_probe", web_probe),
    ("web_credentials", web_credentials),
    ("web_heads", web_heads),
    ("web_certificate", web_certificate),
    ("otlp_answer", otlp_answer),
    ("alerts_answer", alerts_answer),
];

// Dashboards and rule files of other people.

/// Whatever a file holds, something is said of it, in lines that a terminal can show, and the same to programs.
pub fn compat_files(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(INPUT_BYTES_MAX)];
    let (text, json) = compat_file(bytes);
    assert!(!text.contains(|char: char| char.is_control() && char != '\n'), "{text:?}");
    let rows = |key: &str| json[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_failure =
        |verdict: &Value| ["renamed", "obtainable", "not_obtainable"].iter().any(|own| verdict == own);
    let fails = rows("metrics").iter().any(|metric| is_failure(&metric["verdict"]));
    assert_eq!(json["ok"], !fails && rows("unreadable").is_empty());
    for metric in rows("metrics") {
        assert!(metric["read_by"].as_array().is_some_and(|places| !places.is_empty()), "{metric}");
        // What fails says why, or what to read instead.
        let says = ["reason", "instead"].iter().any(|key| metric[*key] != "");
        assert!(says || !is_failure(&metric["verdict"]), "{metric}");
    }
}

// What a reader says it can read.

/// Accept and Accept-Encoding: whatever they say, the answer is something that we can write and that they do not rule
/// out; and what we then call it is understood as the same.
pub fn web_accept(bytes: &[u8]) {
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

// What receivers of alerts answer.

/// The fields that mean something, and one that does not.
const FIELDS: [&str; 3] = ["retry-after", "location", "content-type"];
const STATUSES: [u16; 16] = [200, 204, 299, 300, 302, 308, 400, 401, 403, 404, 408, 413, 429, 500, 503, 999];
const MESSAGE_CHARS_MAX: usize = 200;
/// No receiver keeps us away for longer.
const WAIT_MAX: Duration = Duration::from_secs(1_000);

/// An answer of Alertmanager or of a webhook: what is made of it is short, printable and of one line, only a success
/// takes the alerts, only what may be better later is sent again, and no answer keeps us waiting for ever.
pub fn alerts_answer(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let status = STATUSES[usize::from(input.byte()) % STATUSES.len()];
    let fields: Vec<(&'static str, &[u8])> = (0..input.byte() % 5)
        .filter_map(|_| Some((FIELDS[usize::from(input.byte()) % FIELDS.len()], input.chunk()?)))
        .collect();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let body = input.rest();
    let Some(verdict) = parsers::verdict(status, &fields, body, now) else { return };
    let may_be_better = matches!(status, 408 | 429 | 500..=599);
    let message = match &verdict {
        Verdict::Taken => {
            assert!((200..300).contains(&status), "HTTP {status} takes nothing");
            ""
        }
        Verdict::Retry { after, message, .. } => {
            assert!(may_be_better, "HTTP {status} is final");
            let wait = Backoff::new(1).next(*after);
            assert!(wait <= WAIT_MAX, "waits for {wait:?}");
            message
        }
        Verdict::Refused { message, .. } => {
            assert!(!may_be_better && !(200..300).contains(&status), "HTTP {status} is no refusal");
            assert!(message.contains(&status.to_string()), "{message}");
            message
        }
    };
    assert!(message.chars().count() <= MESSAGE_CHARS_MAX, "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
    assert_eq!(parsers::verdict(status, &fields, body, now).as_ref(), Some(&verdict));
}

// Expressions in rules.

/// What `keep` and `drop` make of a value by an expression: it is compiled, or refused for a reason; one of the two
/// actions takes a series and the other one does not; the whole value is compared; and where an expression means the
/// same to everybody, it means what it means to `regex`.
pub fn rules_pattern(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Ok(pattern) = str::from_utf8(input.chunk().unwrap_or_default()) else { return };
    let Ok(value) = str::from_utf8(input.take(VALUE_BYTES_MAX)) else { return };
    let rule = |action: &str| rule(action, pattern).map(|rule| Rules::from_iter([rule]));
    let (keep, drop) = match (rule("keep"), rule("drop")) {
        (Ok(keep), Ok(drop)) => (keep, drop),
        (Err(keep), Err(drop)) => {
            assert_eq!(keep, drop);
            return;
        }
        (keep, drop) => panic!("{keep:?} and {drop:?} of `{pattern}`"),
    };
    assert_eq!(rule("keep").as_ref(), Ok(&keep), "an expression is the same each time");
    let is_match = accepts(&plain_store(keep), &[("v", value)]);
    assert_ne!(is_match, accepts(&plain_store(drop), &[("v", value)]), "`{pattern}` and {value:?}");
    if pattern.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        assert_eq!(is_match, value == pattern, "`{pattern}` and {value:?}");
    }
    if is_plain(pattern) {
        let theirs = Regex::new(&format!("^(?s:{pattern})$")).expect("what we read, `regex` reads");
        assert_eq!(is_match, theirs.is_match(value), "`{pattern}` and {value:?}");
    }
}

fn rule(action: &str, pattern: &str) -> Result<Rule, String> {
    let config = RelabelConfig {
        source_labels: Some(vec!["v".to_owned()]),
        regex: Some(pattern.to_owned()),
        action: Some(action.to_owned()),
        ..RelabelConfig::default()
    };
    let of = |utf8| config.compile(utf8).map_err(|bad| bad.to_string());
    assert_eq!(of(false), of(true), "names have nothing to do with it");
    of(false).inspect_err(|message| assert!(!message.is_empty() && !message.contains('\n'), "{message}"))
}

/// Whether Prometheus and `regex` agree on every part of it.
fn is_plain(pattern: &str) -> bool {
    let is_common = |char: char| char.is_alphanumeric() || " .*+?|()_:;,^$".contains(char);
    pattern.chars().all(is_common)
        && !pattern.contains("(?")
        && !pattern.contains(|char: char| char.is_alphanumeric() && !char.is_ascii())
}

/// As long as a label's value may be.
const VALUE_BYTES_MAX: usize = 1_024;
