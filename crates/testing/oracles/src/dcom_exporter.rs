//! Laws of `dcom::callbacks`.

use std::net::{IpAddr, Ipv4Addr};

use com::comt::{IComTrackingInfoEvents, OnNewTrackingInfoRequest};
use com::dcom::remote_unknown::{IRemUnknown, IRemUnknown2, RemQueryInterfaceRequest};
use com::dcom::resolver::{IObjectExporter, ResolveOxid2Reply, ResolveOxid2Request, ServerAlive2Request};
use com::dcom::types::Oxid;
use dcom::callbacks::{AdvertisedAddress, EventRefusal, Exporter, Subscriber, SubscriberLimits, Subscribers};
use dcom::rpc_server::Call;
use rpc::orpc::{ComVersion, ObjectInterface, OrpcThis, read_reply, request_stub};
use rpc::{CallInfo, Direction, FromStub, Interface, Message, Request};
use wire::Guid;

use crate::input::{Input, chunk};

const WORKS: &str = "an honest call is answered";

/// The interfaces, in the order of [`Exporter::interfaces`].
const RECODE: [crate::interfaces::Recode; 4] =
    [IObjectExporter::recode, IRemUnknown::recode, IRemUnknown2::recode, IComTrackingInfoEvents::recode];
const EVENTS: usize = 3;

const LIMITS: SubscriberLimits = SubscriberLimits { event_bytes_max: 256, all_bytes_max: 300 };

const PEERS: [IpAddr; 3] = [address(1), address(2), address(3)];

const fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
}

/// An object, and its numbers as its target finds them.
struct Target {
    subscriber: Subscriber,
    oxid: Oxid,
    oid: u64,
    rem_unknown: Guid,
    unknown: Guid,
    events: Guid,
}

impl Target {
    fn new(exporter: &Exporter, subscribers: &Subscribers, peer: IpAddr) -> Self {
        let address = AdvertisedAddress::new("192.0.2.7", 5135).expect("an address");
        let subscriber = subscribers.subscribe([peer], address).expect("the system has random bytes");
        let std = *subscriber.objref().std().expect("a standard reference");
        let interfaces = exporter.interfaces();
        let call = |interface: usize, opnum, object, stub: &[u8]| {
            let info = CallInfo { object, ..CallInfo::default() };
            interfaces[interface].call(&Call { opnum, stub, info, account: None, peer }).expect(WORKS)
        };
        let resolve = ResolveOxid2Request::tcp(std.oxid);
        let stub = call(0, ResolveOxid2Request::METHOD.opnum, None, &resolve.to_stub().expect(WORKS));
        let rem_unknown = ResolveOxid2Reply::from_stub(&stub).expect(WORKS).ipid_rem_unknown;
        let query = query_interface(std.ipid);
        let opnum = RemQueryInterfaceRequest::METHOD.opnum;
        let stub = call(1, opnum, Some(rem_unknown), &object_stub(&query));
        let (_, reply) = read_reply(&stub).expect(WORKS);
        let events = query.results(&reply).expect(WORKS)[0].expect("the object has the interface").ipid;
        Self { subscriber, oxid: std.oxid, oid: std.oid.0, rem_unknown, unknown: std.ipid, events }
    }

    /// What a caller may write into its parameters.
    fn number(&self, which: u8) -> Vec<u8> {
        match which {
            0 => self.oxid.0.to_le_bytes().to_vec(),
            1 => self.oid.to_le_bytes().to_vec(),
            2 => self.unknown.to_bytes().to_vec(),
            3 => self.events.to_bytes().to_vec(),
            4 => self.rem_unknown.to_bytes().to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Calls of two targets and of a stranger, each: interface, opnum, object, peer, one of the first target's numbers and where
/// it is in the stub, then the stub. Answers are replies of their methods. Only a target's own calls leave an event
/// with it, one that keeps to the limits, and each of them is counted once.
pub fn call_backs(bytes: &[u8]) {
    let exporter = Exporter::new(Subscribers::INTERFACES);
    let subscribers = Subscribers::new(exporter.clone(), LIMITS);
    let targets = [PEERS[0], PEERS[1]].map(|peer| Target::new(&exporter, &subscribers, peer));
    let interfaces = exporter.interfaces();
    let mut input = Input::new(bytes);
    let (mut kept, mut denied) = ([0_u64; 2], [0_u64; 2]);
    loop {
        let interface = usize::from(input.byte()) % interfaces.len();
        let opnum = u16::from(input.byte()) % 8;
        let (object, owner) = object(&targets, input.byte());
        let peer = usize::from(input.byte()) % PEERS.len();
        let number = targets[0].number(input.byte());
        let at = usize::from(input.byte());
        let Some(stub) = input.chunk() else { break };
        let mut stub = stub.to_vec();
        if let Some(place) = stub.get_mut(at..at + number.len()) {
            place.copy_from_slice(&number);
        }
        let info = CallInfo { object, ..CallInfo::default() };
        let call = Call { opnum, stub: &stub, info, account: None, peer: PEERS[peer] };
        let before = targets.each_ref().map(|target| target.subscriber.counts());
        let answer = interfaces[interface].call(&call);
        if let Ok(answer) = &answer {
            let again = RECODE[interface](Direction::Reply, opnum, answer).expect("a method that answers");
            assert_eq!(again.expect("an answer is a reply").as_ref(), Ok(answer));
        }
        for (index, target) in targets.iter().enumerate() {
            let is_own = interface == EVENTS && owner == Some(index);
            denied[index] += u64::from(is_own && peer != index);
            let counts = target.subscriber.counts();
            if is_own && peer == index {
                let Ok(answer) = &answer else { continue };
                kept[index] += u64::from(answer.ends_with(&[0; 4]));
            } else {
                assert_eq!(counts.last, before[index].last);
                assert_eq!(
                    (counts.taken, counts.superseded),
                    (before[index].taken, before[index].superseded)
                );
            }
        }
    }
    for (index, target) in targets.iter().enumerate() {
        let event = target.subscriber.take();
        assert!(event.is_none_or(|event| event.bytes.len() <= LIMITS.event_bytes_max));
        let counts = target.subscriber.counts();
        assert_eq!(counts.taken + counts.superseded, kept[index]);
        assert_eq!(counts.refused_for(EventRefusal::Address), denied[index]);
    }
}

/// What a call names, and the target whose events it names.
fn object(targets: &[Target; 2], which: u8) -> (Option<Guid>, Option<usize>) {
    match which {
        0 => (None, None),
        1 => (Some(targets[0].rem_unknown), None),
        2 => (Some(targets[0].unknown), None),
        3 => (Some(targets[0].events), Some(0)),
        4 => (Some(targets[1].events), Some(1)),
        5 => (Some(targets[1].rem_unknown), None),
        other => (Some(Guid::from_u128(other.into())), None),
    }
}

fn query_interface(ipid: Guid) -> RemQueryInterfaceRequest {
    RemQueryInterfaceRequest::new(ipid, 1, vec![IComTrackingInfoEvents::IID]).expect("one interface")
}

fn object_stub<R: Request>(request: &R) -> Vec<u8> {
    request_stub(&OrpcThis::new(ComVersion::V5_7, Guid::from_u128(7)), request).expect("it can be written")
}

/// A host that resolves its reference, asks for the interface and calls it; and one that calls another's object.
pub(crate) fn honest() -> Vec<(&'static str, Vec<u8>)> {
    let call = |head: [u8; 6], stub: &[u8]| [&head[..], &chunk(stub)].concat();
    let alive = call([0, 5, 0, 0, 9, 0], &ServerAlive2Request {}.to_stub().expect(WORKS));
    let resolve = call([0, 4, 0, 0, 0, 0], &ResolveOxid2Request::tcp(Oxid(0)).to_stub().expect(WORKS));
    let query = call([1, 3, 1, 0, 2, 32], &object_stub(&query_interface(Guid::NULL)));
    let event = OnNewTrackingInfoRequest::new(&b"state"[..]).expect("a short event");
    let event = object_stub(&event);
    let tell = |peer| call([3, 3, 3, peer, 9, 0], &event);
    vec![
        ("host", [alive, resolve, query, tell(0), tell(0)].concat()),
        ("stranger", [tell(1), tell(2)].concat()),
    ]
}
