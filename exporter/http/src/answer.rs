//! Building responses.

use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};

/// A line for people and programs.
pub fn plain<B: From<String>>(status: StatusCode, text: impl Into<String>) -> Response<B> {
    let mut response = typed("text/plain; charset=utf-8", text);
    *response.status_mut() = status;
    response
}

/// A text of a type.
pub fn typed<B: From<String>>(content_type: &'static str, text: impl Into<String>) -> Response<B> {
    let mut response = Response::new(B::from(text.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// All values of a header that stands for a list.
pub fn header<B>(request: &Request<B>, name: &HeaderName) -> Option<String> {
    let values = request.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
    let values: Vec<&str> = values.collect();
    request.headers().contains_key(name).then(|| values.join(","))
}
