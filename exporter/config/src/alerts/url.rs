use support::http_client::{HttpUrl, UrlProblem};

use crate::item::Item;

/// Reads `url`. Without a port it has `port`, or that of the scheme.
pub(super) fn url(item: &Item<'_>, hint: &str, port: Option<u16>) -> Option<HttpUrl> {
    let text = item.text()?;
    let wrong = |message: &str, hint: &str| {
        // The text itself is not shown: it may hold a password.
        item.problem(message, Some(hint.to_owned()));
        None
    };
    match HttpUrl::parse(text, port) {
        Err(UrlProblem::HasUser) => {
            let hint = "put it into a file and name that in `headers: {authorization: {file: …}}`";
            wrong("a secret must not be in the configuration", hint)
        }
        Err(problem) => wrong(&problem.to_string(), hint),
        Ok(url) if url.path.contains('?') => {
            let hint = "if it is a secret, put it into a file: the URL into `url_file` of a webhook, or a header \
                        into `headers`";
            wrong("has a `?` part, which pages would show", hint)
        }
        Ok(url) => Some(url),
    }
}
