//! The options that all commands have, and the way to the host.

use std::time::Duration;

use dcom::client::Object;
use ms_pla::Category;
use plugin_sdk::Run;
use plugin_session::command::{
    CommandError, HostAccess, HostArguments, ObjectTransportArguments, parse_duration,
};
use plugin_session::{ObjectService, ObjectStep};
use tokio::time::Instant;

use super::reasons::{SET_REASONS, explain};
use crate::host::{HostXml, NamedError, export_named, is_behind_category, read_named, set_service};

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
