//! Facts of a host that are no counters: from its registry, and from the clocks of its replies.
//!
//! The registry is read once for each connection and again after [`READ_INTERVAL`]; services only after
//! [`SERVICES_INTERVAL`]. In between there is no call. What cannot be read costs its own metric, and after a failure of
//! the whole registry it is left alone for a while.

mod fact;
mod reader;
mod registry_facts;
mod series;
mod services;

use std::time::{Duration, SystemTime};

use counter_poll::over_host::CallTimes;
use counter_types::{RawClocks, boot_time};
use plugin_sdk::{Collection, Failure, FamilyId, GeneralReason, Output, Stage};
use plugin_session::{Backoff, OpenSession};
use tokio::time::Instant;
use wire::FileTime;

pub(crate) use self::fact::{NAMESPACE, SERVICE_OBJECT};

use self::fact::{Fact, Found, Unread};
use self::reader::{Lost, Reader};
use self::registry_facts::Group;
use self::series::FactSeries;
use self::services::ServiceScan;
use crate::REGISTRY;

/// Which facts are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WantedFacts {
    pub(crate) host_info: bool,
    /// Services at most; zero for none.
    pub(crate) max_services: u32,
}

/// The facts of one host.
#[derive(Debug, Default)]
pub(crate) struct HostInfo {
    wanted: WantedFacts,
    is_outdated: bool,
    series: FactSeries,
    boot: BootTime,
    /// When each group was read, over this connection.
    read_at: [Option<Instant>; Group::ALL.len()],
    services_read_at: Option<Instant>,
    scan: Option<ServiceScan>,
    backoff: Backoff,
}

/// The clocks of a reply, and the call that it answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyClocks {
    pub(crate) clocks: RawClocks,
    pub(crate) call: CallTimes,
}

impl HostInfo {
    pub(crate) fn new(wanted: WantedFacts) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Wants other facts from now on.
    pub(crate) fn select(&mut self, wanted: WantedFacts) {
        self.is_outdated |= wanted != self.wanted;
        self.wanted = wanted;
        self.forget();
    }

    /// Begins a collection, and ends series that may not be wanted any more.
    pub(crate) fn begin(&mut self, output: &mut Output) {
        if std::mem::take(&mut self.is_outdated) {
            self.series.end(output);
            self.services_read_at = None;
            self.scan = None;
            self.lose_connection();
        }
    }

    /// The host may have been started again.
    pub(crate) const fn lose_connection(&mut self) {
        self.read_at = [None; Group::ALL.len()];
    }

    /// The connection was lost while something was read over it, perhaps this.
    pub(crate) const fn retry(&mut self) {
        self.backoff.cut_short();
        self.lose_connection();
    }

    /// Forgets what failed: somebody may have changed what it failed by.
    pub(crate) fn forget(&mut self) {
        self.backoff.forget();
    }

    /// The families that were registered.
    pub(crate) fn families(&self) -> impl Iterator<Item = FamilyId> {
        self.series.families()
    }

    /// Reads what is due over `open`. What takes too long goes on in the next one.
    /// Returns whether the second pipe is another one now.
    pub(crate) async fn refresh<H>(
        &mut self,
        open: &mut OpenSession<H>,
        collection: &mut Collection,
        deadline: Instant,
    ) -> bool {
        let now = Instant::now();
        if !open.is_connected() || !self.is_due(now) || self.backoff.begin(collection.began()).is_err() {
            return false;
        }
        collection.enter(Stage::Query);
        let mut is_pipe_new = false;
        match self.attempt(open, collection, now, deadline, &mut is_pipe_new).await {
            Ok(()) => {
                self.backoff.succeeded();
                if let Some(name) = self.series.label(Fact::Name, "fqdn") {
                    collection.handle().fact("host.name", name);
                }
            }
            Err((why, failure)) => {
                self.lack_all(why, collection.output());
                if open.is_connected() {
                    self.backoff.fail(collection.began(), &failure);
                    tracing::warn!(
                        error = %failure.message,
                        next_attempt_in_s = self.backoff.left(collection.began()).as_secs(),
                        "Host does not give facts from its registry"
                    );
                } else {
                    self.backoff.fail_with_others(collection.began(), &failure);
                }
            }
        }
        is_pipe_new
    }

    /// Reads over the second pipe, which is opened again once if it was opened earlier and lost meanwhile.
    async fn attempt<H>(
        &mut self,
        open: &mut OpenSession<H>,
        collection: &mut Collection,
        now: Instant,
        deadline: Instant,
        is_pipe_new: &mut bool,
    ) -> Result<(), (Unread, Failure)> {
        let calls_end = share(now, deadline, 2);
        let mut is_retry = false;
        loop {
            let pipe = open.side_pipe(REGISTRY, collection, calls_end).await;
            let pipe = pipe.map_err(|failure| (Unread::Unavailable, failure))?;
            let may_be_stale = !pipe.is_new && !is_retry;
            *is_pipe_new |= pipe.is_new;
            let calls = pipe.association.calls();
            let client = counter_poll::over_host::registry(pipe.association, calls_end);
            let read = match Reader::open(client, share(now, deadline, 4)).await {
                Ok(Ok(reader)) => self.read(reader, now, collection.output()).await.map(Ok),
                Ok(Err(why)) => Ok(Err(why)),
                Err(lost) => Err(lost),
            };
            collection.stages().add(pipe.association.calls() - calls, 0, 0);
            let lost = match read {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(why)) => return Err((why, refused(why))),
                Err(lost) => counter_poll::over_host::error_of_registry(open.session().target(), &lost),
            };
            let failure = open.side_pipe_failed(&lost);
            if !(may_be_stale && open.is_connected()) {
                return Err((Unread::Unavailable, failure));
            }
            is_retry = true;
        }
    }

    /// Takes the clocks of a reply, and sends all that is known.
    pub(crate) fn emit(&mut self, reply: Option<ReplyClocks>, output: &mut Output) {
        if self.wanted.host_info {
            let boot = reply.and_then(|reply| self.boot.observe(reply.clocks));
            let host_time = |reply: &ReplyClocks| FileTime(reply.clocks.time_100ns);
            let skew = reply.and_then(|reply| skew(host_time(&reply), reply.call));
            self.series.set(Fact::BootTime, boot, output);
            self.series.set(Fact::ClockSkew, skew, output);
        }
        self.series.emit(output);
    }

    async fn read(&mut self, mut reader: Reader<'_>, now: Instant, output: &mut Output) -> Result<(), Lost> {
        for (group, place) in Group::ALL.into_iter().zip(0..) {
            if self.is_group_due(place, now) && !reader.is_time_up() {
                let found = group.read(&mut reader).await?;
                self.series.replace(group.facts(), found, output);
                self.read_at[place] = Some(now);
            }
        }
        if self.are_services_due(now) && !reader.is_time_up() {
            let max_services = self.wanted.max_services;
            let scan = self.scan.get_or_insert_with(|| ServiceScan::new(max_services));
            if let Some(found) = scan.go_on(&mut reader).await? {
                self.series.replace(&[Fact::Service], found, output);
                self.scan = None;
                self.services_read_at = Some(now);
            }
        }
        reader.finish().await
    }

    fn is_due(&self, now: Instant) -> bool {
        (0..Group::ALL.len()).any(|place| self.is_group_due(place, now)) || self.are_services_due(now)
    }

    fn is_group_due(&self, place: usize, now: Instant) -> bool {
        self.wanted.host_info && is_over(self.read_at[place], READ_INTERVAL, now)
    }

    fn are_services_due(&self, now: Instant) -> bool {
        self.wanted.max_services > 0 && is_over(self.services_read_at, SERVICES_INTERVAL, now)
    }

    /// Reports the facts that were never read.
    fn lack_all(&mut self, why: Unread, output: &mut Output) {
        let groups = Group::ALL.iter().filter(|_| self.wanted.host_info);
        let services = (self.wanted.max_services > 0).then_some(Fact::Service);
        let facts = groups.flat_map(|group| group.facts()).copied().chain(services);
        let facts: Vec<Fact> = facts.filter(|fact| !self.series.has(*fact)).collect();
        let missing = facts.iter().map(|fact| (*fact, why)).collect();
        self.series.replace(&facts, Found { missing, ..Found::default() }, output);
    }
}

/// Whether something was not read for so long, or never.
fn is_over(read_at: Option<Instant>, interval: Duration, now: Instant) -> bool {
    read_at.is_none_or(|at| now.saturating_duration_since(at) >= interval)
}

/// A part of the time that is left.
fn share(now: Instant, deadline: Instant, parts: u32) -> Instant {
    now + deadline.saturating_duration_since(now) / parts
}

/// The root of the registry was not opened.
fn refused(why: Unread) -> Failure {
    let message = format!("the host does not open its registry ({})", why.as_str());
    Failure::new(Stage::Query, GeneralReason::AccessDenied, message)
}

/// Facts change when a host is started again or configured, and its time zone's offset twice a year.
const READ_INTERVAL: Duration = Duration::from_secs(3_600);
/// Services take many calls.
const SERVICES_INTERVAL: Duration = Duration::from_secs(6 * 3_600);

// The time at which a host was started, and how far its wall clock is off.

/// The start of a host, kept from reply to reply: each shows another one, by the drift between the host's clocks.
#[derive(Debug, Default)]
struct BootTime {
    last: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    boot_ns: i64,
    /// What the last reply showed.
    inferred_ns: i64,
    perf_time: u64,
}

impl BootTime {
    /// The start of the host in seconds since 1970, by a reply's clocks. It is another one if the performance clock began
    /// again, or if the wall clock was set since the last reply.
    #[expect(clippy::cast_precision_loss, reason = "seconds are floating-point by nature")]
    fn observe(&mut self, clocks: RawClocks) -> Option<f64> {
        let inferred_ns = boot_time(clocks.perf_time, clocks.perf_freq, clocks.time_100ns)?;
        let kept = self.last.filter(|last| {
            clocks.perf_time >= last.perf_time && last.inferred_ns.abs_diff(inferred_ns) < STEP_MIN_NS
        });
        let boot_ns = kept.map_or(inferred_ns, |last| last.boot_ns);
        self.last = Some(Seen { boot_ns, inferred_ns, perf_time: clocks.perf_time });
        Some(Duration::from_nanos(u64::try_from(boot_ns).ok()?).as_millis() as f64 / 1e3)
    }
}

/// Clocks that differ by so much from one reply to the next do not drift: one of them was set.
const STEP_MIN_NS: u64 = 30 * 1_000_000_000;

/// The host's wall clock minus ours at the middle of the call that it answered, in seconds.
fn skew(host: FileTime, call: CallTimes) -> Option<f64> {
    let CallTimes { began, ended } = call;
    // It may be that our clock was set during the call.
    let middle = began + ended.duration_since(began).ok()? / 2;
    let ours = middle.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let skew_ns = host.to_unix_nanos() - i128::try_from(ours.as_nanos()).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "seconds are floating-point by nature")]
    Some(skew_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_again_after_an_hour_and_services_after_six() {
        let now = Instant::now();
        let wanted = WantedFacts { host_info: true, max_services: 10 };
        let mut info = HostInfo::new(wanted);
        assert!(info.is_due(now), "never read");
        info.read_at = [Some(now); Group::ALL.len()];
        info.services_read_at = Some(now);
        let hours = |hours: u64| now + Duration::from_secs(3_600 * hours);
        let due = |info: &HostInfo, then| (info.is_group_due(0, then), info.are_services_due(then));
        assert_eq!(due(&info, hours(1) - Duration::from_secs(1)), (false, false));
        assert_eq!(due(&info, hours(1)), (true, false));
        assert_eq!(due(&info, hours(6)), (true, true));
        info.lose_connection();
        assert_eq!(due(&info, now), (true, false), "the host may have been started again");
    }

    #[test]
    fn what_is_not_wanted_is_never_due() {
        let info = HostInfo::new(WantedFacts::default());
        assert!(!info.is_due(Instant::now()));
    }

    const SECOND: u64 = 10_000_000;

    /// 2026-01-01T12:00:00Z, 1,767,268,800 s after 1970.
    const NOON: u64 = 134_117_424_000_000_000;

    const NOON_UNIX: u64 = 1_767_268_800;

    fn clocks(perf_s: u64, time_100ns: u64) -> RawClocks {
        RawClocks { perf_time: perf_s * 1_000, perf_freq: 1_000, time_100ns, ..RawClocks::default() }
    }

    #[test]
    fn the_start_of_a_host_stays_though_its_clocks_drift_apart() {
        let mut boot = BootTime::default();
        let began = (NOON_UNIX - 100) as f64;
        assert_eq!(boot.observe(clocks(100, NOON)), Some(began));
        let mut now = (100, NOON);
        for _ in 0..100 {
            // A second in a minute.
            now = (now.0 + 60, now.1 + 61 * SECOND);
            assert_eq!(boot.observe(clocks(now.0, now.1)), Some(began));
        }
    }

    #[test]
    fn a_host_that_was_started_again_or_whose_clock_was_set_has_another_start() {
        let mut boot = BootTime::default();
        boot.observe(clocks(10, NOON));
        let again = boot.observe(clocks(5, NOON + 20 * SECOND));
        assert_eq!(again, Some((NOON_UNIX + 15) as f64), "its performance clock began again");
        let set = boot.observe(clocks(6, NOON + 3621 * SECOND));
        assert_eq!(set, Some((NOON_UNIX + 3615) as f64), "its wall clock was set an hour ahead");
        assert_eq!(boot.observe(RawClocks::default()), None, "no clocks");
    }

    #[test]
    fn the_skew_is_against_our_clock_in_the_middle_of_the_call() {
        let began = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON_UNIX);
        let call = CallTimes { began, ended: began + Duration::from_millis(500) };
        assert_eq!(skew(FileTime(NOON), call), Some(-0.25));
        assert_eq!(skew(FileTime(NOON + 5 * SECOND), call), Some(4.75));
        let set_back = CallTimes { began: call.ended, ended: began };
        assert_eq!(skew(FileTime(NOON), set_back), None);
    }
}
