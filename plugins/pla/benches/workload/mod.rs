//! Targets whose alerts are judged again and again on the replies of a simulated host, without a connection.

use std::fmt;
use std::future::{Future, ready};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use counter_poll::paths::{PathPlan, PathQuery};
use counter_poll::{Client, HostChannel};
use counters::pcq::perflibv2::{CallInfo, CounterData};
use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use plugin_pla::measured::Alerts;
use test_support::future::now;
use windows_sim::model::{Counter, Counterset, Moment, Provider, Sample, ValueSource};
use windows_sim::service::pcq::PerflibService;
use wire::{FileTime, Guid};

static PROVIDER: Provider =
    Provider { guid: Guid::from_u128(0x5c0f_0001_5a0e_4d0c_9a1f_3b7e_6d0f_2b01), name: "Works" };

static WORKS: Counterset = Counterset {
    guid: Guid::from_u128(0x5c0f_0002_5a0e_4d0c_9a1f_3b7e_6d0f_2b01),
    name: "Works",
    explain: "Works",
    german: None,
    german_explain: None,
    provider: &PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &[
        Counter::new(1, T::PERF_COUNTER_LARGE_RAWCOUNT, "Load", "Load"),
        Counter::new(2, T::PERF_COUNTER_BULK_COUNT, "Turns/sec", "Turns"),
    ],
};

static ALL: [&Counterset; 1] = [&WORKS];

/// A target with two replies, which its alerts are judged on by turns.
pub(crate) struct Target {
    pub(crate) alerts: Alerts,
    query: PathQuery,
    replies: [CounterData; 2],
    rounds: u32,
}

impl Target {
    /// `instances` of one counterset, and alerts with these thresholds.
    pub(crate) fn new(instances: u32, thresholds: &[String]) -> Self {
        let moments = Arc::new(AtomicU64::new(0));
        let source = Arc::new(Source { instances, moments: Arc::clone(&moments) });
        let mut client = Client::new(MemoryHost(PerflibService::new(source)), "web1");
        let mut alerts = Alerts::default();
        let paths = alerts.select(thresholds);
        let (plan, _) = now(PathPlan::find(&mut client, &paths, |_, _| {})).expect("the host has them");
        let mut query = now(PathQuery::open(&mut client, &plan)).expect("a query");
        alerts.found(plan, paths.len());
        alerts.log(paths);
        let replies = [0, 1].map(|moment| {
            moments.store(moment, Ordering::Relaxed);
            now(query.fetch(&mut client)).expect("a reply")
        });
        Self { alerts, query, replies, rounds: 0 }
    }

    /// Judges all alerts, whose interval has passed.
    pub(crate) fn round(&mut self) {
        let reply = &self.replies[self.rounds as usize % 2];
        self.rounds += 1;
        self.alerts.judge(&self.query, reply, Duration::from_secs(15) * self.rounds);
    }

    /// Makes a record of all counters. Returns how many values it has.
    pub(crate) fn record(&mut self) -> usize {
        let reply = &self.replies[self.rounds as usize % 2];
        self.rounds += 1;
        self.alerts.record(&self.query, reply, Duration::from_secs(15) * self.rounds)
    }

    /// Logs go to files below this directory.
    pub(crate) fn log_to(&mut self, directory: PathBuf) {
        self.alerts.log_to(directory);
    }

    /// Makes a record of all counters for the log.
    pub(crate) fn write(&mut self) {
        let reply = &self.replies[self.rounds as usize % 2];
        self.rounds += 1;
        self.alerts.write(&self.query, reply, Duration::from_secs(15) * self.rounds);
    }

    /// Ends the log. Returns how many records are in its file.
    pub(crate) async fn close(&mut self) -> u64 {
        self.alerts.close().await
    }

    /// The samples that fired so far.
    pub(crate) fn fired(&self) -> u64 {
        self.alerts.fired()
    }
}

struct Source {
    instances: u32,
    moments: Arc<AtomicU64>,
}

impl ValueSource for Source {
    fn countersets(&self) -> Vec<&'static Counterset> {
        ALL.to_vec()
    }

    fn moment(&self) -> Moment {
        let seconds = 15 * self.moments.load(Ordering::Relaxed);
        let boot = FileTime(134_116_992_000_000_000);
        Moment {
            time: FileTime(boot.0 + seconds * FileTime::INTERVALS_PER_SECOND),
            boot,
            perf_freq: 10_000_000,
        }
    }

    fn sample(&self, _: Guid, at: &Moment) -> Option<Vec<Sample>> {
        let turns = (at.time.0 - at.boot.0) / 1_000_000;
        let sample =
            |index: u32| Sample::of_numbers(&WORKS, index.to_string(), index, &[u64::from(index), turns]);
        Some((0..self.instances).map(sample).collect())
    }
}

/// A simulated host that is called without a connection.
struct MemoryHost(PerflibService);

/// A call had no response.
#[derive(Debug)]
struct Fault(dcerpc::FaultStatus);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fault {}", self.0)
    }
}

impl std::error::Error for Fault {}

impl dcerpc::Channel for MemoryHost {
    type Error = Fault;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Fault>> + Send {
        let info = CallInfo { auth_level: dcerpc::AuthLevel::PKT_PRIVACY, object: None };
        ready(self.0.execute(info, opnum, stub).map_err(Fault))
    }
}

impl HostChannel for MemoryHost {
    fn time_left(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn slowest_answer(&self) -> Duration {
        Duration::ZERO
    }

    fn limit_calls(&mut self, _call_max: Option<Duration>) {}

    fn is_timeout(_: &Fault) -> bool {
        false
    }

    fn concerns_one_call(_: &Fault) -> bool {
        true
    }
}
