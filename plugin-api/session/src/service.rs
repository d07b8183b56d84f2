use dcerpc::SyntaxId;
use host_session::Endpoint;

/// The service of a host that a plugin uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The interfaces to bind.
    pub interfaces: &'static [SyntaxId],
}
