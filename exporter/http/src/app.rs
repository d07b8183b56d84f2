use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};

use crate::caller::Caller;

/// What is served. It sees only requests that the server let through.
pub trait App: Send + Sync + 'static {
    /// What it answers with; the server itself answers with texts.
    type Body: Body<Data = Bytes, Error = Infallible> + From<String> + Send + Unpin + 'static;

    /// Answers a request.
    fn answer(
        self: &Arc<Self>,
        request: &Request<Incoming>,
        caller: &Caller,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// Whether a request is for what people read or do in a browser. By a name that is not ours it is refused then.
    fn is_for_people(&self, request: &Request<Incoming>) -> bool;

    /// Formats a response for its client: errors, also those of the server, as a page for people.
    fn dress(&self, request: &Request<Incoming>, response: Response<Self::Body>) -> Response<Self::Body> {
        let _ = request;
        response
    }

    /// A connection was accepted.
    fn connection_opened(&self) {}

    /// A connection is gone.
    fn connection_closed(&self) {}
}
