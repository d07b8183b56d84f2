//! The tracker of a host.

use com::comev::{IEventSubscription, IEventSystem};
use com::comt::{IComTrackingInfoEvents, IGetTrackingData, IProcessDump, ids};
use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use host_session::{SessionError, Stage};
use plugin_session::{Explanation, InterfaceNames, ObjectService, ObjectStep};
use rpc::orpc::ObjectInterface as _;

use super::reasons::{
    COM_ACCESS_DENIED, OBJECT_PORT_BLOCKED, REASONS, TRACKER_NOT_REGISTERED, declared, of_object,
};

/// What polls use of a host.
pub(crate) const TRACKER: ObjectService = ObjectService {
    class: ids::TRACKER_SERVICE_CLASS,
    interfaces: &[IGetTrackingData::IID],
    names: NAMES,
    reasons: &REASONS,
    explain,
};

/// What this plugin calls, and what hosts call of it, with names.
pub(crate) const NAMES: &[InterfaceNames] = &[
    InterfaceNames::of::<IGetTrackingData>(),
    InterfaceNames::of::<IProcessDump>(),
    InterfaceNames::of::<IComTrackingInfoEvents>(),
    InterfaceNames::of::<IEventSystem>(),
    InterfaceNames::of::<IEventSubscription>(),
    InterfaceNames::of::<IObjectExporter>(),
    InterfaceNames::of::<IRemoteSCMActivator>(),
    InterfaceNames::of::<IRemUnknown>(),
    InterfaceNames::of::<IRemUnknown2>(),
];

fn explain(error: &SessionError, step: ObjectStep) -> Option<Explanation> {
    match (step, error.stage) {
        (ObjectStep::Connect, Stage::Tcp) => Some(Explanation {
            reason: None,
            hint: "COM+ is reached at TCP port 135 of the host: firewall rule COM+ Network Access (DCOM-In)",
        }),
        (ObjectStep::Connect | ObjectStep::LogOn, _) => None,
        (ObjectStep::Activate, Stage::Dns | Stage::Tcp) => declared(OBJECT_PORT_BLOCKED),
        (ObjectStep::Activate | ObjectStep::Call, _) => {
            of_object(error, COM_ACCESS_DENIED, TRACKER_NOT_REGISTERED).and_then(declared)
        }
    }
}
