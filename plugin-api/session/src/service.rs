use dcerpc::SyntaxId;
use host_session::{Endpoint, TcpService};
use rpc_recorder::InterfaceNames;

/// The service of a host that a plugin uses.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The interfaces to bind.
    pub interfaces: &'static [SyntaxId],
    /// All interfaces that the plugin calls, of all its services, with the names that the state of its calls has.
    pub names: &'static [InterfaceNames],
}

/// What a plugin uses at a TCP port of a host.
#[derive(Clone, Copy, Debug)]
pub struct PortService {
    /// What listens there.
    pub service: TcpService,
    /// The interfaces to bind.
    pub interfaces: &'static [SyntaxId],
    /// All interfaces that the plugin calls, of all its services, with the names that the state of its calls has.
    pub names: &'static [InterfaceNames],
}
