//! `dump`: has a host write the memory of a process of a COM+ application into a file on the host.
//!
//! | module | job |
//! | --- | --- |
//! | `service` | the host's object, and what its failures mean |

mod service;

use std::time::Duration;

use com::comt::{DumpProcessRequest, IProcessDump, IsSupportedRequest};
use dcom::client::Object;
use plugin_sdk::{Command, Exit, Run};
use plugin_session::ObjectStep;
use plugin_session::command::{
    AuditRecord, AuditedAttempt, CommandError, HostAccess, HostArguments, ObjectTransportArguments,
    audit_field, user,
};
use tokio::time::Instant;
use wire::{Guid, HResult};

use self::service::DUMPER;
use crate::config::Settings;
use crate::dump_policy::{Directory, Policy, Refusal, permitted};

/// Has a process of a COM+ application dumped.
#[derive(Debug)]
pub(crate) struct Dump;

#[derive(clap::Args)]
pub(crate) struct DumpArguments {
    #[command(flatten)]
    host: HostArguments,
    /// The container id of an application in a process, which only events of the host tell
    #[arg(long, value_name = "GUID")]
    container: Guid,
    /// A directory on the host that `dump.directories` of the module names [default: the application's own, if allowed]
    #[arg(long, value_name = "PATH")]
    directory: Option<String>,
    /// Dumps of the application to keep there: the oldest of more is deleted [default: the application's own limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_files: Option<u32>,
    #[command(flatten)]
    transport: ObjectTransportArguments,
}

/// How long the host may take to write the dump.
const DUMP_MAX: Duration = Duration::from_secs(300);
const CALL_MAX: Duration = Duration::from_secs(30);
const RELEASE_MAX: Duration = Duration::from_secs(2);

impl Command for Dump {
    const NAME: &'static str = "dump";
    const HELP: &'static str = "Has the host write the memory of a COM+ application's process into a file on the host, where the configuration allows it";
    type Arguments = DumpArguments;

    async fn run(run: Run, arguments: DumpArguments) -> Exit {
        let DumpArguments { host, container, directory, max_files, transport } = arguments;
        let access = match HostAccess::of_objects(host, &transport) {
            Ok(access) => access.permit_impersonation(),
            Err(error) => return error.print(&run),
        };
        let attempt = attempt(access.host(), container, directory.as_deref());
        let place = match place(&run, access.host(), directory.as_deref()) {
            Ok(place) => place,
            Err(error) => {
                attempt.end(&format!("refused: {}", error.line()));
                return error.print(&run);
            }
        };
        attempt.requested();
        let place = place.as_ref().map(Directory::as_str);
        match dump(&run, &access, &Wanted { container, place, files_max: max_files.unwrap_or(0) }).await {
            Ok(file) => {
                attempt.end(&format!("written: {file}"));
                run.progress("");
                run.out(&format!("{file}\n"));
                Exit::Success
            }
            Err(error) => {
                attempt.end(&format!("failed: {}", error.line()));
                error.print(&run)
            }
        }
    }
}

/// What the host is asked for.
struct Wanted<'a> {
    container: Guid,
    place: Option<&'a str>,
    files_max: u32,
}

/// Where the dump goes, if the configuration of the target allows it.
fn place(run: &Run, host: &str, directory: Option<&str>) -> Result<Option<Directory>, CommandError> {
    let wanted = directory.map(|text| {
        let refused = |reason| {
            let next =
                "name a directory of one of the host's drives that `dump.directories` of the module contains";
            CommandError::failed(
                format!("the directory `{}` is refused: {reason}", text.escape_debug()),
                next,
            )
        };
        Directory::parse(text).map_err(refused)
    });
    let wanted = wanted.transpose()?;
    let settings = run.configured().iter().map(|module| &module.settings);
    let settings = settings.filter_map(|settings| plugin_sdk::parse_settings::<Settings>(settings).ok());
    let policies: Vec<Policy> = settings.map(|settings| settings.dump).collect();
    permitted(&policies, wanted.as_ref()).map_err(|refusal| explain(host, &refusal))
}

fn explain(host: &str, refusal: &Refusal) -> CommandError {
    let listed = |directories: &[String]| match directories {
        [] => "no directory is named there".to_owned(),
        directories => format!("there are {}", directories.join(", ")),
    };
    match refusal {
        Refusal::NotAllowed => CommandError::failed(
            format!("the configuration allows no process dumps of {host}"),
            "whoever is responsible for the host can set `dump: {allow: true, directories: ['C:\\Dumps']}` in a module \
             of plugin comt that the target has; name the configuration with --config",
        ),
        Refusal::NotListed(directories) => CommandError::failed(
            "`dump.directories` of the target's modules does not name the directory",
            format!("choose one of the list: {}", listed(directories)),
        ),
        Refusal::NoDirectory(directories) => CommandError::failed(
            "the configuration does not allow dumps in the application's own directory",
            format!(
                "give --directory with one of the list: {}; or set `dump.application_directory: true`",
                listed(directories)
            ),
        ),
    }
}

async fn dump(run: &Run, access: &HostAccess, wanted: &Wanted<'_>) -> Result<String, CommandError> {
    run.progress(&format!("connecting to {}…", access.host()));
    let mut object = access.activate(&DUMPER, run).await.map_err(|failed| failed.error)?;
    run.progress("the host writes the dump…");
    let written = write(&mut object, wanted).await;
    let _ = object.release(Instant::now() + RELEASE_MAX).await;
    written
}

async fn write(object: &mut Object, wanted: &Wanted<'_>) -> Result<String, CommandError> {
    let failed = |error| CommandError::of_object(&DUMPER, &error, ObjectStep::Call);
    let mut proxy = object.proxy::<IProcessDump>(Instant::now() + CALL_MAX).await.map_err(failed)?;
    let answered = proxy.call(&IsSupportedRequest {}).await;
    let answered = answered.map_err(|error| failed(object.error_of(&error)))?;
    if !answered.is_supported() {
        let session = object.program();
        let sentence = Unsupported;
        let error = host_session::SessionError::of_hresult(session.target(), HResult::S_FALSE, &sentence);
        return Err(failed(error));
    }
    let request = DumpProcessRequest::new(wanted.container, wanted.place, wanted.files_max);
    let request = request.map_err(|error| CommandError::failed(format!("dump process: {error}"), ""))?;
    let mut proxy = object.proxy::<IProcessDump>(Instant::now() + DUMP_MAX).await.map_err(failed)?;
    let written = proxy.call(&request).await.map_err(|error| failed(object.error_of(&error)))?;
    let file = written.file.text().ok().flatten().unwrap_or_default();
    Ok(file.chars().filter(|c| !c.is_control()).take(FILE_LEN_MAX).collect())
}

/// Longer than paths of Windows are.
const FILE_LEN_MAX: usize = 1024;

/// The answer of a host to the question whether it writes dumps.
#[derive(Debug)]
struct Unsupported;

impl core::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the host says that it does not write process dumps")
    }
}

impl core::error::Error for Unsupported {}

/// A process dump, as the log records it.
#[derive(Debug)]
struct Record {
    user: String,
    target: String,
    container: String,
    directory: String,
}

/// The field by which the exporter's log finds records of this kind.
const AUDIT: &str = "process_dump";
/// What a record has in place of a directory that is not given.
const APPLICATION_DIRECTORY: &str = "of the application";

/// An attempt to dump a process.
fn attempt(target: &str, container: Guid, directory: Option<&str>) -> AuditedAttempt<Record> {
    AuditedAttempt::new(Record {
        user: user(),
        target: audit_field(target),
        container: container.to_string(),
        directory: directory.map_or_else(|| APPLICATION_DIRECTORY.to_owned(), audit_field),
    })
}

impl AuditRecord for Record {
    fn requested(&self) {
        let Self { user, target, container, directory } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, "Process dump requested");
    }

    fn ended(&self, outcome: &str) {
        let Self { user, target, container, directory } = self;
        tracing::warn!(audit = AUDIT, user, target, container, directory, outcome, "Process dump ended");
    }
}
