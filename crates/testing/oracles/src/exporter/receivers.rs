//! What receivers of alerts answer.

use std::time::{Duration, SystemTime};

use alerts::{Verdict, parsers};
use support::pause::Backoff;

use crate::exporter::Input;

/// The fields that mean something, and one that does not.
const FIELDS: [&str; 3] = ["retry-after", "location", "content-type"];
const STATUSES: [u16; 16] = [200, 204, 299, 300, 302, 308, 400, 401, 403, 404, 408, 413, 429, 500, 503, 999];
const MESSAGE_CHARS_MAX: usize = 200;
/// No receiver keeps us away for longer.
const WAIT_MAX: Duration = Duration::from_secs(1_000);

/// An answer of Alertmanager or of a webhook: what is made of it is short, printable and of one line, only a success
/// takes the alerts, only what may be better later is sent again, and no answer keeps us waiting for ever.
pub fn answer(bytes: &[u8]) {
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
