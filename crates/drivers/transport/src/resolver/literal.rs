use std::net::{IpAddr, Ipv4Addr};

/// The address, if `host` is one and not a name.
///
/// Besides the usual spellings it accepts IPv4 addresses like the C library (`inet_aton`): one to four numbers,
/// decimal, octal or hexadecimal; the last one fills the remaining bytes. So `127.1`, `0x7f.1` and `2130706433` are
/// 127.0.0.1, and no form of an address is taken for a name.
#[must_use]
pub fn literal(host: &str) -> Option<IpAddr> {
    host.parse().ok().or_else(|| ipv4(host).map(IpAddr::V4))
}

fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, octets) = numbers.split_last()?;
    if octets.len() > 3 || octets.iter().any(|octet| *octet > 0xff) {
        return None;
    }
    let bits_left = 32 - 8 * u32::try_from(octets.len()).ok()?;
    if u64::from(*last) >= 1 << bits_left {
        return None;
    }
    let first = octets.iter().fold(0_u64, |address, octet| (address << 8) | u64::from(*octet));
    u32::try_from((first << bits_left) | u64::from(*last)).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    // `from_str_radix` accepts a sign, which is not valid here.
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_the_address() {
        for odd in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0X7F000001",
            "2130706433",
            "0177.0.0.01",
            "017700000001",
        ] {
            assert_eq!(literal(odd), Some(IpAddr::V4(Ipv4Addr::LOCALHOST)), "{odd}");
        }
        assert_eq!(literal("255.255.255.255"), Some("255.255.255.255".parse().unwrap()));
        assert_eq!(literal("4294967295"), Some("255.255.255.255".parse().unwrap()));
        assert_eq!(literal("10.65535"), Some("10.0.255.255".parse().unwrap()));
        assert_eq!(literal("::ffff:127.0.0.1"), Some("::ffff:127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn names_are_no_addresses() {
        for name in [
            "web1",
            "1.2.3.4.5",
            "256.1.1.1",
            "1.16777216",
            "4294967296",
            "",
            ".",
            "1.",
            ".1",
            "0x",
            "0x.1",
            "08",
            "+1",
            "1.-1",
            "face",
        ] {
            assert_eq!(literal(name), None, "{name}");
        }
    }
}
