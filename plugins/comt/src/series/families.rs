//! The families: `perfmon_complus_…`. All are gauges: the host resets what it counts when an application ends.

use plugin_sdk::{Display, DisplayRule, Family, Kind, ValueKind};

/// The namespace of all of them.
pub(crate) const NAMESPACE: &str = "complus";

const GAUGE: Family<'static> = Family {
    namespace: NAMESPACE,
    object: "Application",
    item: "",
    part: "",
    kind: Kind::Gauge,
    unit: "",
    help: "",
    origin: "",
    value: ValueKind::U64,
    display: Display::by(DisplayRule::Value),
};

/// By `application_id`.
pub(super) const APPLICATION: [Family<'static>; 5] = [
    Family {
        item: "Containers",
        help: "Containers of the application that the host lists: processes in which it runs. A host that lists each \
               application once has 1 here.",
        origin: "IGetTrackingData::GetContainerData",
        ..GAUGE
    },
    Family {
        item: "Calls In Progress",
        help: "Calls that instances of the application's components are performing. Where the host lists an application \
               once for several containers, the average of them.",
        origin: "IGetTrackingData::GetContainerData cCalls",
        ..GAUGE
    },
    Family {
        item: "Calls/sec",
        help: "Calls per second of the application, the host's average of its last seconds (four on Windows). Where the \
               host lists an application once for several containers, the average of them.",
        origin: "IGetTrackingData::GetContainerData cCallsPerSecond",
        ..GAUGE
    },
    Family {
        item: "Instances",
        help: "Instances of the application's components. Where the host lists an application once for several \
               containers, the average of them.",
        origin: "IGetTrackingData::GetContainerData cComponentInstances",
        ..GAUGE
    },
    Family {
        item: "Components",
        help: "Distinct components of the application that have instances, in the container with the most of them.",
        origin: "IGetTrackingData::GetContainerData cComponents",
        ..GAUGE
    },
];

const OF_COMPONENT: Family<'static> = Family { object: "Component", ..GAUGE };

/// By `application_id` and `clsid`.
pub(super) const COMPONENT: [Family<'static>; 7] = [
    Family {
        item: "References",
        help: "References to all instances of the component. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cTotalReferences",
        ..OF_COMPONENT
    },
    Family {
        item: "Bound References",
        help: "References to active instances of the component, those that are not in the pool. Not there for \
               applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cBoundReferences",
        ..OF_COMPONENT
    },
    Family {
        item: "Instances Pooled",
        help: "Instances of the component that wait in the pool. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cPooledInstances",
        ..OF_COMPONENT
    },
    Family {
        item: "Instances In Call",
        help: "Instances of the component that are performing a call. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cInstancesInCall",
        ..OF_COMPONENT
    },
    Family {
        item: "Call Time",
        unit: "seconds",
        value: ValueKind::F64,
        help: "How long a call of the component takes, in seconds: the host's average of its last seconds (four on \
               Windows), of the slowest instance. 0 without calls. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer dwResponseTime",
        ..OF_COMPONENT
    },
    Family {
        item: "Recent Calls Completed",
        help: "Calls of the component that succeeded in the host's last seconds (four on Windows). Not there for \
               applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cCallsCompleted",
        ..OF_COMPONENT
    },
    Family {
        item: "Recent Calls Failed",
        help: "Calls of the component that failed in the host's last seconds (four on Windows). Not there for \
               applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cCallsFailed",
        ..OF_COMPONENT
    },
];

/// By `kind` and `reason`: the plugin's own.
pub(super) const LEFT_OUT: Family<'static> = Family {
    object: "Entries",
    item: "Left Out",
    help: "Applications, components and containers (kind) that the host has and the last collection does not show, or not \
           with their components: above a limit (limit), ended meanwhile (ended), with an invalid identifier (malformed), \
           refused by the host (unread), or without an answer (stalled).",
    origin: "",
    ..GAUGE
};
