//! Where a host says that it is reached by DCOM.

use ms_dcom::types::AuthenticationService;
use ms_dcom::wire::{DualStringArray, SecurityBinding};

use crate::host_state::HostState;

/// The addresses of the resolver: those of the host, without a port.
pub(super) fn resolver_bindings(host: &HostState) -> DualStringArray {
    let address = host.exporter_address().map(|address| address.ip().to_string());
    DualStringArray::tcp(address, security())
}

/// The addresses of the program with the host's objects; `None` while it does not listen.
pub(super) fn exporter_bindings(host: &HostState) -> Option<DualStringArray> {
    let address = host.exporter_address()?;
    let binding = format!("{}[{}]", address.ip(), address.port());
    Some(DualStringArray::tcp([binding], security()))
}

fn security() -> Vec<SecurityBinding> {
    let services = [AuthenticationService::GSS_NEGOTIATE, AuthenticationService::WINNT];
    services.map(|service| SecurityBinding { service, principal: String::new() }).into()
}
