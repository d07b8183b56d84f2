use crate::dcom::RESOLVER_PORT;
use crate::dcom::types::ProtocolSequence;
use crate::dcom::wire::DualStringArray;

/// Endpoints that are tried for one program: each that does not answer takes time.
pub const ENDPOINTS_MAX: usize = 32;

/// Those of them that the server names; the rest are for the host that the user named.
const NAMED_MAX: usize = 24;

/// Where an RPC server may be, over TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// A host name or an address.
    pub host: String,
    pub port: u16,
    /// Whether `host` is what the user named. Otherwise the server did: to connect there is to believe it, so that a caller
    /// that has credentials asks first whether that address is one of the user's host.
    pub is_given: bool,
}

/// Where a program with objects may be: its bindings in their order, then the host that the user named, with the ports of
/// the bindings, because hosts name addresses that are not routed from here, too.
#[must_use]
pub fn endpoints(bindings: &DualStringArray, given_host: &str) -> Vec<Endpoint> {
    in_order(bindings, given_host, None)
}

/// The same for a resolver, whose bindings have no ports.
#[must_use]
pub fn resolver_endpoints(bindings: &DualStringArray, given_host: &str) -> Vec<Endpoint> {
    in_order(bindings, given_host, Some(RESOLVER_PORT))
}

fn in_order(bindings: &DualStringArray, given_host: &str, default_port: Option<u16>) -> Vec<Endpoint> {
    let mut order = Vec::new();
    let mut ports = Vec::new();
    for binding in bindings.strings.iter().filter(|binding| binding.protocol == ProtocolSequence::TCP) {
        let Some((host, port)) = split(&binding.address) else { continue };
        if let Some(port) = port.or(default_port) {
            let is_given = host.eq_ignore_ascii_case(given_host);
            push(&mut order, Endpoint { host: host.to_owned(), port, is_given }, NAMED_MAX);
            ports.push(port);
        }
    }
    ports.extend(default_port);
    for port in ports {
        push(&mut order, Endpoint { host: given_host.to_owned(), port, is_given: true }, ENDPOINTS_MAX);
    }
    order
}

/// Appends an endpoint that is not there yet, where there is room.
fn push(order: &mut Vec<Endpoint>, endpoint: Endpoint, max: usize) {
    let is_same =
        |known: &Endpoint| known.port == endpoint.port && known.host.eq_ignore_ascii_case(&endpoint.host);
    if order.len() < max && !order.iter().any(is_same) {
        order.push(endpoint);
    }
}

/// `10.0.0.1[5000]` or `10.0.0.1`. `None` for what is no address.
fn split(address: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match address.strip_suffix(']') {
        Some(rest) => {
            let (host, port) = rest.rsplit_once('[')?;
            (host, Some(port.parse().ok().filter(|&port| port != 0)?))
        }
        None => (address, None),
    };
    let is_plain = |c: char| c.is_alphanumeric() || "-._:%".contains(c);
    (!host.is_empty() && host.len() <= 255 && host.chars().all(is_plain)).then_some((host, port))
}
