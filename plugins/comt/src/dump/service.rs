//! The host's object that writes dumps, and what its failures mean.

use com::comt::{IProcessDump, ids};
use host_session::{Reason as SessionReason, SessionError};
use plugin_sdk::{DeclaredReason, Reason};
use plugin_session::{Explanation, ObjectService, ObjectStep};
use rpc::orpc::ObjectInterface as _;
use wire::{HResult, Win32Error};

use crate::reasons::REASONS;
use crate::tracker::{NAMES, TRACKER};

/// What the command uses of a host.
pub(super) const DUMPER: ObjectService = ObjectService {
    class: ids::PROCESS_DUMP_CLASS,
    interfaces: &[IProcessDump::IID],
    names: NAMES,
    reasons: &DUMP_REASONS,
    explain,
};

const TRACKER_REASONS: usize = REASONS.len();

/// Those of the tracker, and after them those of dumps.
const DUMP_REASONS: [DeclaredReason; TRACKER_REASONS + 4] = {
    let mut reasons = [NOT_SUPPORTED; TRACKER_REASONS + 4];
    let mut index = 0;
    while index < TRACKER_REASONS {
        reasons[index] = REASONS[index];
        index += 1;
    }
    reasons[TRACKER_REASONS + 1] = ACCESS_DENIED;
    reasons[TRACKER_REASONS + 2] = CONTAINER_NOT_FOUND;
    reasons[TRACKER_REASONS + 3] = DIRECTORY_REFUSED;
    reasons
};

const NOT_SUPPORTED: DeclaredReason = DeclaredReason {
    word: "dump_not_supported",
    sentence: "The host does not write process dumps.",
    next_step: "Dump the process on the host itself, for example with its Task Manager.",
};
const ACCESS_DENIED: DeclaredReason = DeclaredReason {
    word: "dump_access_denied",
    sentence: "The host refuses the account a dump.",
    next_step: "Give the account the role Administrator of the COM+ application System Application, and the right to write \
                files in the directory on the host.",
};
const CONTAINER_NOT_FOUND: DeclaredReason = DeclaredReason {
    word: "container_not_found",
    sentence: "The host takes the request for invalid: as a rule the container has ended.",
    next_step: "Take the container id from a list of now, `perfmon-exporter comt list`: it changes whenever the process of the \
                application is started or recycled.",
};
const DIRECTORY_REFUSED: DeclaredReason = DeclaredReason {
    word: "directory_refused",
    sentence: "The host cannot write to the directory.",
    next_step: "Create the directory on the host, or choose another one that `dump.directories` of the module names.",
};

/// The number of a reason of dumps.
const fn of_dumps(index: u32) -> Reason {
    #[expect(clippy::cast_possible_truncation, reason = "there are few")]
    Reason::Declared(TRACKER_REASONS as u32 + index)
}

const ERROR_DIRECTORY: Win32Error = Win32Error(267);

fn explain(error: &SessionError, step: ObjectStep) -> Option<Explanation> {
    if step != ObjectStep::Call {
        return (TRACKER.explain)(error, step);
    }
    let reason = match error.hresult {
        Some(HResult::E_NOTIMPL | HResult::S_FALSE) => of_dumps(0),
        Some(HResult::E_ACCESSDENIED | HResult::RPC_E_ACCESS_DENIED) => of_dumps(1),
        Some(HResult::E_INVALIDARG) => of_dumps(2),
        Some(status) if is_of_directory(status) => of_dumps(3),
        None if error.reason == SessionReason::AccessDenied => of_dumps(1),
        _ => return None,
    };
    Some(Explanation { reason: Some(reason), hint: "" })
}

fn is_of_directory(status: HResult) -> bool {
    matches!(
        status.to_win32(),
        Some(
            Win32Error::ERROR_FILE_NOT_FOUND
                | Win32Error::ERROR_PATH_NOT_FOUND
                | Win32Error::ERROR_BAD_NETPATH
                | Win32Error::ERROR_INVALID_NAME
                | ERROR_DIRECTORY
        )
    )
}
