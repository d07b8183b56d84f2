//! What an X.509 certificate (RFC 5280) says of its time and its names. Nothing here decides whether it is genuine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

/// What is asked of a certificate beyond what the TLS library does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// `notBefore`, in Unix seconds.
    pub(super) not_before_s: i64,
    /// `notAfter`, in Unix seconds.
    pub(super) not_after_s: i64,
    /// `subjectAltName`: host names, addresses of mail, IP addresses, URIs.
    pub(super) names: Vec<String>,
}

impl Facts {
    /// Reads a certificate in DER; `None` if it is invalid.
    pub(super) fn of(der: &[u8]) -> Option<Self> {
        let (_, certificate) = parse_x509_certificate(der).ok()?;
        let validity = certificate.validity();
        let alternative = certificate.subject_alternative_name().ok()?;
        let names = alternative.iter().flat_map(|found| &found.value.general_names).filter_map(name);
        Some(Self {
            not_before_s: validity.not_before.timestamp(),
            not_after_s: validity.not_after.timestamp(),
            names: names.collect(),
        })
    }
}

/// Both times and the names, for the laws about them.
pub(crate) fn certificate(der: &[u8]) -> Option<(i64, i64, Vec<String>)> {
    Facts::of(der).map(|Facts { not_before_s, not_after_s, names }| (not_before_s, not_after_s, names))
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::RFC822Name(text) | GeneralName::DNSName(text) | GeneralName::URI(text) => {
            Some((*text).to_owned())
        }
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(|bytes| IpAddr::from(Ipv4Addr::from(bytes)));
            let address =
                v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(|b| IpAddr::from(Ipv6Addr::from(b))));
            Some(address.ok()?.to_canonical().to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, SanType, date_time_ymd};

    use super::*;

    fn certificate(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::default();
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn times_and_names_are_those_that_the_certificate_was_made_with() {
        let der = certificate(|params| {
            params.not_before = date_time_ymd(1999, 12, 31);
            params.not_after = date_time_ymd(2052, 2, 29);
            params.subject_alt_names = vec![
                SanType::DnsName("prometheus.example".try_into().unwrap()),
                SanType::Rfc822Name("ops@example.com".try_into().unwrap()),
                SanType::URI("spiffe://example/prometheus".try_into().unwrap()),
                SanType::IpAddress("192.0.2.7".parse().unwrap()),
                SanType::IpAddress("2001:db8::7".parse().unwrap()),
            ];
        });
        let facts = Facts::of(&der).unwrap();
        // `date -ud 1999-12-31 +%s` and `date -ud 2052-02-29 +%s`
        assert_eq!((facts.not_before_s, facts.not_after_s), (946_598_400, 2_592_777_600));
        let names = ["prometheus.example", "ops@example.com", "spiffe://example/prometheus"];
        assert_eq!(facts.names[..3], names);
        assert_eq!(facts.names[3..], ["192.0.2.7", "2001:db8::7"]);
    }

    #[test]
    fn a_broken_certificate_is_none_wherever_it_is_broken() {
        let der = certificate(|_| {});
        assert_eq!(Facts::of(&der).unwrap().names, Vec::<String>::new());
        for end in 0..der.len() {
            assert_eq!(Facts::of(&der[..end]), None, "{end}");
        }
        for index in 0..der.len() {
            let mut broken = der.clone();
            broken[index] ^= 0xFF;
            // Whatever comes out: it does not panic.
            Facts::of(&broken);
        }
    }
}
