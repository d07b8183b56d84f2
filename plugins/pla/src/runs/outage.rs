//! What is said while records of a collector cannot be written: once when that begins, once when the first of them are lost, and
//! once when it is over.

use std::sync::Arc;
use std::time::Duration;

use counter_log::SinkErrorKind;
use counter_log::writer::LogCounts;
use tokio::time::Instant;

/// Whether the records of a collector are written.
#[derive(Debug, Default)]
pub(super) struct Outages {
    now: Option<Outage>,
    /// Records that were lost, which was said.
    dropped: u64,
}

/// What became of all records of a collector so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records {
    pub(super) written: u64,
    pub(super) dropped: u64,
}

/// A time in which they are not.
#[derive(Debug)]
struct Outage {
    /// Records that were written before.
    written: u64,
    /// Records that were lost before.
    dropped: u64,
}

/// Why records of a log are not written now.
pub(super) struct Trouble {
    kind: &'static str,
    problem: Arc<str>,
    next_step: &'static str,
}

impl Trouble {
    /// That of a log, if it has any.
    pub(super) fn of(counts: &LogCounts, now: Instant) -> Option<Self> {
        let began = counts.write_began.filter(|_| !counts.is_finished);
        let hangs = began.is_some_and(|began| now.saturating_duration_since(began) >= HANGS_AFTER);
        match counts.failing.filter(|_| !counts.is_finished) {
            Some(kind) => {
                let problem = counts.last_failure.clone().unwrap_or_default();
                Some(Self { kind: kind.as_str(), problem, next_step: next_step(kind) })
            }
            None => hangs.then(|| Self {
                kind: "hangs",
                problem: format!("a write has not ended for {} s", HANGS_AFTER.as_secs()).into(),
                next_step: next_step(SinkErrorKind::Unavailable),
            }),
        }
    }
}

const fn next_step(kind: SinkErrorKind) -> &'static str {
    match kind {
        SinkErrorKind::Full => "make room there, or let sets keep less with `keep`",
        SinkErrorKind::Denied => "give the exporter's user the right to write there",
        SinkErrorKind::Unavailable => "see whether the disk is mounted, or the server runs",
        SinkErrorKind::Refused | SinkErrorKind::Other => "correct what `problem` says",
    }
}

impl Outages {
    /// Whether records are not written now.
    pub(super) const fn is_now(&self) -> bool {
        self.now.is_some()
    }

    /// Takes what became of all records of a collector's logs, and why some are not written now. `trouble` is `None` without logs.
    pub(super) fn follow(
        &mut self,
        (set, log, place): (&str, &str, &str),
        totals: Records,
        trouble: Option<Option<Trouble>>,
    ) {
        let Some(trouble) = trouble else {
            // What is left of it was lost, which is said.
            self.tell_loss((set, log, place), totals);
            self.now = None;
            return;
        };
        match (&self.now, &trouble) {
            (None, Some(Trouble { kind, problem, next_step })) => {
                tracing::warn!(
                    set,
                    log,
                    place,
                    kind,
                    problem = &**problem,
                    next_step,
                    "Records of a set cannot be written; they wait in memory"
                );
                self.now = Some(Outage { written: totals.written, dropped: totals.dropped });
            }
            // A log that began just now has no trouble yet.
            (Some(outage), None) if totals.written > outage.written => {
                let lost = totals.dropped - outage.dropped;
                tracing::info!(set, log, place, lost, "Records of a set are written again");
                self.now = None;
            }
            _ => {}
        }
        self.tell_loss((set, log, place), totals);
    }

    /// Says the first loss of an outage, or one without an outage: more came than could be written.
    fn tell_loss(&mut self, (set, log, place): (&str, &str, &str), totals: Records) {
        let lost = totals.dropped - self.dropped;
        let is_told = self.now.as_ref().is_some_and(|outage| self.dropped > outage.dropped);
        if lost > 0 && !is_told {
            tracing::warn!(
                set,
                log,
                place,
                lost,
                next_step = "have the disk or the database take them soon, or raise `plugins.settings.pla.log_memory`",
                "Records of a set are lost: they were not taken in time"
            );
        }
        self.dropped = totals.dropped;
    }
}

/// A disk or a server that takes longer for a write is said to hang.
const HANGS_AFTER: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::super::logged::logged;
    use super::*;

    const OF: (&str, &str, &str) = ("Nightly", "counters", "/files/web1/Nightly");

    fn counts(failing: Option<SinkErrorKind>) -> LogCounts {
        let last_failure = failing.map(|_| "no space left on device".into());
        LogCounts { failing, last_failure, ..LogCounts::default() }
    }

    fn totals(written: u64, dropped: u64) -> Records {
        Records { written, dropped }
    }

    #[test]
    fn an_outage_is_said_when_it_begins_when_it_loses_something_and_when_it_is_over() {
        let now = Instant::now();
        let full = || Some(Trouble::of(&counts(Some(SinkErrorKind::Full)), now));
        let fine = || Some(Trouble::of(&counts(None), now));
        let mut outages = Outages::default();
        let said = logged(|| {
            outages.follow(OF, totals(5, 0), fine());
            // The first failure, and nine that follow.
            (0..10).for_each(|_| outages.follow(OF, totals(5, 0), full()));
            // Another segment begins, and has no record yet.
            outages.follow(OF, totals(5, 0), fine());
            assert!(outages.is_now());
            (1..10).for_each(|lost| outages.follow(OF, totals(5, lost), full()));
            outages.follow(OF, totals(6, 9), fine());
            assert!(!outages.is_now());
            outages.follow(OF, totals(7, 9), fine());
            // It comes again, and the set ends meanwhile.
            outages.follow(OF, totals(7, 9), full());
            outages.follow(OF, totals(7, 12), None);
            outages.follow(OF, totals(7, 12), fine());
        });
        let of = r#" set="Nightly" log="counters" place="/files/web1/Nightly""#;
        let begins = format!(
            "Records of a set cannot be written; they wait in memory{of} kind=\"full\" problem=\"no space left on device\" \
             next_step=\"make room there, or let sets keep less with `keep`\""
        );
        let lost = |lost: u64| {
            let next =
                "have the disk or the database take them soon, or raise `plugins.settings.pla.log_memory`";
            format!(
                "Records of a set are lost: they were not taken in time{of} lost={lost} next_step=\"{next}\""
            )
        };
        let over = format!("Records of a set are written again{of} lost=9");
        assert_eq!(said, [begins.clone(), lost(1), over, begins, lost(3)]);
    }

    #[test]
    fn records_that_are_lost_without_a_failure_are_said_and_a_write_that_hangs_is_one() {
        let now = Instant::now();
        let mut outages = Outages::default();
        let hanging = |seconds: u64| {
            let write_began = now.checked_sub(Duration::from_secs(seconds));
            Some(Trouble::of(&LogCounts { write_began, ..counts(None) }, now))
        };
        let said = logged(|| {
            outages.follow(OF, totals(5, 2), hanging(1));
            outages.follow(OF, totals(5, 2), hanging(29));
            outages.follow(OF, totals(5, 2), hanging(30));
            outages.follow(OF, totals(5, 2), hanging(45));
            outages.follow(OF, totals(6, 2), hanging(0));
        });
        let begins = [
            "Records of a set are lost",
            "Records of a set cannot be written",
            "Records of a set are written",
        ];
        assert_eq!(said.len(), begins.len(), "{said:?}");
        assert!(said.iter().zip(begins).all(|(said, begins)| said.starts_with(begins)), "{said:?}");
        assert!(said[1].contains("kind=\"hangs\"") && said[1].contains("30 s"), "{}", said[1]);
    }
}
