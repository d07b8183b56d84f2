//! What reads requests, without a server around it, for the laws in `crates/testing/oracles` alone.

use hyper::Request;

use super::prober::ProbeRequest;

/// What `/probe` is asked by a query and the header with the scrape's timeout, or what is wrong with it; nothing where
/// no request can hold them.
#[must_use]
pub fn probe_request(query: &[u8], timeout: Option<&[u8]>) -> Option<Result<ProbeRequest, String>> {
    let uri = [b"/probe?", query].concat();
    let mut request = Request::get(uri.as_slice());
    if let Some(timeout) = timeout {
        request = request.header("X-Prometheus-Scrape-Timeout-Seconds", timeout);
    }
    Some(super::probe::asked(&request.body(()).ok()?))
}
