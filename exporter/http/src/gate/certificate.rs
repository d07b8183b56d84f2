//! What an X.509 certificate (RFC 5280) says of its time and its names. Nothing here decides whether it is genuine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

const SEQUENCE: u8 = 0x30;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xA0;
const EXTENSIONS: u8 = 0xA3;
/// 2.5.29.17
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1D, 0x11];
const RFC822_NAME: u8 = 0x81;
const DNS_NAME: u8 = 0x82;
const UNIFORM_RESOURCE_IDENTIFIER: u8 = 0x86;
const IP_ADDRESS: u8 = 0x87;

impl Facts {
    /// Reads a certificate in DER; nothing where it is none.
    pub(super) fn of(der: &[u8]) -> Option<Self> {
        let mut tbs = Der(Der(Der(der).expect_tag(SEQUENCE)?).expect_tag(SEQUENCE)?);
        tbs.skip_if(VERSION);
        // Serial number, signature algorithm, issuer.
        (0..3).try_for_each(|_| tbs.next().map(drop))?;
        let mut validity = Der(tbs.expect_tag(SEQUENCE)?);
        let (not_before_s, not_after_s) = (time(validity.next()?)?, time(validity.next()?)?);
        let mut names = Vec::new();
        while let Some((tag, value)) = tbs.next() {
            if tag == EXTENSIONS {
                names = alternative_names(Der(Der(value).expect_tag(SEQUENCE)?))?;
            }
        }
        Some(Self { not_before_s, not_after_s, names })
    }
}

/// Both times and the names, for the laws about them.
pub(crate) fn certificate(der: &[u8]) -> Option<(i64, i64, Vec<String>)> {
    Facts::of(der).map(|Facts { not_before_s, not_after_s, names }| (not_before_s, not_after_s, names))
}

fn alternative_names(mut extensions: Der<'_>) -> Option<Vec<String>> {
    let mut names = Vec::new();
    while let Some((_, extension)) = extensions.next() {
        let mut extension = Der(extension);
        if extension.expect_tag(OBJECT_IDENTIFIER)? != SUBJECT_ALT_NAME {
            continue;
        }
        // `critical` may stand between.
        let value = std::iter::from_fn(|| extension.next()).find(|(tag, _)| *tag == OCTET_STRING)?;
        let mut list = Der(Der(value.1).expect_tag(SEQUENCE)?);
        while let Some((tag, value)) = list.next() {
            names.extend(name(tag, value));
        }
    }
    Some(names)
}

fn name(tag: u8, value: &[u8]) -> Option<String> {
    match tag {
        RFC822_NAME | DNS_NAME | UNIFORM_RESOURCE_IDENTIFIER => {
            std::str::from_utf8(value).ok().map(str::to_owned)
        }
        IP_ADDRESS => {
            let v4 = <[u8; 4]>::try_from(value).map(|bytes| IpAddr::from(Ipv4Addr::from(bytes)));
            let address =
                v4.or_else(|_| <[u8; 16]>::try_from(value).map(|b| IpAddr::from(Ipv6Addr::from(b))));
            Some(address.ok()?.to_canonical().to_string())
        }
        _ => None,
    }
}

/// `UTCTime` or `GeneralizedTime`, which RFC 5280 wants in seconds and in UTC.
fn time((tag, value): (u8, &[u8])) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        UTC_TIME if text.len() == 12 => {
            let year: i64 = text[..2].parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, &text[2..])
        }
        GENERALIZED_TIME if text.len() == 14 => (text[..4].parse().ok()?, &text[4..]),
        _ => return None,
    };
    let part = |index: usize| rest[2 * index..2 * index + 2].parse::<i64>().ok();
    let (month, day) = (part(0)?, part(1)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(((days(year, month, day) * 24 + part(2)?) * 60 + part(3)?) * 60 + part(4)?)
}

/// Days since 1970 of a day of the Gregorian calendar. Years begin in March, so that the leap day is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// Elements in DER, one behind the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Tag and contents of the next element; nothing at the end, or where it is broken.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        let (length, rest) = match first {
            0..0x80 => (usize::from(first), rest),
            // As many bytes of length as a certificate may need.
            0x81..=0x84 => {
                let (length, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
                (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
            0x80 | 0x85.. => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }

    fn expect_tag(&mut self, wanted: u8) -> Option<&'a [u8]> {
        self.next().filter(|(tag, _)| *tag == wanted).map(|(_, value)| value)
    }

    fn skip_if(&mut self, tag: u8) {
        if self.0.first() == Some(&tag) {
            self.next();
        }
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
