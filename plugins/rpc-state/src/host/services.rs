//! What is used of a host.

use endpoints::epm::ept::Ept;
use endpoints::mgmt::management::Mgmt;
use host_session::{Reason, TcpService};
use plugin_session::{InterfaceNames, PortService};
use rpc::SyntaxId;

const NAMES: &[InterfaceNames] = &[InterfaceNames::of::<Ept>(), InterfaceNames::of::<Mgmt>()];

const MAPPER_INTERFACES: &[SyntaxId] = &[endpoints::epm::SYNTAX_ID];
const MANAGEMENT_INTERFACES: &[SyntaxId] = &[endpoints::mgmt::SYNTAX_ID];

/// The endpoint mapper, which runs with the host.
pub(super) const MAPPER: PortService = PortService {
    service: TcpService { class: "RPCSS", stopped: Reason::NotFound },
    interfaces: MAPPER_INTERFACES,
    names: NAMES,
};

/// The management interface, which is at each port of an RPC server. NTLM does not look at the class of the service.
pub(super) const MANAGEMENT: PortService = PortService {
    service: TcpService { class: "host", stopped: Reason::NotFound },
    interfaces: MANAGEMENT_INTERFACES,
    names: NAMES,
};
