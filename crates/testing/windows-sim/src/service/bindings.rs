//! Where a host says that it is reached by DCOM.

use com::dcom::types::{AuthenticationService, ProtocolSequence};
use com::dcom::wire::{DualStringArray, SecurityBinding, StringBinding};

use crate::behaviour::{ObjectBindings, RpcSecurity};
use crate::host_state::HostState;
use crate::registry::netbios_name;

/// The addresses of the resolver, without a port. Windows writes the host's short name first, and no pipe: see the conversation in
/// `tests/it/dcom/golden.rs` of `com`.
pub(super) fn resolver_bindings(host: &HostState) -> DualStringArray {
    let address = host.exporter_address().map(|address| address.ip().to_string());
    let name = address.is_some().then(|| netbios_name(host.name()));
    DualStringArray::tcp(name.into_iter().chain(address), security(host))
}

/// The addresses of the program with the host's objects; `None` while it does not listen. Clients cannot use the first one.
pub(super) fn exporter_bindings(host: &HostState) -> Option<DualStringArray> {
    let address = host.exporter_address()?;
    let (ip, port, name) = (address.ip(), address.port(), netbios_name(host.name()));
    let addresses = match host.behaviour().object_bindings {
        ObjectBindings::Reachable => vec![format!("{name}[{port}]"), format!("{ip}[{port}]")],
        ObjectBindings::Unroutable => vec![format!("192.0.2.1[{port}]")],
        ObjectBindings::Blocked => vec![format!("{ip}[9]")],
        ObjectBindings::NoTcp => Vec::new(),
    };
    let mut bindings = DualStringArray::tcp(addresses, security(host));
    let address = format!(r"\\{name}[\PIPE\objects]");
    bindings.strings.insert(0, StringBinding { protocol: ProtocolSequence::NAMED_PIPE, address });
    Some(bindings)
}

fn security(host: &HostState) -> Vec<SecurityBinding> {
    let services: &[_] = match host.behaviour().rpc_security {
        RpcSecurity::Both | RpcSecurity::SecretlyNtlm => {
            &[AuthenticationService::GSS_NEGOTIATE, AuthenticationService::WINNT]
        }
        RpcSecurity::Ntlm => &[AuthenticationService::WINNT],
        RpcSecurity::Neither => &[AuthenticationService(16)],
    };
    services.iter().map(|&service| SecurityBinding { service, principal: String::new() }).collect()
}
