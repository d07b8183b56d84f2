//! Style, script and icon: files that are compiled into the program.

use std::sync::LazyLock;

use http_server::{header, typed};
use hyper::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::{Request, Response, StatusCode};
use sha2::{Digest, Sha256};

use crate::body::Answer;

/// A file that pages refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asset {
    Style,
    Script,
    Icon,
}

impl Asset {
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/page.css" => Some(Self::Style),
            "/page.js" => Some(Self::Script),
            "/icon.svg" => Some(Self::Icon),
            _ => None,
        }
    }

    fn content(self) -> (&'static str, &'static str) {
        match self {
            Self::Style => ("text/css; charset=utf-8", include_str!("page.css")),
            Self::Script => ("text/javascript; charset=utf-8", include_str!("page.js")),
            Self::Icon => ("image/svg+xml", include_str!("icon.svg")),
        }
    }

    /// A hash of the contents, so that browsers revalidate the file and download it only when it changed.
    fn etag(self) -> HeaderValue {
        static TAGS: LazyLock<[HeaderValue; 3]> = LazyLock::new(|| {
            [Asset::Style, Asset::Script, Asset::Icon].map(|asset| {
                let digest = Sha256::digest(asset.content().1);
                let tag: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""))
            })
        });
        TAGS[self as usize].clone()
    }

    pub(super) fn answer<B>(self, request: &Request<B>) -> Response<Answer> {
        let tag = self.etag();
        let known = header(request, &IF_NONE_MATCH).unwrap_or_default();
        let is_known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag);
        let mut response = if is_known {
            let mut same = Response::new(Answer::empty());
            *same.status_mut() = StatusCode::NOT_MODIFIED;
            same
        } else {
            let (content_type, content) = self.content();
            typed(content_type, content)
        };
        response.headers_mut().insert(ETAG, tag);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}
