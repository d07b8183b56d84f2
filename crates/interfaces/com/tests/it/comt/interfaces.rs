//! The three interfaces, both sides: a client's calls reach a server, and stubs are those of the IDL.

use core::future::{Future, ready};

use com::comt::tracking::write::{Choices, encode};
use com::comt::{
    ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics, DumpProcessReply,
    DumpProcessRequest, GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IComTrackingInfoEvents, IComTrackingInfoEventsServer, IGetTrackingData,
    IGetTrackingDataServer, IProcessDump, IProcessDumpServer, IsSupportedReply, IsSupportedRequest,
    OnNewTrackingInfoReply, OnNewTrackingInfoRequest, Tracked, applications,
};
use com::oaut::{Bstr, GetTypeInfoCountRequest, IDispatchServer};
use rpc::orpc::{
    ComVersion, IUnknownServer, OrpcThat, OrpcThis, Proxy, read_reply, reply_stub, request_stub,
};
use rpc::{CallInfo, Channel, Error, FaultStatus, ServerResult};
use test_support::future::now;
use wire::{Guid, HResult};

const APPLICATION: Guid = Guid::from_u128(0x0f5c_3e7a_1111_2222_3333_4444_5555_6666);

/// A host with one application, which answers calls of any of the interfaces.
#[derive(Default)]
struct Host {
    events: Vec<Vec<u8>>,
}

impl IUnknownServer for Host {}
impl IDispatchServer for Host {}

impl IGetTrackingDataServer for Host {
    fn get_container_data(
        &mut self,
        _: &GetContainerDataRequest,
    ) -> ServerResult<GetContainerDataReply, HResult> {
        Ok(GetContainerDataReply::new(vec![container(7, APPLICATION)]).unwrap())
    }

    fn get_component_data_by_container(
        &mut self,
        request: &GetComponentDataByContainerRequest,
    ) -> ServerResult<GetComponentDataByContainerReply, HResult> {
        match request.container {
            7 => Ok(GetComponentDataByContainerReply::new(vec![component(1), component(2)]).unwrap()),
            8 => Ok(GetComponentDataByContainerReply::new(Vec::new()).unwrap()),
            _ => Err(HResult::E_INVALIDARG.into()),
        }
    }

    fn get_component_data_by_container_and_clsid(
        &mut self,
        request: &GetComponentDataByContainerAndClsidRequest,
    ) -> ServerResult<GetComponentDataByContainerAndClsidReply, HResult> {
        let data = Some(Box::new(ComponentData { clsid: request.clsid, ..component(1) }));
        Ok(GetComponentDataByContainerAndClsidReply { data, status: HResult::S_OK })
    }
}

impl IProcessDumpServer for Host {
    fn is_supported(&mut self, _: &IsSupportedRequest) -> ServerResult<IsSupportedReply, HResult> {
        Ok(IsSupportedReply { status: HResult::S_FALSE })
    }

    fn dump_process(&mut self, request: &DumpProcessRequest) -> ServerResult<DumpProcessReply, HResult> {
        let text = |bstr: &Bstr| bstr.text().unwrap().unwrap_or("-".to_owned());
        let file = format!("{} {} {}", text(&request.container), text(&request.directory), request.files_max);
        Ok(DumpProcessReply { file: Bstr::new(&file).unwrap(), status: HResult::S_OK })
    }
}

impl IComTrackingInfoEventsServer for Host {
    fn on_new_tracking_info(
        &mut self,
        request: &OnNewTrackingInfoRequest<'_>,
    ) -> ServerResult<OnNewTrackingInfoReply, HResult> {
        self.events.push(request.event().map_err(|_| HResult::E_INVALIDARG)?.to_vec());
        Ok(OnNewTrackingInfoReply { status: HResult::S_OK })
    }
}

type Dispatch = fn(&mut Host, &CallInfo, u16, &[u8]) -> Result<Vec<u8>, FaultStatus>;

/// Leads to a host.
struct Wire(Host, Dispatch);

impl Channel for Wire {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        let call = CallInfo { object, ..CallInfo::default() };
        ready((self.1)(&mut self.0, &call, opnum, stub))
    }
}

fn proxy<I: rpc::orpc::ObjectInterface>(dispatch: Dispatch) -> Proxy<Wire, I> {
    Proxy::new(Wire(Host::default(), dispatch), Guid::from_u128(1), ComVersion::V5_7, Guid::from_u128(2))
}

fn container(legacy_id: u32, application: Guid) -> ContainerData {
    let statistics = ContainerStatistics { calls: 1, instances: 2, components: 3, calls_per_second: 4 };
    let application = ApplicationIdentifier::new(application);
    ContainerData { legacy_id, application, process_id: 4711, statistics }
}

fn component(n: u32) -> ComponentData {
    ComponentData {
        clsid: Guid::from_u128(n.into()),
        total_references: Tracked(n),
        bound_references: Tracked(0),
        pooled_instances: Tracked::UNTRACKED,
        instances_in_call: Tracked(2),
        response_time_ms: Tracked(3),
        calls_completed: Tracked(4),
        calls_failed: Tracked(5),
    }
}

#[test]
fn a_client_polls_containers_and_their_components() {
    let mut tracker = proxy::<IGetTrackingData>(IGetTrackingData::dispatch);
    let reply = now(tracker.call(&GetContainerDataRequest {})).unwrap();
    assert_eq!(reply.containers().unwrap(), [container(7, APPLICATION)]);
    let reply = now(tracker.call(&GetComponentDataByContainerRequest { container: 7 })).unwrap();
    assert_eq!(reply.components().unwrap(), [component(1), component(2)]);
    assert_eq!(reply.components().unwrap()[0].pooled_instances.get(), None);
    let reply = now(tracker.call(&GetComponentDataByContainerRequest { container: 8 })).unwrap();
    assert_eq!((reply.data.is_none(), reply.components().unwrap().len()), (true, 0));
    let clsid = Guid::from_u128(9);
    let request = GetComponentDataByContainerAndClsidRequest { container: 7, clsid };
    assert_eq!(now(tracker.call(&request)).unwrap().data.unwrap().clsid, clsid);
    let error = now(tracker.call(&GetComponentDataByContainerRequest { container: 9 })).unwrap_err();
    assert!(matches!(error, Error::Status { status: HResult::E_INVALIDARG, .. }), "{error}");
}

// [MS-COMT] 2.2.3 and 3.1.4.1.1, by hand: ORPCTHAT, the number, a pointer, the number, 104 bytes, the result.
#[test]
fn the_reply_with_containers_has_the_layout_of_the_idl() {
    let reply = GetContainerDataReply::new(vec![container(7, APPLICATION)]).unwrap();
    let stub = reply_stub(&OrpcThat::default(), &reply).unwrap();
    let mut expected = [0_u32, 0, 1, 0x2_0000, 1, 7].map(u32::to_le_bytes).concat();
    let text = "{0F5C3E7A-1111-2222-3333-444455556666}\0\0";
    expected.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    expected.extend([4711_u32, 1, 2, 3, 4, 0].map(u32::to_le_bytes).concat());
    assert_eq!(stub, expected);
    assert_eq!(stub.len(), 8 + 4 + 4 + 4 + 104 + 4);
}

fn unhex(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits: Vec<u8> = lines.flat_map(str::bytes).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// What go-msrpc 1.2.5 wrote, with the number that we give the only pointer of a reply.
fn theirs(text: &str) -> Vec<u8> {
    let mut bytes = unhex(text);
    bytes[12..16].copy_from_slice(&0x2_0000_u32.to_le_bytes());
    bytes
}

#[test]
fn messages_of_the_tracker_are_those_that_go_msrpc_writes() {
    let stub = theirs(include_str!("../../data/comt/containers.hex"));
    let reply = GetContainerDataReply::new(vec![container(7, APPLICATION)]).unwrap();
    assert_eq!(reply_stub(&OrpcThat::default(), &reply).unwrap(), stub);
    assert_eq!(read_reply::<GetContainerDataReply>(&stub).unwrap().1, reply);

    let stub = theirs(include_str!("../../data/comt/components.hex"));
    let one = ComponentData {
        clsid: APPLICATION,
        total_references: Tracked(1),
        bound_references: Tracked(2),
        pooled_instances: Tracked::UNTRACKED,
        instances_in_call: Tracked(4),
        response_time_ms: Tracked(5),
        calls_completed: Tracked(6),
        calls_failed: Tracked(7),
    };
    let reply = GetComponentDataByContainerReply::new(vec![one]).unwrap();
    assert_eq!(reply_stub(&OrpcThat::default(), &reply).unwrap(), stub);
    assert_eq!(read_reply::<GetComponentDataByContainerReply>(&stub).unwrap().1, reply);

    let request = GetComponentDataByContainerAndClsidRequest { container: 7, clsid: APPLICATION };
    let this = OrpcThis::new(ComVersion::V5_7, APPLICATION);
    let stub = unhex(include_str!("../../data/comt/request.hex"));
    assert_eq!(request_stub(&this, &request).unwrap(), stub);
}

#[test]
fn a_number_of_containers_without_containers_is_refused() {
    let stub = [0_u32, 0, 5, 0, 0].map(u32::to_le_bytes).concat();
    let (_, reply) = read_reply::<GetContainerDataReply>(&stub).unwrap();
    let error = reply.containers().unwrap_err();
    assert!(error.to_string().contains("`aContainerData`: is NULL where its number is not 0"), "{error}");
    let many = [0_u32, 0, u32::MAX, 0x2_0000, u32::MAX, 0].map(u32::to_le_bytes).concat();
    let error = read_reply::<GetContainerDataReply>(&many).unwrap_err();
    assert!(error.to_string().contains("aContainerData"), "{error}");
}

#[test]
fn a_dump_is_asked_for_by_container_and_inherits_from_dispatch() {
    let mut dump = proxy::<IProcessDump>(IProcessDump::dispatch);
    assert!(!now(dump.call(&IsSupportedRequest {})).unwrap().is_supported());
    let request = DumpProcessRequest::new(APPLICATION, Some(r"C:\dumps"), 3).unwrap();
    let file = now(dump.call(&request)).unwrap().file;
    let expected = r"{0F5C3E7A-1111-2222-3333-444455556666} C:\dumps 3";
    assert_eq!(file.text().unwrap().as_deref(), Some(expected));
    let request = DumpProcessRequest::new(APPLICATION, None, 0).unwrap();
    assert!(request.directory.is_null());
    // A server that has no type information need not implement the methods of IDispatch.
    assert!(now(dump.call(&GetTypeInfoCountRequest {})).is_err());
}

#[test]
fn an_event_reaches_the_subscriber_as_it_was_sent() {
    let mut subscriber = proxy::<IComTrackingInfoEvents>(IComTrackingInfoEvents::dispatch);
    let event = encode(&[], &Choices::default()).unwrap();
    now(subscriber.call(&OnNewTrackingInfoRequest::new(event.clone()).unwrap())).unwrap();
    assert_eq!(subscriber.channel().0.events, [event]);
    let nothing = OnNewTrackingInfoRequest { collection: None };
    let error = now(subscriber.call(&nothing)).unwrap_err();
    assert!(matches!(error, Error::Status { status: HResult::E_INVALIDARG, .. }), "{error}");
}

#[test]
fn containers_of_one_application_are_added_up() {
    let other = Guid::from_u128(2);
    let mut bad = container(9, other);
    bad.application.0[3] = u16::from(b'x');
    let list = [container(1, APPLICATION), container(2, other), bad, container(3, APPLICATION)];
    let found = applications(&list);
    assert_eq!(found.dropped, [2]);
    let [twice, once] = &found.found[..] else { panic!("{found:?}") };
    assert_eq!((twice.id, &twice.containers[..]), (APPLICATION, &[1, 3][..]));
    assert_eq!((twice.calls, twice.instances, twice.components, twice.calls_per_second), (2, 4, 3, 8));
    assert_eq!((once.id, once.calls, once.components), (other, 1, 3));
}

#[test]
fn four_billion_entries_are_refused_before_any_memory_is_taken() {
    // No extension, their number, a pointer to them, and the number of the array.
    for (number, of_array) in [(u32::MAX, u32::MAX), (0x4000_0000, 0x4000_0000), (2, u32::MAX), (u32::MAX, 2)]
    {
        let head = [0, 0, number, 0x2_0000, of_array].map(u32::to_le_bytes).concat();
        let stub = [head, vec![0; 2 * 104]].concat();
        let allocated = allocation_counter::measure(|| {
            read_reply::<GetContainerDataReply>(&stub).unwrap_err();
            read_reply::<GetComponentDataByContainerReply>(&stub).unwrap_err();
        });
        assert!(allocated.bytes_max < 4096, "{number:#x} {of_array:#x}: {allocated:?}");
    }
}

#[test]
fn an_identifier_that_is_empty_unterminated_or_none_costs_its_container_alone() {
    let named = |text: &str| {
        let mut one = container(9, Guid::NULL);
        let mut units = text.encode_utf16();
        one.application.0 = std::array::from_fn(|_| units.next().unwrap_or(0));
        one
    };
    let braced = format!("{{{APPLICATION}}}");
    let unterminated = format!("{braced}xx");
    assert_eq!(unterminated.len(), 40);
    for bad in ["", "\0{", &unterminated, &"x".repeat(40), &braced[..37], "{0}"] {
        let list = [container(1, APPLICATION), named(bad), container(3, APPLICATION)];
        let found = applications(&list);
        assert_eq!((found.dropped, found.found.len()), (vec![1], 1), "{bad:?}");
    }
    let without_a_nul = applications(&[named(&format!("{braced}\0x"))]);
    assert_eq!(without_a_nul.found[0].id, APPLICATION);
}
