//! Which interfaces the endpoint mapper lists, and under which annotation.

use std::net::{IpAddr, SocketAddr};

use endpoints::epm::types::Entry;
use endpoints::epm::wire::{Binding, Tower};

use crate::host_state::HostState;
use crate::registered::{Place, Registered};

/// What the host's programs have registered, in the order of its services.
pub(super) fn entries(host: &HostState) -> Vec<Entry> {
    let of_interface = |&Registered { interface, place, annotation }: &Registered| {
        bindings(host, place).into_iter().map(move |binding| Entry {
            object: None,
            tower: Tower::ndr(interface, binding),
            annotation: annotation.to_owned(),
        })
    };
    host.registered().iter().flat_map(of_interface).collect()
}

/// Where it is now. A program with a port has an endpoint within the host, too. There are no towers of IPv6.
fn bindings(host: &HostState, place: Place) -> Vec<Binding> {
    match place {
        Place::NamedPipe(pipe) => {
            vec![Binding::NamedPipe { host: format!(r"\\{}", host.name()), pipe: format!(r"\PIPE\{pipe}") }]
        }
        Place::Objects => match host.exporter_address().map(|at| (at, at.ip())) {
            Some((at, IpAddr::V4(address))) => vec![Binding::Tcp { address, port: at.port() }, local(at)],
            Some((at, IpAddr::V6(_))) => vec![local(at)],
            None => Vec::new(),
        },
    }
}

/// The name of a program within the host, in the form of Windows.
fn local(address: SocketAddr) -> Binding {
    Binding::Local { endpoint: format!("LRPC-{:018x}", address.port()) }
}
