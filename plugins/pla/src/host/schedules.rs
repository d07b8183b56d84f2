//! When the host's sets start next. Schedules are in the host's local time, whose offset its registry has.

use std::time::Duration;

use counter_poll::over_host::{PipeChannel, error_of_registry, registry};
use counters::rrp::winreg::{RegistryClient, RegistryValue, ValueRoom};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use ms_pla::xml::Schedule;
use pla_engine::StartSchedule;
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use plugin_session::Backoff;
use tokio::time::Instant;

use crate::REGISTRY;
use crate::counters::Open;
use crate::model;

/// The offset of the host's local time, read now and then over the second pipe, which classic counters use, too.
#[derive(Debug, Default)]
pub(crate) struct LocalTime {
    /// Minutes by which it is west of UTC.
    west_min: Option<i32>,
    /// When the collection began that read it.
    read: Option<Duration>,
    /// The pipe is a logon.
    backoff: Backoff,
}

impl LocalTime {
    /// Reads the offset if that is due. Without it no next start is known.
    pub(crate) async fn read(&mut self, open: &mut Open, collection: &Collection, deadline: Instant) {
        let now = collection.began();
        let is_young = self.read.is_some_and(|read| now.saturating_sub(read) < AGE_MAX);
        if is_young || self.backoff.begin(now).is_err() {
            return;
        }
        match ask(open, collection, deadline).await {
            Ok(west_min) => {
                (self.west_min, self.read) = (Some(west_min), Some(now));
                self.backoff.succeeded();
            }
            Err(failure) => {
                tracing::debug!(
                    problem = failure.message,
                    "The offset of the host's local time is not known"
                );
                if open.is_connected() {
                    self.backoff.fail(now, &failure);
                } else {
                    self.backoff.fail_with_others(now, &failure);
                }
            }
        }
        collection.enter(Stage::Query);
    }

    /// Forgets what failed: the host was away meanwhile, or somebody may have removed the cause.
    pub(crate) fn forget_failures(&mut self) {
        self.backoff.forget();
    }

    /// The first start after `now_unix_s`, in seconds since 1970 UTC.
    pub(crate) fn next_start(&self, schedules: &[Schedule], now_unix_s: i64) -> Option<u64> {
        let offset = Offset::from_seconds(-self.west_min?.checked_mul(60)?).ok()?;
        let now = Timestamp::from_second(now_unix_s).ok()?;
        let schedules: Vec<StartSchedule> = schedules.iter().filter_map(model::schedule).collect();
        let start = pla_engine::next_start(&schedules, now, &TimeZone::fixed(offset))?;
        u64::try_from(start.as_second()).ok()
    }
}

async fn ask(open: &mut Open, collection: &Collection, deadline: Instant) -> Result<i32, Failure> {
    let pipe = open.side_pipe(REGISTRY, collection, deadline).await?;
    let mut client = registry(pipe.association, deadline);
    let asked = value(&mut client).await;
    let failed = |text: String| Failure::new(Stage::Query, GeneralReason::Other, text);
    let value = asked.map_err(|error| {
        let error = error_of_registry(open.session().target(), &error);
        open.side_pipe_failed(&error)
    })?;
    let west_min = value.number().map_err(|error| failed(error.to_string()))?.cast_signed();
    if west_min.unsigned_abs() <= MINUTES_OF_A_DAY {
        Ok(west_min)
    } else {
        Err(failed(format!("the host's local time is {west_min} minutes west of UTC")))
    }
}

async fn value(
    client: &mut RegistryClient<PipeChannel<'_>>,
) -> Result<RegistryValue, counters::rrp::Error<host_session::rpc_client::Error>> {
    let root = client.open_local_machine().await?;
    let key = client.open_key(&root, TIME_ZONE).await?;
    let value = client.query_value(&key, "ActiveTimeBias", &mut ValueRoom::new(ROOM_BYTES)).await;
    client.close_key(key).await?;
    client.close_key(root).await?;
    value
}

const TIME_ZONE: &str = r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation";
const MINUTES_OF_A_DAY: u32 = 24 * 60;
const ROOM_BYTES: u32 = 64;
/// Local times change their offset at full hours, as a rule.
const AGE_MAX: Duration = Duration::from_secs(3_600);
