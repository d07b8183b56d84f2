use com::dcom::wire::DualStringArray;

/// Where hosts are told to call: an address that they can reach, which need not be one of this machine (containers, address
/// translation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvertisedAddress {
    /// A name or an address. INVARIANT: printable ASCII without brackets, and not empty.
    host: String,
    port: u16,
}

/// The longest name of a host.
const HOST_MAX: usize = 255;

/// An address that cannot be advertised.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("call-back address {host:?}: {reason}")]
pub struct InvalidAdvertisedAddress {
    host: String,
    reason: &'static str,
}

impl AdvertisedAddress {
    /// Where objects are called. References are resolved at the same address: Windows asks port 135 there, whatever `port`
    /// is.
    ///
    /// # Errors
    /// When `host` is no name and no address.
    pub fn new(host: impl Into<String>, port: u16) -> Result<Self, InvalidAdvertisedAddress> {
        let host = host.into();
        let reason = if host.is_empty() {
            "is empty"
        } else if host.len() > HOST_MAX {
            "is longer than a name can be"
        } else if host.bytes().any(|byte| !byte.is_ascii_graphic() || b"[]".contains(&byte)) {
            "is no name and no address; write an address of IPv6 without brackets"
        } else {
            return Ok(Self { host, port });
        };
        Err(InvalidAdvertisedAddress { host, reason })
    }

    /// The name or address.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// [MS-DCOM] 2.2.19.3: bindings of a resolver have no port.
    pub(crate) fn resolver(&self) -> DualStringArray {
        DualStringArray::tcp([self.host.clone()], Vec::new())
    }

    /// The bindings of the program that has the objects.
    pub(crate) fn exporter(&self) -> DualStringArray {
        DualStringArray::tcp([format!("{}[{}]", self.host, self.port)], Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_with_its_port_only_where_objects_are_called() {
        let address = AdvertisedAddress::new("2001:db8::7", 5135).unwrap();
        assert_eq!(address.resolver().strings[0].address, "2001:db8::7");
        assert_eq!(address.exporter().strings[0].address, "2001:db8::7[5135]");
        assert!(address.exporter().security.is_empty(), "callers use no security");
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_hint() {
        for host in ["", "web 1", "[::1]", "10.0.0.1[135]", "web\0", &"a".repeat(256)] {
            assert!(AdvertisedAddress::new(host, 135).is_err(), "{host:?}");
        }
        let error = AdvertisedAddress::new("[::1]", 135).unwrap_err();
        assert_eq!(
            error.to_string(),
            "call-back address \"[::1]\": is no name and no address; write an address of IPv6 without brackets"
        );
    }
}
