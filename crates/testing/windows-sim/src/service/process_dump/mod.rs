//! Process dumps [MS-COMT] 3.1.4.2: an object that writes the memory of a process of a COM+ application into a file. Here it
//! is entered into the host's [list of dumps](crate::DumpStore).

use std::sync::Arc;

use com::comt::{
    DumpProcessReply, DumpProcessRequest, IProcessDump, IProcessDumpServer, IsSupportedReply,
    IsSupportedRequest, ids,
};
use com::oaut::{Bstr, IDispatchServer};
use dcerpc::FaultStatus;
use rpc::orpc::IUnknownServer;
use rpc::{Interface, ServerResult};
use ssp::ImpersonationLevel;
use wire::{Guid, HResult, Win32Error};

use super::Call;
use super::objects::{ComClass, ComInterface, ComObject, Program, Refusing};
use crate::choices::ProcessDumps;
use crate::dumps::{OWN_DIRECTORY, OWN_FILES_MAX, ProcessDump};
use crate::host_state::HostState;

/// The name of process dumps in rules, counts and recordings.
pub const NAME: &str = "process-dump";

/// The class of the object that writes process dumps.
pub struct ProcessDumpService;

impl ComClass for ProcessDumpService {
    fn clsid(&self) -> Guid {
        ids::PROCESS_DUMP_CLASS
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[ComInterface {
            name: NAME,
            syntax_id: IProcessDump::SYNTAX_ID,
            refuse: IProcessDump::dispatch,
        }];
        INTERFACES
    }

    fn create(&self, host: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Ok(Box::new(ProcessDumpObject { host: Arc::clone(host) }))
    }
}

struct ProcessDumpObject {
    host: Arc<HostState>,
}

impl ComObject for ProcessDumpObject {
    fn call(&mut self, _: Guid, call: &Call<'_>, _: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        let impersonation = call.caller.map_or(ImpersonationLevel::Identify, |account| account.impersonation);
        let mut caller = DumpCall { host: &self.host, impersonation };
        IProcessDump::dispatch(&mut caller, &call.info(), call.opnum, call.stub)
    }
}

/// One call: what it may do depends on what its caller permits.
struct DumpCall<'a> {
    host: &'a HostState,
    impersonation: ImpersonationLevel,
}

impl DumpCall<'_> {
    fn is_supported(&self) -> bool {
        self.host.behaviour().choices.com_plus.process_dumps == ProcessDumps::Supported
    }

    //= [MS-COMT] 3.1.4.2.2
    //# the server MUST verify that the `bstrContainerID` parameter identifies a tracked instance container, and that this
    //# instance container is a distinguished container, and fail the call if not
    /// The process with this distinguished container, which is its first one, and the application in the container.
    fn process(&self, container: &Bstr) -> Option<(u32, Guid)> {
        let text = container.text().ok().flatten()?;
        let id: Guid = text.strip_prefix('{')?.strip_suffix('}')?.parse().ok()?;
        let source = self.host.source();
        let processes = source.com_processes(&source.moment());
        processes.iter().find_map(|process| {
            let distinguished = process.containers.first().filter(|one| one.container_id == id)?;
            Some((process.process_id, distinguished.application_id))
        })
    }
}

impl IUnknownServer for DumpCall<'_> {}

impl IDispatchServer for DumpCall<'_> {}

impl IProcessDumpServer for DumpCall<'_> {
    fn is_supported(&mut self, _: &IsSupportedRequest) -> ServerResult<IsSupportedReply, HResult> {
        let status = if DumpCall::is_supported(self) { HResult::S_OK } else { HResult::S_FALSE };
        Ok(IsSupportedReply { status })
    }

    fn dump_process(&mut self, request: &DumpProcessRequest) -> ServerResult<DumpProcessReply, HResult> {
        if !DumpCall::is_supported(self) {
            return Err(HResult::E_NOTIMPL.into());
        }
        let (process_id, application_id) = self.process(&request.container).ok_or(HResult::E_INVALIDARG)?;
        let named = request.directory.text().map_err(|_| HResult::E_INVALIDARG)?;
        let directory = match named.as_deref() {
            None | Some("") => OWN_DIRECTORY,
            Some(directory) => check(directory).map_err(HResult::from_win32)?,
        };
        //= [MS-COMT] <23>
        //# Windows COMT servers do impersonate the client when writing the dump file.
        if self.impersonation < ImpersonationLevel::Impersonate {
            return Err(HResult::from_win32(Win32Error::ERROR_BAD_IMPERSONATION_LEVEL).into());
        }
        open(directory).map_err(HResult::from_win32)?;
        let files_max = if request.files_max == 0 { OWN_FILES_MAX } else { request.files_max };
        let dump = ProcessDump::new(process_id, application_id, directory, self.host.source().moment().time);
        let file = Bstr::new(&dump.path()).map_err(|_| HResult::E_OUTOFMEMORY)?;
        self.host.dumps().add(dump, files_max);
        Ok(DumpProcessReply { file, status: HResult::S_OK })
    }
}

impl IProcessDumpServer for Refusing {}

/// [MS-COMT] <20>: `MAX_PATH`, in UTF-16 code units.
const LEN_MAX: usize = 260;
/// The drives of each host.
const DRIVES: [&str; 2] = ["C:", "D:"];
/// Where the accounts of the simulator may not write.
const CLOSED: &str = r"C:\System Volume Information";
/// What no name of a file has. A backslash is between two names.
const FORBIDDEN: [char; 7] = ['<', '>', ':', '"', '/', '|', '?'];

/// [MS-COMT] <20>: the syntax, which is a path on a drive or a UNC path.
fn check(directory: &str) -> Result<&str, Win32Error> {
    if directory.encode_utf16().count() > LEN_MAX {
        return Err(Win32Error::ERROR_INVALID_PARAMETER);
    }
    let names = match (directory.strip_prefix(r"\\"), directory.split_at_checked(2)) {
        (Some(share), _) => share.split_once('\\').map(|(_, share)| share),
        (None, Some((drive, names))) if is_drive(drive) => names.strip_prefix('\\'),
        _ => None,
    };
    let is_name = |name: &str| {
        !name.contains(|unit: char| unit.is_control() || unit == '*' || FORBIDDEN.contains(&unit))
    };
    match names {
        Some(names) if names.split('\\').all(is_name) => Ok(directory),
        _ => Err(Win32Error::ERROR_INVALID_NAME),
    }
}

/// Whether a file can be written there.
fn open(directory: &str) -> Result<(), Win32Error> {
    let begins =
        |start: &str| directory.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    if directory.starts_with(r"\\") {
        Err(Win32Error::ERROR_BAD_NETPATH)
    } else if !DRIVES.into_iter().any(begins) {
        Err(Win32Error::ERROR_PATH_NOT_FOUND)
    } else if begins(CLOSED) {
        Err(Win32Error::ERROR_ACCESS_DENIED)
    } else {
        Ok(())
    }
}

fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}
