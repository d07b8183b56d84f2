use std::str::FromStr;
use std::time::Duration;

use wire::Win32Error;

use super::catalog::UPDATES;
use super::clock::{Moment, intervals_of};

/// Something that is otherwise with one counterset or object, always or at times of the host's clock.
///
/// As text `COUNTERSET=WHAT[@PERIOD/LENGTH]`: `GPU Engine=absent@10m/4m` takes the counterset away for the last four
/// minutes of each ten minutes of uptime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The counterset's or object's English name. Of an object all that happens is that it is absent from the data.
    pub counterset: String,
    pub what: What,
    /// From one time to the next, and how long it takes; `None` for always.
    pub every: Option<(Duration, Duration)>,
}

/// What can be otherwise with a counterset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// `absent`: it is not registered. Nothing enumerates it, and whoever asks for it is told so.
    Absent,
    /// `stopped`: its provider does not run. It is enumerated, and that is all.
    Stopped,
    /// `error:STATUS`: its provider fails, and its blocks say so.
    Error(Win32Error),
    /// `updated`: a newer provider has registered more counters. For the counterset `Updates` alone.
    Updated,
}

/// Why a text is no [`Change`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a change is COUNTERSET=WHAT[@PERIOD/LENGTH], such as 'GPU Engine=absent@10m/4m': {0}")]
pub struct ParseChangeError(String);

impl Change {
    /// Whether it is so at this moment.
    pub(super) fn holds(&self, at: &Moment) -> bool {
        self.every.is_none_or(|(period, length)| {
            let (period, length) = (intervals_of(period).max(1), intervals_of(length));
            at.uptime_100ns() % period >= period.saturating_sub(length)
        })
    }
}

impl FromStr for Change {
    type Err = ParseChangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |what: &str| ParseChangeError(what.to_owned());
        let (counterset, change) = text.rsplit_once('=').ok_or_else(|| invalid("there is no `=`"))?;
        let (what, every) = match change.split_once('@') {
            Some((what, every)) => (what, Some(parse_every(every)?)),
            None => (change, None),
        };
        let what: What = what.parse()?;
        if what == What::Updated && counterset != UPDATES.name {
            return Err(ParseChangeError(format!("only `{}` can be updated", UPDATES.name)));
        }
        Ok(Self { counterset: counterset.to_owned(), what, every })
    }
}

fn parse_every(text: &str) -> Result<(Duration, Duration), ParseChangeError> {
    let duration = |text: &str| {
        humantime::parse_duration(text).map_err(|_| ParseChangeError(format!("`{text}` is not a valid time")))
    };
    let (period, length) = text
        .split_once('/')
        .ok_or_else(|| ParseChangeError("there is no `/` behind the period".to_owned()))?;
    let (period, length) = (duration(period)?, duration(length)?);
    if period.is_zero() || length > period {
        return Err(ParseChangeError("the length is more than the period".to_owned()));
    }
    Ok((period, length))
}

impl FromStr for What {
    type Err = ParseChangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("absent", "") => Ok(Self::Absent),
            ("stopped", "") => Ok(Self::Stopped),
            ("updated", "") => Ok(Self::Updated),
            ("error", status) => {
                let status =
                    status.parse().map_err(|_| ParseChangeError(format!("`{status}` is no status")))?;
                Ok(Self::Error(Win32Error(status)))
            }
            _ => Err(ParseChangeError(format!("there is no change `{text}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::FileTime;

    use super::*;

    #[test]
    fn a_change_with_a_period_holds_at_the_end_of_each() {
        let change: Change = "GPU Engine=absent@10m/4m".parse().unwrap();
        let at = |minutes: u64| {
            let time = FileTime(minutes * 60 * FileTime::INTERVALS_PER_SECOND);
            change.holds(&Moment { time, boot: FileTime(0), perf_freq: 1 })
        };
        assert_eq!([0, 5, 6, 9, 10, 16].map(at), [false, false, true, true, false, true]);
    }

    #[test]
    fn a_change_that_is_none_says_which_part_is_wrong() {
        let error = |text: &str| text.parse::<Change>().unwrap_err().to_string();
        assert!(error("Workers").ends_with("there is no `=`"));
        assert!(error("Workers=gone").ends_with("there is no change `gone`"));
        assert!(error("Workers=error:x").ends_with("`x` is no status"));
        assert!(error("Workers=updated").ends_with("only `Updates` can be updated"));
        assert!(error("Workers=absent@1m").ends_with("there is no `/` behind the period"));
        assert!(error("Workers=absent@1m/2m").ends_with("the length is more than the period"));
    }
}
