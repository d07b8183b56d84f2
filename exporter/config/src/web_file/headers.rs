use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use safe_text::nearest::suggestion;

use crate::item::Item;

/// The headers that the format allows, and the values of those that have a fixed list.
const ALLOWED: [(&str, &[&str]); 5] = [
    ("Content-Security-Policy", &[]),
    ("Strict-Transport-Security", &[]),
    ("X-Content-Type-Options", &["nosniff"]),
    ("X-Frame-Options", &["deny", "sameorigin"]),
    ("X-XSS-Protection", &[]),
];

pub(super) fn headers(item: &Item<'_>) -> HeaderMap {
    item.named().iter().filter_map(|(entry, value)| header(entry.key.as_str(), value)).collect()
}

fn header(key: &str, item: &Item<'_>) -> Option<(HeaderName, HeaderValue)> {
    let Some((name, values)) = ALLOWED.iter().find(|(name, _)| *name == key) else {
        let names = ALLOWED.map(|(name, _)| name);
        let hint = suggestion(key, names).or_else(|| Some(format!("it may be one of {}", names.join(", "))));
        item.problem("this header cannot be set", hint);
        return None;
    };
    let text = item.text_or_empty()?;
    if text.is_empty() {
        return None;
    }
    if !values.is_empty() && !values.contains(&text) {
        item.problem(format!("`{text}` is not a choice"), Some(format!("write {}", values.join(" or "))));
        return None;
    }
    let (name, value) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(text));
    let Ok(value) = value else {
        item.problem("no header can carry this text", Some("write it on one line".to_owned()));
        return None;
    };
    Some((name.ok()?, value))
}
