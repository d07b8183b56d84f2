//! An error as a page, for browsers.

use hyper::{Response, StatusCode};

use super::frame::{Frame, Section};
use super::html::Url;
use super::respond;
use crate::body::Answer;

/// The pages that an error page links to.
const THERE: [(&str, &str); 9] = [
    ("", "Targets"),
    ("plugins", "Plugins"),
    ("alerts", "Alerts of targets, and their receivers"),
    (LOGS, "Counter logs of targets"),
    ("rpc-state", "RPC calls in flight"),
    ("config", "Configuration"),
    ("metrics", "Metrics of all targets"),
    ("sd", "Targets for Prometheus"),
    ("-/ready", "Whether the exporter is ready"),
];

/// The page of files, where some are kept.
const LOGS: &str = "logs";

/// The path to the root from the deepest path for which links are correct.
const UP: &str = "../../../../../../../../../../../../../../../../../../../../../../../../";

/// A page that says `text` about the request for `path`.
pub(crate) fn error_page(status: StatusCode, path: &str, text: &str, has_files: bool) -> Response<Answer> {
    let depth = path.matches('/').count().saturating_sub(1);
    let root = UP.get(..3 * depth).unwrap_or(UP);
    let title = status.canonical_reason().unwrap_or("Error");
    let frame = Frame { title, section: Section::None, root, refresh_s: None, has_files };
    let mut response = respond(frame.write(|html| {
        html.ours("<h1>")
            .text(title)
            .ours("</h1><p>For <code>")
            .name(path)
            .ours("</code>: ")
            .text(text.trim());
        html.ours(".</p><h2>Available pages</h2><ul>");
        for (path, name) in THERE.into_iter().filter(|(path, _)| has_files || *path != LOGS) {
            html.ours("<li><a").href(&Url::of(path)).ours(">").ours(name).ours("</a></li>");
        }
        html.ours("</ul>");
    }));
    *response.status_mut() = status;
    response
}
