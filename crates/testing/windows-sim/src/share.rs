use std::str::FromStr;
use std::time::Duration;

/// A share of the hosts, such as `1%`, dealt out evenly and always to the same ones: of `1%`, the hundredth, the
/// two hundredth …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Share {
    millipercent: u64,
}

const WHOLE: u64 = 100_000;

impl Share {
    /// Whether the host with this index, from 0, belongs to it.
    const fn contains(self, index: u64) -> bool {
        self.before(index + 1) > self.before(index)
    }

    /// How many of the first `count` hosts belong to it.
    const fn before(self, count: u64) -> u64 {
        count * self.millipercent / WHOLE
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid =
            || format!("a share is a number of percent with up to three decimals, such as 1%: `{text}`");
        let (whole, decimals) =
            text.strip_suffix('%').map(|n| n.split_once('.').unwrap_or((n, ""))).ok_or_else(invalid)?;
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 3 || !is_number(whole) || !is_number(decimals) {
            return Err(invalid());
        }
        let millipercent = format!("{whole}{decimals:0<3}").parse().map_err(|_| invalid())?;
        if millipercent > WHOLE { Err(invalid()) } else { Ok(Self { millipercent }) }
    }
}

/// Hosts whose polls are answered late: `5%:3s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slow {
    pub(crate) share: Share,
    pub(crate) delay: Duration,
}

impl FromStr for Slow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (share, delay) =
            text.split_once(':').ok_or_else(|| format!("write SHARE:DURATION, such as 5%:3s: `{text}`"))?;
        let delay = humantime::parse_duration(delay).map_err(|error| format!("`{delay}`: {error}"))?;
        Ok(Self { share: share.parse()?, delay })
    }
}

/// How one host of a fleet behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Healthy,
    BlackHole,
    Slow(Duration),
}

/// How each of `hosts` hosts behaves. A host that would be both is a black hole, and the one before it is slow.
pub(crate) fn kinds(hosts: u32, black_holes: Share, slow: Option<Slow>) -> Vec<Kind> {
    let mut left = 0;
    let kind = |index: u64| {
        left += u64::from(slow.is_some_and(|slow| slow.share.contains(index)));
        match slow {
            _ if black_holes.contains(index) => Kind::BlackHole,
            Some(slow) if left > 0 => {
                left -= 1;
                Kind::Slow(slow.delay)
            }
            _ => Kind::Healthy,
        }
    };
    let mut kinds: Vec<Kind> = (0..u64::from(hosts)).rev().map(kind).collect();
    kinds.reverse();
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_a_fleet_are_exact_and_always_the_same_hosts() {
        let slow: Slow = "5%:3s".parse().unwrap();
        let fleet = kinds(4000, "1%".parse().unwrap(), Some(slow));
        let count = |kind| fleet.iter().filter(|known| **known == kind).count();
        assert_eq!((count(Kind::BlackHole), count(Kind::Slow(Duration::from_secs(3)))), (40, 200));
        assert_eq!(fleet[99], Kind::BlackHole);
        // The hundredth would be both.
        assert_eq!([19, 98, 99].map(|index| fleet[index] == Kind::Slow(slow.delay)), [true, true, false]);
    }

    #[test]
    fn a_share_has_decimals_and_is_never_more_than_all() {
        assert_eq!("0.25%".parse(), Ok(Share { millipercent: 250 }));
        for wrong in ["1", "%", "101%", "-1%", "1.2345%"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
