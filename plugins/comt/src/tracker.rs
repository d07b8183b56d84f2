//! The tracker of a host, and what its failures mean for the person who has to open something.

use host_session::{Reason as SessionReason, SessionError, Stage};
use ms_comt::{IGetTrackingData, ids};
use ms_dtyp::HResult;
use plugin_sdk::{DeclaredReason, Reason};
use plugin_session::{DECLARED_REASONS, Explanation, ObjectService, ObjectStep};
use rpc_stub::orpc::ObjectInterface as _;

/// What this plugin uses of a host.
pub(crate) const TRACKER: ObjectService = ObjectService {
    class: ids::TRACKER_SERVICE_CLASS,
    interfaces: &[IGetTrackingData::IID],
    reasons: &REASONS,
    explain,
};

/// The reasons beyond the general ones. Their order is that of the constants below.
pub(crate) const REASONS: [DeclaredReason; 8] = [
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
];

const COM_ACCESS_DENIED: Reason = Reason::Declared(2);
const TRACKER_NOT_REGISTERED: Reason = Reason::Declared(3);
const DCOM_VERSION_MISMATCH: Reason = Reason::Declared(4);
const INVALID_OBJECT_REFERENCE: Reason = Reason::Declared(5);
const DCOM_DISABLED: Reason = Reason::Declared(6);
const OBJECT_PORT_BLOCKED: Reason = Reason::Declared(7);

fn explain(error: &SessionError, step: ObjectStep) -> Option<Explanation> {
    let declared = |reason| Some(Explanation { reason: Some(reason), hint: "" });
    match (step, error.stage) {
        (ObjectStep::Connect, Stage::Tcp) => {
            return Some(Explanation {
                reason: None,
                hint: "COM+ is reached at TCP port 135 of the host: firewall rule COM+ Network Access (DCOM-In)",
            });
        }
        (ObjectStep::Connect | ObjectStep::LogOn, _) => return None,
        (ObjectStep::Activate, Stage::Dns | Stage::Tcp) => return declared(OBJECT_PORT_BLOCKED),
        (ObjectStep::Activate | ObjectStep::Call, _) => {}
    }
    declared(match error.hresult {
        Some(HResult::E_ACCESSDENIED | HResult::RPC_E_ACCESS_DENIED) => COM_ACCESS_DENIED,
        Some(HResult::REGDB_E_CLASSNOTREG) => TRACKER_NOT_REGISTERED,
        Some(HResult::RPC_E_VERSION_MISMATCH) => DCOM_VERSION_MISMATCH,
        Some(HResult::RPC_E_INVALID_OBJREF) => INVALID_OBJECT_REFERENCE,
        Some(HResult::RPC_E_REMOTE_DISABLED) => DCOM_DISABLED,
        None if error.reason == SessionReason::AccessDenied => COM_ACCESS_DENIED,
        _ => return None,
    })
}
