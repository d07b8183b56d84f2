use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket};

/// Sorts addresses by RFC 6724, best first: reachable ones before others, then by the precedence of their networks.
/// Equal ones keep their order.
pub(crate) fn sort(addresses: &mut [IpAddr]) {
    addresses.sort_by_cached_key(|address| (!has_route(*address), precedence(*address)));
}

/// Whether the kernel has a route to the address. Nothing is sent.
fn has_route(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0));
    socket.and_then(|socket| socket.connect(SocketAddr::new(address, ANY_PORT))).is_ok()
}

/// The policy table of RFC 6724, 2.1, inverted: less is better.
fn precedence(address: IpAddr) -> u8 {
    let IpAddr::V6(address) = address else {
        return 65; /* 100 - 35 */
    };
    let segments = address.segments();
    let precedence = match segments[0] {
        _ if address.is_loopback() => 50,
        _ if address.to_ipv4_mapped().is_some() => 35,
        0x2002 => 30,
        0x2001 if segments[1] == 0 => 5,
        0xfc00..=0xfdff => 3,
        0xfec0..=0xfeff | 0x3ffe => 1,
        _ => 40,
    };
    100 - precedence
}

const ANY_PORT: u16 = 445;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_there_is_comes_before_precedence() {
        let mut addresses: Vec<IpAddr> =
            ["192.0.2.1", "127.0.0.1", "::1"].map(|text| text.parse().unwrap()).to_vec();
        sort(&mut addresses);
        let loopback_v6 = has_route(Ipv6Addr::LOCALHOST.into());
        let first: IpAddr = if loopback_v6 { Ipv6Addr::LOCALHOST.into() } else { [127, 0, 0, 1].into() };
        assert_eq!(addresses[0], first);
    }

    #[test]
    fn native_ipv6_comes_before_ipv4_and_tunnels_behind_it() {
        let sorted = ["2001:db8::1", "192.0.2.1", "2002::1", "2001::1", "fd00::1"];
        let precedences = sorted.map(|text| precedence(text.parse().unwrap()));
        assert!(precedences.is_sorted_by(|before, after| before < after), "{precedences:?}");
    }
}
