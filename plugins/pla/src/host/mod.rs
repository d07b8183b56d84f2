//! Data collector sets of a host itself, over DCOM.
//!
//! | module | job |
//! | --- | --- |
//! | `list`, `progress` | all sets of a category: their names and their XML; how far they were read |
//! | `named` | one set by its name: read, started, stopped |
//! | `host_set` | what is kept of a set |
//! | `live` | the sets that a module wants, read again and again, with pauses after failures |
//! | `schedules` | when sets start next |

mod host_set;
mod list;
mod live;
mod named;
mod progress;
mod schedules;

pub(crate) use self::host_set::HostSet;
pub(crate) use self::list::{HostXml, Listed, Which, list};
pub(crate) use self::live::{LiveSets, Wanted};
pub(crate) use self::named::{AUDIT, NamedError, Order, control, export_named, read_named};
pub(crate) use self::progress::Progress;
pub(crate) use self::schedules::LocalTime;
use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use counter_types::NamePattern;
use host_session::{SessionError, Target};
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use plugin_sdk::{Collection, DeclaredReason, Failure, GeneralReason, Stage};
use plugin_session::{
    Explanation, InterfaceNames, ObjectConnection, ObjectService, ObjectStep, TransportSettings,
};
use rpc::orpc::ObjectInterface as _;
use serde::Deserialize;
use tokio::time::Instant;
use wire::HResult;

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
