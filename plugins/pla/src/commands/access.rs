//! The options that all commands have, and the way to the host.

use std::time::Duration;

use dcom::client::Object;
use host_session::SessionError;
use ms_pla::Category;
use plugin_sdk::{DeclaredReason, Reason, Run};
use plugin_session::command::{
    CommandError, HostAccess, HostArguments, ObjectTransportArguments, parse_duration,
};
use plugin_session::{Explanation, ObjectService, ObjectStep};
use tokio::time::Instant;
use wire::HResult;

use crate::host::{HostXml, NamedError, export_named, is_behind_category, read_named, set_service};
use crate::reasons;

/// Options for the way to the host.
#[derive(clap::Args)]
pub(super) struct WayArguments {
    #[command(flatten)]
    host: HostArguments,
    /// The port of the host's object resolver
    #[arg(long, value_name = "N", default_value_t = 135)]
    dcom_port: u16,
    /// Time limit of the name lookup, and of each TCP connection
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    connect_timeout: Duration,
}

impl WayArguments {
    /// The way to the host. [MS-PLA] 2.1: the host may act as the account.
    pub(super) fn access(self) -> Result<HostAccess, CommandError> {
        let Self { host, dcom_port, connect_timeout } = self;
        let transport = ObjectTransportArguments::new(dcom_port, connect_timeout);
        HostAccess::of_objects(host, &transport).map(HostAccess::permit_impersonation)
    }
}

/// An object that reads or controls sets by their names.
pub(super) struct SetObject {
    object: Object,
    service: ObjectService,
}

impl SetObject {
    pub(super) async fn activate(
        run: &Run,
        access: &HostAccess,
        category: Category,
    ) -> Result<Self, CommandError> {
        run.progress(&format!("connecting to {}…", access.host()));
        let service = set_service(category, &SET_REASONS, explain);
        let object = access.activate(&service, run).await.map_err(|failed| failed.error)?;
        Ok(Self { object, service })
    }

    pub(super) const fn object(&mut self) -> &mut Object {
        &mut self.object
    }

    pub(super) fn error(&self, error: &NamedError) -> CommandError {
        match error {
            NamedError::Session(error) => CommandError::of_object(&self.service, error, ObjectStep::Call),
            NamedError::Answer(message) => {
                CommandError::failed(message, "report it with the version of the host's Windows")
            }
        }
    }

    /// Gives the object back, with what was read over it.
    async fn end<T>(self, run: &Run, read: Result<T, NamedError>) -> Result<T, CommandError> {
        let read = read.map_err(|error| self.error(&error));
        self.release().await;
        run.progress("");
        read
    }

    /// Gives the object back. If the host is slow, it drops the object when no pings come.
    pub(super) async fn release(self) {
        let _ = self.object.release(Instant::now() + RELEASE_MAX).await;
    }
}

pub(super) async fn read(
    run: &Run,
    access: &HostAccess,
    category: Category,
    name: &str,
) -> Result<HostXml, CommandError> {
    let mut set = begin(run, access, category, name).await?;
    let read = read_named(set.object(), name, Instant::now() + CALLS_MAX).await;
    set.end(run, read).await
}

/// The XML of one set as the host sends it.
pub(super) async fn export(
    run: &Run,
    access: &HostAccess,
    category: Category,
    name: &str,
) -> Result<String, CommandError> {
    let mut set = begin(run, access, category, name).await?;
    let text = export_named(set.object(), name, Instant::now() + CALLS_MAX).await;
    set.end(run, text).await
}

async fn begin(
    run: &Run,
    access: &HostAccess,
    category: Category,
    name: &str,
) -> Result<SetObject, CommandError> {
    check_name(name)?;
    let set = SetObject::activate(run, access, category).await?;
    run.progress("the set…");
    Ok(set)
}

pub(super) fn check_name(name: &str) -> Result<(), CommandError> {
    match name.is_empty() || is_behind_category(name) || name.chars().any(char::is_control) {
        false => Ok(()),
        true => Err(CommandError::usage("SET is the name of a data collector set, without its category")),
    }
}

/// How long all calls that read may take.
pub(super) const CALLS_MAX: Duration = Duration::from_secs(60);
pub(super) const RELEASE_MAX: Duration = Duration::from_secs(2);

// What the host's answers about one set mean.

const OF_SOURCE: usize = reasons::REASONS.len();

/// Those of the source, and after them those of commands.
const SET_REASONS: [DeclaredReason; OF_SOURCE + OF_COMMANDS.len()] = {
    let mut all = [OF_COMMANDS[0]; OF_SOURCE + OF_COMMANDS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = if index < OF_SOURCE { reasons::REASONS[index] } else { OF_COMMANDS[index - OF_SOURCE] };
        index += 1;
    }
    all
};

const OF_COMMANDS: [DeclaredReason; 7] = [
    DeclaredReason {
        word: "set_not_found",
        sentence: "The host has no such data collector set.",
        next_step: "List the sets of the host with `perfmon-exporter pla list`; --category has those of Windows, and traces.",
    },
    DeclaredReason {
        word: "set_in_use",
        sentence: "The set runs already, or something that it needs is in use.",
        next_step: "Stop it first, or wait until it ends: `perfmon-exporter pla show` has its status.",
    },
    DeclaredReason {
        word: "set_not_running",
        sentence: "The set does not run.",
        next_step: "Nothing has to be stopped: `perfmon-exporter pla show` has its status.",
    },
    DeclaredReason {
        word: "set_not_controllable",
        sentence: "Sets of this category can be neither started nor stopped.",
        next_step: "Choose a set that people made, from `perfmon-exporter pla list`.",
    },
    DeclaredReason {
        word: "set_start_timed_out",
        sentence: "The host did not start all data collectors of the set in time.",
        next_step: "See after a while with `perfmon-exporter pla show` whether it runs; the host's log \
                    Microsoft-Windows-Diagnosis-PLA/Operational says what its collectors lack.",
    },
    DeclaredReason {
        word: "set_credentials_missing",
        sentence: "The set runs as an account whose password the host does not have.",
        next_step: "Set the account in the properties of the set, on the host: Performance Monitor, Run As.",
    },
    DeclaredReason {
        word: "set_limit_reached",
        sentence: "The set's data manager does not let it start: too little disk, or too many folders.",
        next_step: "Remove old data below the set's root path on the host, or raise the limits of its data manager.",
    },
];

pub(super) fn explain(error: &SessionError, step: ObjectStep) -> Option<Explanation> {
    let of_command = match (step, error.hresult) {
        (ObjectStep::Call, Some(status)) => of_status(status),
        _ => None,
    };
    match of_command {
        #[expect(clippy::cast_possible_truncation, reason = "there are few")]
        Some(index) => {
            Some(Explanation { reason: Some(Reason::Declared((OF_SOURCE + index) as u32)), hint: "" })
        }
        None => reasons::explain(error, step),
    }
}

fn of_status(status: HResult) -> Option<usize> {
    Some(match status {
        HResult::PLA_E_DCS_NOT_FOUND => 0,
        HResult::PLA_E_DCS_IN_USE | HResult::PLA_E_DCS_SINGLETON_REQUIRED => 1,
        HResult::PLA_E_DCS_NOT_RUNNING => 2,
        HResult::E_NOTIMPL => 3,
        HResult::PLA_E_DCS_START_WAIT_TIMEOUT | HResult::PLA_E_DC_START_WAIT_TIMEOUT => 4,
        HResult::PLA_E_CREDENTIALS_REQUIRED => 5,
        HResult::PLA_E_NO_MIN_DISK | HResult::PLA_E_TOO_MANY_FOLDERS => 6,
        _ => return None,
    })
}
