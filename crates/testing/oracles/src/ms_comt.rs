//! Laws of `com::comt`.

use com::comt::tracking::write::{self, Choices, encode};
use com::comt::tracking::{
    ApplicationType, Component, Container, Dropped, Limits, Position, Process, Visitor, read,
};
use com::comt::{
    ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics, DumpProcessReply,
    DumpProcessRequest, GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IsSupportedReply, IsSupportedRequest, OnNewTrackingInfoReply,
    OnNewTrackingInfoRequest, Tracked,
};
use com::oaut::Bstr;
use wire::{Guid, HResult, WideStr};

use crate::law::is_inside;
use crate::ms_dcom::{Call, object};

const LIMITS: Limits = Limits { processes_max: 8, containers_max: 8, components_max: 16, text_units_max: 64 };

/// A tracker event: texts borrow from it, limits hold, what is dropped lies within, and entries read the same after
/// they were written again.
pub fn tracking(bytes: &[u8]) {
    let mut first = Entries { buffer: Some(bytes), ..Entries::default() };
    match read(bytes, &LIMITS, &mut first) {
        Ok(size) => assert!(size <= bytes.len()),
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
    let containers = || first.processes.iter().flat_map(|process| &process.containers);
    assert!(first.processes.len() <= LIMITS.processes_max as usize + 1);
    assert!(containers().count() <= LIMITS.containers_max as usize);
    assert!(containers().flat_map(|one| &one.components).count() <= LIMITS.components_max as usize);
    let again = encode(&first.processes, &Choices::default()).expect("what was read can be written");
    let mut second = Entries { buffer: Some(&again), ..Entries::default() };
    assert_eq!(read(&again, &LIMITS, &mut second), Ok(again.len()));
    assert_eq!(second.dropped, 0);
    assert_eq!(second.processes, first.processes);
}

/// What was visited. Entries that may be missing have a value instead, which says the same when it is written.
#[derive(Default)]
struct Entries<'b> {
    buffer: Option<&'b [u8]>,
    processes: Vec<write::Process>,
    dropped: usize,
}

impl Entries<'_> {
    fn text(&self, text: Option<WideStr<'_>>) -> String {
        let text = text.unwrap_or_default();
        assert!(is_inside(self.buffer.unwrap_or_default(), text.as_bytes()));
        assert!(text.as_bytes().len() <= LIMITS.text_units_max * 2);
        text.to_string()
    }
}

impl<'a> Visitor<'a> for Entries<'_> {
    fn process(&mut self, process: &Process<'a>) {
        let process = write::Process {
            process_id: process.process_id,
            exe_name: self.text(process.exe_name),
            is_paused: process.is_paused.unwrap_or(false),
            is_recycling: process.is_recycling.unwrap_or(false),
            is_service: process.is_service.unwrap_or(false),
            containers: Vec::new(),
        };
        self.processes.push(process);
    }

    fn container(&mut self, process: Option<&Process<'a>>, container: &Container<'a>) {
        if process.is_none() && self.processes.is_empty() {
            self.processes.push(write::Process::default());
        }
        let nil = Guid::from_u128(0);
        let container = write::Container {
            application_id: container.application_id,
            container_id: container.container_id.unwrap_or(nil),
            application_type: container.application_type.unwrap_or(ApplicationType(u32::MAX)),
            partition_id: container.partition_id.unwrap_or(nil),
            name: self.text(container.name),
            components: Vec::new(),
        };
        self.processes.last_mut().expect("its process came before").containers.push(container);
    }

    fn component(&mut self, _: Option<&Process<'a>>, container: &Container<'a>, component: &Component<'a>) {
        let component = write::Component {
            clsid: component.clsid,
            name: self.text(component.name),
            objects: component.objects,
            activated: component.activated,
            pooled: component.pooled,
            in_call: component.in_call,
            call_time_ms: component.call_time_ms,
        };
        let containers = &mut self.processes.last_mut().expect("its process came before").containers;
        let last = containers.last_mut().expect("its container came before");
        assert_eq!(last.application_id, container.application_id);
        last.components.push(component);
    }

    fn dropped(&mut self, dropped: &Dropped<'a>) {
        self.dropped += 1;
        let buffer = self.buffer.unwrap_or_default();
        assert!(dropped.offset <= buffer.len() && is_inside(buffer, dropped.property.as_bytes()));
        assert_ne!(dropped.position, Position::default(), "{dropped}");
    }
}

/// Two processes, one with a container of two components.
pub(crate) fn honest_event(choices: &Choices) -> Vec<u8> {
    let component = |name: &str, in_call| write::Component {
        clsid: Guid::from_u128(7),
        name: name.to_owned(),
        in_call,
        ..write::Component::default()
    };
    let container = write::Container {
        application_id: Guid::from_u128(1),
        name: "Orders".to_owned(),
        components: vec![component("Orders.Line", Some(2)), component("", None)],
        ..write::Container::default()
    };
    let process = |process_id, containers| write::Process {
        process_id: Some(process_id),
        exe_name: "dllhost.exe".to_owned(),
        containers,
        ..write::Process::default()
    };
    encode(&[process(4, vec![container]), process(5, Vec::new())], choices).unwrap_or_default()
}

const MADE: &str = "our own encoders take it";

pub(crate) fn honest_tracker() -> Vec<Call> {
    let statistics = ContainerStatistics { calls: 1, instances: 2, components: 3, calls_per_second: 4 };
    let application = ApplicationIdentifier::new(Guid::from_u128(1));
    let container = ContainerData { legacy_id: 7, application, process_id: 4, statistics };
    let [clsid, number] = [Guid::from_u128(7), Guid::from_u128(8)];
    let component = |clsid| ComponentData {
        clsid,
        total_references: Tracked(1),
        bound_references: Tracked(1),
        pooled_instances: Tracked::UNTRACKED,
        instances_in_call: Tracked(0),
        response_time_ms: Tracked(2),
        calls_completed: Tracked(3),
        calls_failed: Tracked(4),
    };
    let containers = GetContainerDataReply::new(vec![container]).expect(MADE);
    let components =
        GetComponentDataByContainerReply::new(vec![component(clsid), component(number)]).expect(MADE);
    let data = Some(Box::new(component(clsid)));
    let one = GetComponentDataByContainerAndClsidReply { data, status: HResult::S_OK };
    let calls = [
        (4, object(&GetContainerDataRequest {}, &containers)),
        (5, object(&GetComponentDataByContainerRequest { container: 7 }, &components)),
        (6, object(&GetComponentDataByContainerAndClsidRequest { container: 7, clsid }, &one)),
    ];
    calls.into_iter().map(|(opnum, (request, reply))| (opnum, request, reply)).collect()
}

pub(crate) fn honest_dump() -> Vec<Call> {
    let file = Bstr::new(r"C:\dumps\one").expect(MADE);
    let request = DumpProcessRequest::new(Guid::from_u128(1), Some(r"C:\dumps"), 3).expect(MADE);
    let calls = [
        (7, object(&IsSupportedRequest {}, &IsSupportedReply { status: HResult::S_FALSE })),
        (8, object(&request, &DumpProcessReply { file, status: HResult::S_OK })),
    ];
    calls.into_iter().map(|(opnum, (request, reply))| (opnum, request, reply)).collect()
}

pub(crate) fn honest_events() -> Vec<Call> {
    let event = OnNewTrackingInfoRequest::new(honest_event(&Choices::default())).expect(MADE);
    let (request, reply) = object(&event, &OnNewTrackingInfoReply { status: HResult::S_OK });
    vec![(3, request, reply)]
}
