//! The families: `perfmon_complus_…`. What the host says is gauges: it resets what it counts when an application ends.

use plugin_sdk::{FamilyDef, Kind, ValueKind};

/// The namespace of all of them.
pub(crate) const NAMESPACE: &str = "complus";

const GAUGE: FamilyDef<'static> = FamilyDef::gauge(NAMESPACE, "Application");

pub(super) static APPLICATION: [FamilyDef<'static>; 5] = [
    FamilyDef {
        item: "Containers",
        help: "Containers of the application that the host lists: processes in which it runs. A host that lists each \
               application once has 1 here.",
        origin: "IGetTrackingData::GetContainerData; IComTrackingInfoEvents Applications",
        ..GAUGE
    },
    FamilyDef {
        item: "Calls In Progress",
        help: "Calls that instances of the application's components are performing. Where the host lists an application \
               once for several containers, the average of them.",
        origin: "IGetTrackingData::GetContainerData cCalls; IComTrackingInfoEvents InCall",
        ..GAUGE
    },
    FamilyDef {
        item: "Calls/sec",
        help: "Calls per second of the application, the host's average of its last seconds (four on Windows). Where the \
               host lists an application once for several containers, the average of them. Events do not tell it.",
        origin: "IGetTrackingData::GetContainerData cCallsPerSecond",
        ..GAUGE
    },
    FamilyDef {
        item: "Instances",
        help: "Instances of the application's components. Where the host lists an application once for several \
               containers, the average of them.",
        origin: "IGetTrackingData::GetContainerData cComponentInstances; IComTrackingInfoEvents Objects",
        ..GAUGE
    },
    FamilyDef {
        item: "Components",
        help: "Distinct components of the application that have instances, in all of its containers. Where components of a \
               container cannot be read, at least so many.",
        origin: "IGetTrackingData::GetContainerData cComponents, GetComponentDataByContainer; IComTrackingInfoEvents Components",
        ..GAUGE
    },
];

const OF_COMPONENT: FamilyDef<'static> = FamilyDef { object: "Component", ..GAUGE };

/// By `application_id` and `clsid`.
pub(super) static COMPONENT: [FamilyDef<'static>; 9] = [
    FamilyDef {
        item: "References",
        help: "References to all instances of the component. Events do not tell it. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cTotalReferences",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Bound References",
        help: "References to active instances of the component, those that are not in the pool. Events do not \
               tell it. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cBoundReferences",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Instances",
        help: "Instances of the component, active and pooled. Only events tell it, for applications with EventsEnabled.",
        origin: "IComTrackingInfoEvents Objects",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Instances Active",
        help: "Instances of the component that belong to clients. Only events tell it, for applications with EventsEnabled.",
        origin: "IComTrackingInfoEvents Activated",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Instances Pooled",
        help: "Instances of the component that wait in the pool. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cPooledInstances; IComTrackingInfoEvents Pooled",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Instances In Call",
        help: "Instances of the component that are performing a call. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cInstancesInCall; IComTrackingInfoEvents InCall",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Call Time",
        unit: "seconds",
        value: ValueKind::F64,
        help: "How long a call of the component takes, in seconds: the host's average of its last seconds (four on \
               Windows), of the slowest instance. 0 without calls. Not there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer dwResponseTime; IComTrackingInfoEvents CallTime",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Recent Calls Completed",
        help: "Calls of the component that succeeded in the host's last seconds (four on Windows). Events do not tell it. Not \
               there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cCallsCompleted",
        ..OF_COMPONENT
    },
    FamilyDef {
        item: "Recent Calls Failed",
        help: "Calls of the component that failed in the host's last seconds (four on Windows). Events do not tell it. Not \
               there for applications without EventsEnabled.",
        origin: "IGetTrackingData::GetComponentDataByContainer cCallsFailed",
        ..OF_COMPONENT
    },
];

const OF_PROCESS: FamilyDef<'static> = FamilyDef { object: "Process", ..GAUGE };

/// By `process_id`. Only events tell them.
pub(super) static PROCESS: [FamilyDef<'static>; 3] = [
    FamilyDef {
        item: "Paused",
        help: "1 if the process of COM+ applications is paused: it creates no components for now; else 0.",
        origin: "IComTrackingInfoEvents Paused",
        ..OF_PROCESS
    },
    FamilyDef {
        item: "Recycling",
        help: "1 if the process of COM+ applications is being recycled: it creates no components any more, and ends when \
               the last one is released; else 0.",
        origin: "IComTrackingInfoEvents Recycling",
        ..OF_PROCESS
    },
    FamilyDef {
        item: "Service",
        help: "1 if the process of COM+ applications is a Windows service; else 0.",
        origin: "IComTrackingInfoEvents IsService",
        ..OF_PROCESS
    },
];

const INFO: FamilyDef<'static> = FamilyDef { item: "Info", kind: Kind::Info, ..GAUGE };

/// Only events tell it.
pub(super) static APPLICATION_INFO: [FamilyDef<'static>; 1] = [FamilyDef {
    help: "1, with name, partition and type of the application.",
    origin: "IComTrackingInfoEvents Name, PartitionID, ApplicationType",
    ..INFO
}];

/// Only events tell it.
pub(super) static COMPONENT_INFO: [FamilyDef<'static>; 1] = [FamilyDef {
    object: "Component",
    help: "1, with the name of the component: its ProgID.",
    origin: "IComTrackingInfoEvents Name",
    ..INFO
}];

/// Only events tell it.
pub(super) static PROCESS_INFO: [FamilyDef<'static>; 1] = [FamilyDef {
    object: "Process",
    help: "1, with the name of the process's program.",
    origin: "IComTrackingInfoEvents ExeName",
    ..INFO
}];

pub(super) static PROCESS_APPLICATION: [FamilyDef<'static>; 1] = [FamilyDef {
    object: "Process Application",
    help: "1 for each application that runs in a process.",
    origin: "IGetTrackingData::GetContainerData dwProcessID; IComTrackingInfoEvents ProcessID, ApplicationID",
    ..INFO
}];

/// By `kind` and `reason`: the plugin's own.
pub(super) static LEFT_OUT: [FamilyDef<'static>; 1] = [FamilyDef {
    object: "Entries",
    item: "Left Out",
    help: "Applications, components, containers, processes, and properties of these (kind) that the host has and the last \
           collection does not show, or not with their components: above a limit (limit), ended meanwhile (ended), \
           without a meaning (malformed), refused by the host (unread), or without an answer (stalled).",
    origin: "",
    ..GAUGE
}];

const OF_EVENTS: FamilyDef<'static> = FamilyDef { object: "Events", ..GAUGE };

/// Of the target as a whole: the plugin's own.
pub(super) static EVENTS: [FamilyDef<'static>; 4] = [
    FamilyDef {
        item: "Up",
        help: "1 if the host tells its state by events of its COM+ tracker; 0 if it does not, and is polled.",
        ..OF_EVENTS
    },
    FamilyDef { item: "Taken", kind: Kind::Counter, help: "Events of the host that were read.", ..OF_EVENTS },
    FamilyDef {
        item: "Superseded",
        kind: Kind::Counter,
        help: "Events of the host that a newer one replaced before a collection: each is a whole state.",
        ..OF_EVENTS
    },
    FamilyDef {
        item: "Last Time",
        unit: "seconds",
        value: ValueKind::F64,
        help: "When the event came whose state was read last, in seconds since 1970.",
        ..OF_EVENTS
    },
];

/// By `reason`: the plugin's own.
pub(super) static REFUSED_EVENTS: [FamilyDef<'static>; 1] = [FamilyDef {
    item: "Refused",
    kind: Kind::Counter,
    help: "Events and connections of the host that were refused: an event for another target (address), no call of the \
           method (malformed), without a state (empty), too long (size), more than the target's share of the memory of all \
           (memory), bytes that cannot be read (unreadable); a connection that authenticates in a way that is not taken \
           (authentication), is above the target's share of all (connections), leaves more calls unfinished than others \
           (unfinished), is too slow (slow), or violates the protocol (protocol).",
    ..OF_EVENTS
}];

/// Of the process: the plugin's own.
pub(super) static UNKNOWN_PEERS: [FamilyDef<'static>; 1] = [FamilyDef {
    object: "Event Listener",
    item: "Refused Connections",
    kind: Kind::Counter,
    help: "Connections to the listener for events that were refused because their address is no target's, of the whole \
           process: it is the same at each target with events.",
    ..GAUGE
}];

/// Objects and items that only events tell, and that only polls tell, for the question which settings collect a family.
pub(super) fn is_of_events(object: &str, item: &str) -> bool {
    let families = PROCESS.iter().chain(&EVENTS).chain(&REFUSED_EVENTS).chain(&UNKNOWN_PEERS);
    let infos = [&APPLICATION_INFO, &COMPONENT_INFO, &PROCESS_INFO];
    let is_it = |family: &FamilyDef<'_>| (family.object, family.item) == (object, item);
    families.chain(infos.into_iter().flatten()).any(is_it)
        || (object == OF_COMPONENT.object && matches!(item, "Instances" | "Instances Active"))
}
