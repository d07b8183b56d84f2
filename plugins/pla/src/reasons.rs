//! What failures of the host's data collector sets mean for the person who has to open something.

use host_session::{Reason as SessionReason, SessionError, Stage};
use plugin_sdk::{DeclaredReason, Reason};
use plugin_session::{DECLARED_REASONS, Explanation, ObjectStep};
use wire::HResult;

/// The reasons beyond the general ones. Their order is that of the constants below.
pub(crate) const REASONS: [DeclaredReason; 6] = [
    DECLARED_REASONS[0],
    DECLARED_REASONS[1],
    DeclaredReason {
        word: "pla_access_denied",
        sentence: "The account logged on, but the host refuses it its data collector sets.",
        next_step: "Put the account into the groups Performance Log Users and Distributed COM Users of the host, or give it \
                    remote launch and activation with dcomcnfg.",
    },
    DeclaredReason {
        word: "pla_not_registered",
        sentence: "The host has no performance logs and alerts.",
        next_step: "Remove `host` from the sets of the module: Windows has data collector sets since Vista, and some small \
                    installations lack them.",
    },
    DeclaredReason {
        word: "pla_port_blocked",
        sentence: "The host's object resolver answers, but the port of its service for data collector sets cannot be reached.",
        next_step: "Enable the firewall rules on the host, which are off by default: Enable-NetFirewallRule -Name \
                    'PerfLogsAlerts-*'. Let firewalls between pass the port that the message names: the host \
                    chooses it from the dynamic ports of RPC (TCP 49152 to 65535).",
    },
    DeclaredReason {
        word: "pla_set_not_read",
        sentence: "A data collector set of the host is not read: it is too large, is no XML, or the host refuses it to the account. \
                   The other sets are read.",
        next_step: "The message names the set and says why. Split a set whose XML has more than 1,048,576 characters, give the \
                    account the right to read the set, or leave it out of the names at `host`.",
    },
];

const ACCESS_DENIED: Reason = Reason::Declared(2);
const NOT_REGISTERED: Reason = Reason::Declared(3);
const PORT_BLOCKED: Reason = Reason::Declared(4);
/// Of one set, while others are read.
pub(crate) const SET_NOT_READ: Reason = Reason::Declared(5);

/// What is known of an error on the way to a host's sets, and in calls of them.
pub(crate) fn explain(error: &SessionError, step: ObjectStep) -> Option<Explanation> {
    let reason = match (step, error.stage) {
        (ObjectStep::Connect, Stage::Tcp) => {
            return Some(Explanation {
                reason: None,
                hint: "data collector sets are reached at TCP port 135 of the host: firewall rule Performance Logs and Alerts \
                       (DCOM-In)",
            });
        }
        (ObjectStep::Connect | ObjectStep::LogOn, _) => return None,
        // The resolver answered, so that the program's port is what fails: it is blocked, or calls to it end nowhere.
        (ObjectStep::Activate, Stage::Dns | Stage::Tcp) => PORT_BLOCKED,
        (ObjectStep::Activate, Stage::Bind) if error.reason == SessionReason::Timeout => PORT_BLOCKED,
        (ObjectStep::Activate | ObjectStep::Call, _) => of_object(error)?,
    };
    Some(Explanation { reason: Some(reason), hint: "" })
}

fn of_object(error: &SessionError) -> Option<Reason> {
    match error.hresult {
        Some(HResult::E_ACCESSDENIED | HResult::RPC_E_ACCESS_DENIED) => Some(ACCESS_DENIED),
        Some(HResult::REGDB_E_CLASSNOTREG) => Some(NOT_REGISTERED),
        None if error.reason == SessionReason::AccessDenied => Some(ACCESS_DENIED),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_the_place_of_its_word() {
        for (reason, word) in [
            (ACCESS_DENIED, "pla_access_denied"),
            (NOT_REGISTERED, "pla_not_registered"),
            (PORT_BLOCKED, "pla_port_blocked"),
            (SET_NOT_READ, "pla_set_not_read"),
        ] {
            let Reason::Declared(index) = reason else { panic!("{word} is declared") };
            assert_eq!(REASONS[index as usize].word, word);
        }
    }
}
