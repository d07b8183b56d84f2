//! Where a host says that it is reached by DCOM.

use ms_dcom::types::AuthenticationService;
use ms_dcom::wire::{DualStringArray, SecurityBinding};

use crate::behaviour::{ObjectBindings, RpcSecurity};
use crate::host_state::HostState;

/// The addresses of the resolver: those of the host, without a port.
pub(super) fn resolver_bindings(host: &HostState) -> DualStringArray {
    let address = host.exporter_address().map(|address| address.ip().to_string());
    DualStringArray::tcp(address, security(host))
}

/// The addresses of the program with the host's objects; `None` while it does not listen.
pub(super) fn exporter_bindings(host: &HostState) -> Option<DualStringArray> {
    let address = host.exporter_address()?;
    let (ip, port) = (address.ip(), address.port());
    let binding = match host.behaviour().object_bindings {
        ObjectBindings::Reachable => Some(format!("{ip}[{port}]")),
        ObjectBindings::Unroutable => Some(format!("192.0.2.1[{port}]")),
        ObjectBindings::Blocked => Some(format!("{ip}[9]")),
        ObjectBindings::NoTcp => None,
    };
    Some(DualStringArray::tcp(binding, security(host)))
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
