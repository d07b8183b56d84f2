use com::comev::{
    IEnumEventObject, IEventObjectCollection, IEventSubscription, IEventSubscription2, IEventSubscription3,
    IEventSystem, IEventSystem2,
};
use com::comt::{IComTrackingInfoEvents, IGetTrackingData, IProcessDump};
use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2};
use com::dcom::resolver::IObjectExporter;
use com::oaut::{IDispatch, IEnumVARIANT};
use counters::pcq::perflibv2::methods::{
    CloseQueryHandleRequest, EnumerateCountersetInstancesRequest, EnumerateCountersetsRequest,
    OpenQueryHandleRequest, PerflibV2, QueryCounterDataRequest, QueryCounterInfoRequest,
    QueryCountersetRegistrationInfoRequest, ValidateCountersRequest,
};
use counters::pcq::perflibv2::{CallInfo, Change, dispatch};
use counters::pcq::types::RequestCode;
use counters::pcq::wire::CounterIdentifier;
use counters::rrp::winreg::Winreg;
use rpc::endpoints::epm::ept::Ept;
use rpc::endpoints::mgmt::management::Mgmt;
use rpc::ndr::{ConformantBytes, WideString};
use rpc::{Direction, Interface, Message};

use super::{MADE, Seed};
use crate::interfaces::INTERFACES;
use crate::ms_pcq::{HANDLE, SET, Service};
use crate::ms_rrp::honest_calls;

/// A stub of a declared method that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    pub interface: &'static str,
    pub opnum: u16,
    pub direction: Direction,
    pub bytes: Vec<u8>,
}

/// Of each declared method a request and a server's reply to it.
#[must_use]
pub fn stubs() -> Vec<Stub> {
    let both = |interface, (opnum, request, reply): (u16, Vec<u8>, Vec<u8>)| {
        [(Direction::Request, request), (Direction::Reply, reply)].map(|(direction, bytes)| Stub {
            interface,
            opnum,
            direction,
            bytes,
        })
    };
    let pcq = pcq_calls().into_iter().flat_map(|call| both(PerflibV2::NAME, call));
    let winreg = honest_calls().into_iter().flat_map(|call| both(Winreg::NAME, call));
    let ept = crate::epm::honest_calls().into_iter().flat_map(|call| both(Ept::NAME, call));
    let management = crate::mgmt::honest_calls().into_iter().flat_map(|call| both(Mgmt::NAME, call));
    let dcom = [
        (IObjectExporter::NAME, crate::ms_dcom::honest_resolver()),
        (IRemoteSCMActivator::NAME, crate::ms_dcom::honest_activator()),
        (IRemUnknown::NAME, crate::ms_dcom::honest_remote_unknown()),
        (IRemUnknown2::NAME, crate::ms_dcom::honest_remote_unknown2()),
        (IDispatch::NAME, crate::ms_oaut::honest_dispatch()),
        (IGetTrackingData::NAME, crate::ms_comt::honest_tracker()),
        (IProcessDump::NAME, crate::ms_comt::honest_dump()),
        (IComTrackingInfoEvents::NAME, crate::ms_comt::honest_events()),
        (IEventSystem::NAME, crate::ms_comev::honest_event_system()),
        (IEventSystem2::NAME, crate::ms_comev::honest_event_system2()),
        (IEventSubscription::NAME, crate::ms_comev::honest_subscription()),
        (IEventSubscription2::NAME, crate::ms_comev::honest_subscription2()),
        (IEventSubscription3::NAME, crate::ms_comev::honest_subscription3()),
        (IEventObjectCollection::NAME, crate::ms_comev::honest_collection()),
        (IEnumEventObject::NAME, crate::ms_comev::honest_enumerator()),
        (IEnumVARIANT::NAME, crate::ms_oaut::honest_enumerator()),
    ];
    let pla = INTERFACES.iter().map(|interface| (interface.name, crate::ms_pla::honest(interface.name)));
    let dcom =
        dcom.into_iter().chain(pla).flat_map(|(name, calls)| calls.into_iter().map(move |call| (name, call)));
    let dcom = dcom.flat_map(|(name, call)| both(name, call));
    pcq.chain(winreg).chain(ept).chain(management).chain(dcom).collect()
}

/// The same as inputs of the oracle over all of them.
pub(super) fn seeds() -> Vec<Seed> {
    let seed = |Stub { interface, opnum, direction, bytes }| {
        let number = INTERFACES.iter().position(|declared| declared.name == interface).expect(MADE);
        let methods = INTERFACES[number].methods;
        let method = methods.iter().position(|method| method.opnum == opnum).expect(MADE);
        let (suffix, is_reply) = if direction == Direction::Reply { ("reply", 1) } else { ("request", 0) };
        let prefix = [number, method, is_reply].map(|byte| u8::try_from(byte).expect(MADE));
        let name = format!("{}_{opnum}_{suffix}", interface.to_lowercase());
        ("rpc_stubs", name, [&prefix[..], &bytes].concat())
    };
    let is_pla = |stub: &Stub| !crate::ms_pla::honest(stub.interface).is_empty();
    let is_seed = |stub: &Stub| !is_pla(stub) || crate::ms_pla::is_new(stub.interface, stub.opnum);
    stubs().into_iter().filter(is_seed).map(seed).collect()
}

/// A call of each method, in an order in which a client could make them.
fn pcq_calls() -> Vec<(u16, Vec<u8>, Vec<u8>)> {
    let machine = || WideString("web1".to_owned());
    let (counterset, in_size) = (SET, 4096);
    let identifiers = CounterIdentifier::encode_list(&[CounterIdentifier::all_instances(SET)]).expect(MADE);
    let added = u32::try_from(identifiers.len()).expect(MADE);
    let data = ConformantBytes(identifiers.into());
    let (request_code, request_lcid) = (RequestCode::COUNTERSET, 0);
    let registration = QueryCountersetRegistrationInfoRequest {
        machine: machine(),
        counterset,
        request_code,
        request_lcid,
        in_size,
    };
    let stubs = [
        (0, EnumerateCountersetsRequest { machine: machine(), in_size: 16 }.to_stub()),
        (1, registration.to_stub()),
        (2, EnumerateCountersetInstancesRequest { machine: machine(), counterset, in_size }.to_stub()),
        (3, OpenQueryHandleRequest { machine: machine() }.to_stub()),
        (7, ValidateCountersRequest { query: HANDLE, in_size: added, data, change: Change::Add }.to_stub()),
        (5, QueryCounterInfoRequest { query: HANDLE, in_size }.to_stub()),
        (6, QueryCounterDataRequest { query: HANDLE, in_size }.to_stub()),
        (4, CloseQueryHandleRequest { query: HANDLE }.to_stub()),
    ];
    let mut server = Service::default();
    let info = CallInfo { auth_level: dcerpc::AuthLevel::PKT_PRIVACY, object: None };
    let mut call = |(opnum, stub): (u16, wire::EncodeResult<Vec<u8>>)| {
        let stub = stub.expect(MADE);
        let reply = dispatch(&mut server, info, opnum, &stub).expect("the request is right");
        (opnum, stub, reply)
    };
    stubs.into_iter().map(&mut call).collect()
}
