//! When the host's sets start next. Schedules are in the host's local time, whose offset its registry has.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use ms_pla::xml::Schedule;
use ms_rrp::winreg::{RegistryClient, RegistryValue, ValueRoom};
use perflib_session::{PipeChannel, error_of_registry, registry};
use pla_engine::StartSchedule;
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use tokio::time::Instant;

use crate::counters::Open;
use crate::model;
use crate::session::REGISTRY;

/// The offset of the host's local time, read now and then over the second pipe, which classic counters use, too.
#[derive(Debug, Default)]
pub(crate) struct LocalTime {
    /// Minutes by which it is west of UTC.
    west_min: Option<i32>,
    read: Option<Instant>,
    /// Collections that are let pass after a failure: the pipe is a logon.
    pause: u32,
    /// Whether the connection was lost meanwhile since the offset was read last.
    was_lost: bool,
}

impl LocalTime {
    /// Reads the offset if that is due. Without it no next start is known.
    pub(crate) async fn read(&mut self, open: &mut Open, collection: &Collection, deadline: Instant) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        if self.read.is_some_and(|at| at.elapsed() < AGE_MAX) {
            return;
        }
        match ask(open, collection, deadline).await {
            Ok(west_min) => {
                (self.west_min, self.read, self.was_lost) = (Some(west_min), Some(Instant::now()), false);
            }
            Err(failure) => {
                tracing::debug!(
                    problem = failure.message,
                    "The offset of the host's local time is not known"
                );
                // Another connection is another attempt, but this may be what ends each of them.
                let is_first_loss = !open.is_connected() && !std::mem::replace(&mut self.was_lost, true);
                self.pause = if is_first_loss { 0 } else { COLLECTIONS_BETWEEN };
            }
        }
        collection.enter(Stage::Query);
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
) -> Result<RegistryValue, ms_rrp::Error<rpc_client::Error>> {
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
const COLLECTIONS_BETWEEN: u32 = 20;
