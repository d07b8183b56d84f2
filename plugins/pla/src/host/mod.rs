//! Data collector sets of a host itself, over DCOM.
//!
//! | module | job |
//! | --- | --- |
//! | `list`, `progress` | all sets of a category: their names and their XML; how far they were read |
//! | `named` | one set by its name: read, started, stopped |
//! | `host_set` | what is kept of a set |
//! | `live` | the sets that a module wants, read again and again, with pauses after failures |
//! | `schedules` | when sets start next |

mod list;
mod live;
mod progress;
mod schedules;

use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use com::oaut::{Bstr, VariantBool};
use counter_types::NamePattern;
use dcom::client::Object;
use host_session::{SessionError, Target};
use ms_pla::data_collector_set::{QueryRequest, StartRequest, StopRequest};
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use plugin_sdk::{Collection, DeclaredReason, Failure, GeneralReason, Stage};
use plugin_session::{
    Explanation, InterfaceNames, ObjectConnection, ObjectService, ObjectStep, TransportSettings,
};
use rpc::orpc::ObjectInterface as _;
use serde::Deserialize;
use tokio::time::Instant;
use wire::HResult;

pub(crate) use self::list::{HostXml, Listed, Which, list};
pub(crate) use self::live::{HostSet, LiveSets, Wanted};
pub(crate) use self::progress::Progress;
pub(crate) use self::schedules::LocalTime;

use self::list::{CallError, read_text, read_xml};
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

/// What a set is told.
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
