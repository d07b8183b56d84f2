//! What the host's answers about one set mean.

use host_session::SessionError;
use plugin_sdk::{DeclaredReason, Reason};
use plugin_session::{Explanation, ObjectStep};
use wire::HResult;

use crate::reasons;

const OF_SOURCE: usize = reasons::REASONS.len();

/// Those of the source, and after them those of commands.
pub(super) const SET_REASONS: [DeclaredReason; OF_SOURCE + OF_COMMANDS.len()] = {
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
