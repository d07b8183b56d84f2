//! Data collector sets of a host itself, over DCOM.
//!
//! | module | job |
//! | --- | --- |
//! | `list`, `progress` | all sets of a category: their names and their XML; how far they were read |
//! | `live` | the sets that a module wants and what is kept of each, read again and again, with pauses after failures |
//!
//! One set by its name, read, started or stopped, and when sets start next, are here.

mod list;
mod live;
mod progress;

use std::time::Duration;

use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use com::oaut::{Bstr, VariantBool};
use counter_poll::over_host::{PipeChannel, error_of_registry, registry};
use counter_types::NamePattern;
use counters::rrp::winreg::{RegistryClient, RegistryValue, ValueRoom};
use dcom::client::Object;
use host_session::{SessionError, Target};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use ms_pla::data_collector_set::{QueryRequest, StartRequest, StopRequest};
use ms_pla::xml::Schedule;
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use pla_engine::StartSchedule;
use plugin_sdk::{Collection, DeclaredReason, Failure, GeneralReason, Stage};
use plugin_session::{
    Backoff, Explanation, InterfaceNames, ObjectConnection, ObjectService, ObjectStep, TransportSettings,
};
use rpc::orpc::ObjectInterface as _;
use serde::Deserialize;
use tokio::time::Instant;
use wire::HResult;

pub(crate) use self::list::{HostXml, Listed, Which, list};
pub(crate) use self::live::{HostSet, LiveSets, Wanted};
pub(crate) use self::progress::Progress;

use self::list::{CallError, read_text, read_xml};
use super::counters::Open;
use super::{REGISTRY, model};
use crate::reasons::{REASONS, explain};

/// All sets of a category.
pub(crate) const fn collection_service(category: Category) -> ObjectService {
    ObjectService {
        class: category.collection_class(),
        interfaces: &[IDataCollectorSetCollection::IID],
        names: NAMES,
        reasons: &REASONS,
        explain,
    }
}

/// One set of a category, with what failures of its calls mean.
pub(crate) const fn set_service(
    category: Category,
    reasons: &'static [DeclaredReason],
    explain: fn(&SessionError, ObjectStep) -> Option<Explanation>,
) -> ObjectService {
    ObjectService {
        class: category.set_class(),
        interfaces: &[IDataCollectorSet::IID],
        names: NAMES,
        reasons,
        explain,
    }
}

const NAMES: &[InterfaceNames] = &[
    InterfaceNames::of::<IDataCollectorSetCollection>(),
    InterfaceNames::of::<IDataCollectorSet>(),
    InterfaceNames::of::<IObjectExporter>(),
    InterfaceNames::of::<IRemoteSCMActivator>(),
    InterfaceNames::of::<IRemUnknown>(),
    InterfaceNames::of::<IRemUnknown2>(),
];

/// A category of sets, as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case", expecting = "a category of sets such as `user_defined`")]
#[value(rename_all = "snake_case")]
pub(crate) enum CategoryWord {
    /// sets that people made
    #[default]
    UserDefined,
    /// sets that belong to Windows
    System,
    /// traces that run now
    Session,
    /// traces that begin when the host starts
    BootSession,
}

impl CategoryWord {
    /// What the host calls it.
    pub(crate) const fn category(self) -> Category {
        match self {
            Self::UserDefined => Category::Server,
            Self::System => Category::System,
            Self::Session => Category::TraceSession,
            Self::BootSession => Category::BootTraceSession,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::UserDefined => "user_defined",
            Self::System => "system",
            Self::Session => "session",
            Self::BootSession => "boot_session",
        }
    }
}

/// Whether a host may take what is before the first backslash of a name for a category. Other names may have backslashes:
/// such sets are in folders.
pub(crate) fn is_behind_category(name: &str) -> bool {
    name.split_once('\\')
        .is_some_and(|(first, _)| CATEGORIES.iter().any(|category| first.eq_ignore_ascii_case(category)))
}

/// Whether these patterns let a set be started and stopped. They are about sets that people made, and `*` is not about others.
pub(crate) fn may_control(patterns: &[NamePattern], name: &str) -> bool {
    !is_behind_category(name) && patterns.iter().any(|pattern| pattern.matches(name))
}

/// What hosts call the categories.
const CATEGORIES: [&str; 4] = ["Service", "System", "Session", "Autosession"];

/// The object that starts sets of the host. It is activated when the first alert needs it, and kept.
#[derive(Debug)]
pub(crate) struct Starter {
    connection: ObjectConnection,
}

/// What became of a set that was to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Now,
    Before,
}

impl Starter {
    pub(crate) fn new(target: Target, transport: TransportSettings) -> Self {
        // As with commands, only sets that people made.
        let service = set_service(CategoryWord::UserDefined.category(), &REASONS, explain);
        // [MS-PLA] 2.1: the host may act as the account.
        let connection = ObjectConnection::new(target, service, transport).permit_impersonation();
        Self { connection }
    }

    pub(crate) fn reconfigure(&mut self, transport: TransportSettings) {
        self.connection.reconfigure(transport);
    }

    /// Has the host start the set of this name.
    ///
    /// # Errors
    /// If the host cannot be reached, has no such set, or does not start it.
    pub(crate) async fn start(
        &mut self,
        set: &str,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Started, Failure> {
        let mut object = self.connection.take(collection, deadline).await.map_err(|error| error.failure)?;
        match control(&mut object, set, Order::Start, deadline).await {
            Ok(()) => {
                self.connection.put_back(object);
                Ok(Started::Now)
            }
            Err(NamedError::Session(error)) if error.hresult == Some(HResult::PLA_E_DCS_IN_USE) => {
                self.connection.put_back(object);
                Ok(Started::Before)
            }
            Err(NamedError::Session(error)) => Err(self.connection.fail(object, &error).failure),
            Err(NamedError::Answer(message)) => {
                self.connection.put_back(object);
                Err(Failure::new(Stage::Query, GeneralReason::Other, message))
            }
        }
    }

    /// Gives the object back to the host.
    pub(crate) async fn release(&mut self, deadline: Instant) {
        self.connection.release(deadline).await;
    }
}

// One set by its name: read, started, stopped.

/// The field `audit` of records of who had which set started or stopped.
pub(crate) const AUDIT: &str = "data_collector_set";

/// What a set is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Start,
    Stop,
}

impl Order {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }
}

/// Why a set was not read, or not controlled.
#[derive(Debug)]
pub(crate) enum NamedError {
    Session(SessionError),
    /// The host's answer cannot be used.
    Answer(String),
}

impl From<SessionError> for NamedError {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// Has the object, one of the class of a category's sets, read the set of this name from the host's store. The name is not
/// case sensitive.
async fn query(set: &mut Object, name: &str, deadline: Instant) -> Result<(), NamedError> {
    let name = Bstr::new(name).map_err(|error| NamedError::Answer(error.to_string()))?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let queried = proxy.call(&QueryRequest { name, server: Bstr(None) }).await.map(drop);
    queried.map_err(|error| set.error_of(&error).into())
}

/// Reads the set of this name.
///
/// # Errors
/// If the host has none, or does not say what it is.
pub(crate) async fn read_named(
    set: &mut Object,
    name: &str,
    deadline: Instant,
) -> Result<HostXml, NamedError> {
    query(set, name, deadline).await?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let read = read_xml(&mut proxy).await;
    read.map_err(|error| set.error_of(&error))?.map_err(NamedError::Answer)
}

/// The XML of the set of this name as the host sends it, which nobody need be able to read.
///
/// # Errors
/// If the host has none, or sends no text.
pub(crate) async fn export_named(
    set: &mut Object,
    name: &str,
    deadline: Instant,
) -> Result<String, NamedError> {
    query(set, name, deadline).await?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let read = read_text(&mut proxy).await;
    read.map_err(|error| set.error_of(&error))?.map_err(NamedError::Answer)
}

/// Starts or stops the set of this name, and waits until the host has done so.
///
/// # Errors
/// If the host has no such set, or does not do it.
pub(crate) async fn control(
    set: &mut Object,
    name: &str,
    order: Order,
    deadline: Instant,
) -> Result<(), NamedError> {
    query(set, name, deadline).await?;
    let mut proxy = set.proxy::<IDataCollectorSet>(deadline).await?;
    let synchronous = VariantBool::TRUE;
    let done: Result<(), CallError> = match order {
        Order::Start => proxy.call(&StartRequest { synchronous }).await.map(drop),
        Order::Stop => proxy.call(&StopRequest { synchronous }).await.map(drop),
    };
    done.map_err(|error| set.error_of(&error).into())
}

// When the host's sets start next. Schedules are in the host's local time, whose offset its registry has.

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
        match ask_offset(open, collection, deadline).await {
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

async fn ask_offset(open: &mut Open, collection: &Collection, deadline: Instant) -> Result<i32, Failure> {
    let pipe = open.side_pipe(REGISTRY, collection, deadline).await?;
    let mut client = registry(pipe.association, deadline);
    let asked = time_zone_bias(&mut client).await;
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

async fn time_zone_bias(
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
