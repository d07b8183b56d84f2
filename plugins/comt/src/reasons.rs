//! What failures mean for the person who has to open something.

use host_session::{Reason as SessionReason, SessionError};
use plugin_sdk::{DeclaredReason, Reason};
use plugin_session::{DECLARED_REASONS, Explanation};
use wire::HResult;

/// The reasons beyond the general ones. Their order is that of the constants below.
pub(crate) const REASONS: [DeclaredReason; 13] = [
    DECLARED_REASONS[0],
    DECLARED_REASONS[1],
    DeclaredReason {
        word: "com_access_denied",
        sentence: "The account logged on, but the host refuses it the COM+ tracker.",
        next_step: "Enable COM+ Network Access on the host (RemoteAccessEnabled = 1 in HKLM\\SOFTWARE\\Microsoft\\COM3), \
                    give the account remote launch and activation (group Distributed COM Users, or dcomcnfg), and put it \
                    into the role Reader of the COM+ application System Application.",
    },
    DeclaredReason {
        word: "tracker_not_registered",
        sentence: "The host has no COM+ tracker.",
        next_step: "Install COM+ Network Access on the host: before Windows Server 2016 it is a part of the role \
                    Application Server.",
    },
    DeclaredReason {
        word: "dcom_version_mismatch",
        sentence: "The host does not speak the version of DCOM that it named.",
        next_step: "Check that nothing between this machine and the host changes the traffic; otherwise report it with a \
                    network capture.",
    },
    DeclaredReason {
        word: "invalid_object_reference",
        sentence: "The host did not understand an object reference or the context of the activation.",
        next_step: "Report it with a network capture and the version of the host's Windows.",
    },
    DeclaredReason {
        word: "dcom_disabled",
        sentence: "DCOM is disabled on the host, or takes no calls from other machines.",
        next_step: "Enable Distributed COM on the host: dcomcnfg, My Computer, Default Properties.",
    },
    DeclaredReason {
        word: "object_port_blocked",
        sentence: "The host's object resolver answers, but the port of the tracker's program cannot be reached.",
        next_step: "Allow this machine the port that the message names in the firewalls between: the host chooses it from \
                    the dynamic ports of RPC (TCP 49152 to 65535), rule COM+ Remote Administration (DCOM-In).",
    },
    DeclaredReason {
        word: "event_system_denied",
        sentence: "The account logged on, but the host's COM+ event system refuses it a subscription.",
        next_step: "Give the account remote launch, activation and access of the class EventSystem (dcomcnfg, or group \
                    Distributed COM Users), or set `mode: poll` in the module.",
    },
    DeclaredReason {
        word: "event_system_not_registered",
        sentence: "The host has no COM+ event system.",
        next_step: "Start the service COM+ Event System (EventSystem) on the host, or set `mode: poll` in the module.",
    },
    DeclaredReason {
        word: "event_system_port_blocked",
        sentence: "The host's object resolver answers, but the port of its COM+ event system cannot be reached.",
        next_step: "Allow this machine the port that the message names in the firewalls between. On the host it is one of \
                    the dynamic ports of RPC, of the service EventSystem, which needs a rule of its own.",
    },
    DeclaredReason {
        word: "event_listener_failed",
        sentence: "The exporter cannot take the call-backs of hosts.",
        next_step: "Set `plugins.settings.comt.events`: `listen` to a free port, which hosts have to reach as TCP 135, and \
                    `advertise` to the address at which they reach it; or let systemd open a socket named \
                    plugin.comt.events.",
    },
    DeclaredReason {
        word: "call_back_unreachable",
        sentence: "The host removed the subscription of COM+ events, because it could not call back.",
        next_step: "Let the host reach the address that the message names, at TCP port 135 and at the port that is named \
                    with it, through the firewalls between; its calls have to come from the target's own addresses.",
    },
];

pub(crate) const COM_ACCESS_DENIED: Reason = Reason::Declared(2);

pub(crate) const TRACKER_NOT_REGISTERED: Reason = Reason::Declared(3);

const DCOM_VERSION_MISMATCH: Reason = Reason::Declared(4);

const INVALID_OBJECT_REFERENCE: Reason = Reason::Declared(5);

const DCOM_DISABLED: Reason = Reason::Declared(6);

pub(crate) const OBJECT_PORT_BLOCKED: Reason = Reason::Declared(7);

pub(crate) const EVENT_SYSTEM_DENIED: Reason = Reason::Declared(8);

pub(crate) const EVENT_SYSTEM_NOT_REGISTERED: Reason = Reason::Declared(9);

pub(crate) const EVENT_SYSTEM_PORT_BLOCKED: Reason = Reason::Declared(10);

pub(crate) const EVENT_LISTENER_FAILED: Reason = Reason::Declared(11);

pub(crate) const CALL_BACK_UNREACHABLE: Reason = Reason::Declared(12);

/// The reason for what an object, or the resolver that makes it, answers; that of a refusal and of a missing class are the
/// object's own.
pub(crate) fn of_object(error: &SessionError, denied: Reason, not_registered: Reason) -> Option<Reason> {
    Some(match error.hresult {
        Some(HResult::E_ACCESSDENIED | HResult::RPC_E_ACCESS_DENIED) => denied,
        Some(HResult::REGDB_E_CLASSNOTREG) => not_registered,
        Some(HResult::RPC_E_VERSION_MISMATCH) => DCOM_VERSION_MISMATCH,
        Some(HResult::RPC_E_INVALID_OBJREF) => INVALID_OBJECT_REFERENCE,
        Some(HResult::RPC_E_REMOTE_DISABLED) => DCOM_DISABLED,
        None if error.reason == SessionReason::AccessDenied => denied,
        _ => return None,
    })
}

/// An explanation that is a reason alone.
pub(crate) const fn declared(reason: Reason) -> Option<Explanation> {
    Some(Explanation { reason: Some(reason), hint: "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_the_place_of_its_word() {
        for (reason, word) in [
            (COM_ACCESS_DENIED, "com_access_denied"),
            (OBJECT_PORT_BLOCKED, "object_port_blocked"),
            (EVENT_SYSTEM_DENIED, "event_system_denied"),
            (EVENT_SYSTEM_NOT_REGISTERED, "event_system_not_registered"),
            (EVENT_SYSTEM_PORT_BLOCKED, "event_system_port_blocked"),
            (EVENT_LISTENER_FAILED, "event_listener_failed"),
            (CALL_BACK_UNREACHABLE, "call_back_unreachable"),
        ] {
            let Reason::Declared(index) = reason else { panic!("{word} is declared") };
            assert_eq!(REASONS[index as usize].word, word);
        }
    }
}
