//! References and ping sets, call by call.

use std::net::SocketAddr;
use std::time::Duration;

use com::dcom::activation::{Activation, ActivationRequest};
use com::dcom::activator::{IRemoteSCMActivator, RemoteCreateInstanceRequest};
use com::dcom::remote_unknown::{
    IRemUnknown, IRemUnknown2, RemAddRefRequest, RemQueryInterface2Request, RemQueryInterfaceRequest,
    RemReleaseRequest,
};
use com::dcom::resolver::{
    ComplexPingRequest, IObjectExporter, ResolveOxid2Request, ServerAlive2Request, SimplePingRequest,
};
use com::dcom::types::{Oid, ProtocolSequence, RemInterfaceRef, SetId, StdObjref};
use com::dcom::wire::DualStringArray;
use host_session::TcpSession;
use host_session::rpc_client::{Interface as Bound, TcpTransport};
use rpc::ndr::Conformant;
use rpc::orpc::{ComVersion, ObjectInterface, OrpcThis, Proxy};
use rpc::{Client, Interface};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::{Guid, HResult, Win32Error};

use super::lamp::{IHeater, ILamp, ISwitch, LAMP};
use super::{World, soon};
use crate::host::credentials;

const CALL: Guid = Guid::from_u128(0xca11);

/// What a client holds of a lamp: its interface, and the `IRemUnknown` of its program.
async fn lamp(world: &World) -> (StdObjref, Guid) {
    let syntax_id = IRemoteSCMActivator::SYNTAX_ID;
    let mut session = world.bind(world.resolver, Some(credentials()), syntax_id).await.unwrap();
    let mut activator = Client::<_, IRemoteSCMActivator>::new(session.channel(0, soon()));
    let properties = ActivationRequest::new(LAMP, vec![ILamp::IID]).to_pointer().unwrap();
    let this = OrpcThis::new(ComVersion::V5_7, CALL);
    let request = RemoteCreateInstanceRequest { this, outer: None, properties: Some(Box::new(properties)) };
    let stub = activator.stub(&request).await.unwrap();
    let reply = activator.decode(&request, &stub).unwrap();
    let activation = Activation::from_pointer(&reply.activated.unwrap()).unwrap();
    (*activation.interface(ILamp::IID).unwrap().std().unwrap(), activation.exporter.ipid_rem_unknown)
}

async fn program<I: ObjectInterface>(world: &World) -> TcpSession {
    world.bind(world.exporter, Some(credentials()), I::SYNTAX_ID).await.unwrap()
}

fn proxy<I: ObjectInterface>(session: &mut TcpSession, ipid: Guid) -> Proxy<Bound<'_, TcpTransport>, I> {
    Proxy::new(session.channel(0, soon()), ipid, ComVersion::V5_7, CALL)
}

#[tokio::test]
async fn an_object_lives_until_all_references_to_its_interfaces_are_given_back() {
    let world = World::new().await;
    let (std, ipid) = lamp(&world).await;
    let mut session = program::<IRemUnknown>(&world).await;
    let mut rem_unknown = proxy::<IRemUnknown>(&mut session, ipid);
    let unknown = RemInterfaceRef::public(Guid::from_u128(1), 1);
    let three = RemInterfaceRef::public(std.ipid, 3);
    let request = RemAddRefRequest::new(vec![three, unknown]).unwrap();
    let added = rem_unknown.call(&request).await.unwrap().results.0;
    assert_eq!(added, [HResult::S_OK, HResult::CO_E_OBJNOTREG]);
    let request = RemQueryInterfaceRequest::new(std.ipid, 2, vec![ISwitch::IID, IHeater::IID]).unwrap();
    let reply = rem_unknown.call(&request).await.unwrap();
    let found = request.results(&reply).unwrap();
    let switch = found[0].unwrap();
    assert_eq!((switch.oid, switch.public_refs, found[1]), (std.oid, 2, Err(HResult::E_NOINTERFACE)));
    // Five came with the activation.
    for (ipid, references, lamps) in
        [(std.ipid, 7, 1), (std.ipid, 1, 1), (switch.ipid, 1, 1), (switch.ipid, 1, 0), (switch.ipid, 1, 0)]
    {
        let released = vec![RemInterfaceRef::public(ipid, references)];
        rem_unknown.call(&RemReleaseRequest::new(released).unwrap()).await.unwrap();
        assert_eq!(world.lamps(), lamps);
    }
    let error = rem_unknown.call(&request).await.unwrap_err();
    assert!(error.to_string().contains("RPC_E_INVALID_OBJECT"), "{error}");
}

#[tokio::test]
async fn further_interfaces_come_as_references_that_can_be_passed_on() {
    let world = World::new().await;
    let (std, ipid) = lamp(&world).await;
    let mut session = program::<IRemUnknown2>(&world).await;
    let mut rem_unknown = proxy::<IRemUnknown2>(&mut session, ipid);
    let request = RemQueryInterface2Request::new(std.ipid, vec![IHeater::IID, ISwitch::IID]).unwrap();
    let stub = rem_unknown.stub(&request).await.unwrap();
    let (_, reply) = rem_unknown.decode(&request, &stub).unwrap();
    let results = request.results(&reply).unwrap();
    assert_eq!(results[0], Err(HResult::E_NOINTERFACE));
    let switch = results[1].as_ref().unwrap();
    assert_eq!(switch.std().unwrap().oid, std.oid);
    let pairs = |bindings: &DualStringArray| -> Vec<_> {
        bindings.strings.iter().map(|binding| (binding.protocol, binding.address.clone())).collect()
    };
    let tcp = |address: String| (ProtocolSequence::TCP, address);
    let expected = ["WEB1", "127.0.0.1"].map(|address| tcp(address.to_owned()));
    assert_eq!(pairs(switch.resolver().unwrap()), expected, "the short name first, as Windows has it");

    // A program may be reached by a pipe, too, which is listed first; its resolver is not.
    let mut sealed =
        world.bind(world.resolver, Some(credentials()), IObjectExporter::SYNTAX_ID).await.unwrap();
    let mut client = Client::<_, IObjectExporter>::new(sealed.channel(0, soon()));
    let resolved = client.call(&ResolveOxid2Request::tcp(std.oxid)).await.unwrap();
    let port = world.exporter.port();
    assert_eq!(
        pairs(&resolved.bindings.unwrap()),
        [
            (ProtocolSequence::NAMED_PIPE, r"\\WEB1[\PIPE\objects]".to_owned()),
            tcp(format!("WEB1[{port}]")),
            tcp(format!("127.0.0.1[{port}]")),
        ]
    );
    let alive = client.call(&ServerAlive2Request {}).await.unwrap();
    assert_eq!(pairs(&alive.bindings.unwrap()), expected);
}

fn change(set_id: SetId, sequence: u16, add: &[Oid], delete: &[Oid]) -> ComplexPingRequest {
    let count = |oids: &[Oid]| u16::try_from(oids.len()).unwrap();
    let list = |oids: &[Oid]| (!oids.is_empty()).then(|| Box::new(Conformant(oids.to_vec())));
    let (add_count, delete_count) = (count(add), count(delete));
    ComplexPingRequest { set_id, sequence, add_count, delete_count, add: list(add), delete: list(delete) }
}

#[tokio::test]
async fn a_set_of_objects_is_made_pinged_changed_and_forgotten() {
    let world = World::new().await;
    let (std, _) = lamp(&world).await;
    let mut session =
        world.bind(world.resolver, Some(credentials()), IObjectExporter::SYNTAX_ID).await.unwrap();
    let mut resolver = Client::<_, IObjectExporter>::new(session.channel(0, soon()));
    let pass = |seconds| world.clock.advance(Duration::from_secs(seconds));
    let stranger = Oid(1);
    let made = resolver.call(&change(SetId(0), 5, &[std.oid, stranger], &[])).await.unwrap();
    let set_id = made.set_id;
    assert_ne!(set_id, SetId(0), "an unknown object is passed over in a new set");
    for _ in 0..3 {
        pass(300);
        resolver.call(&SimplePingRequest { set_id }).await.unwrap();
    }
    assert_eq!(world.lamps(), 1);
    let refused = resolver.call(&change(set_id, 6, &[stranger], &[])).await.unwrap_err();
    assert_eq!(refused.status(), Some(Win32Error::OR_INVALID_OID));
    // A change that arrives late is none.
    resolver.call(&change(set_id, 4, &[], &[std.oid])).await.unwrap();
    pass(300);
    resolver.call(&SimplePingRequest { set_id }).await.unwrap();
    resolver.call(&change(set_id, 7, &[], &[std.oid])).await.unwrap();
    pass(300);
    resolver.call(&SimplePingRequest { set_id }).await.unwrap();
    assert_eq!(world.lamps(), 1, "five minutes after its last ping");
    pass(60);
    resolver.call(&SimplePingRequest { set_id }).await.unwrap();
    let mut other = program::<ILamp>(&world).await;
    let gone = proxy::<ILamp>(&mut other, std.ipid).call(&super::lamp::GetBrightnessRequest {}).await;
    assert!(gone.is_err_and(|error| error.to_string().contains("0x80010108")));
    assert_eq!(world.lamps(), 0);
    pass(360);
    let forgotten = resolver.call(&SimplePingRequest { set_id }).await.unwrap_err();
    assert_eq!(forgotten.status(), Some(Win32Error::OR_INVALID_SET));
}

/// Reads to the end of a connection.
async fn ends(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 1024];
    loop {
        match tokio::time::timeout_at(soon(), stream.read(&mut buffer)).await {
            Ok(Ok(0) | Err(_)) => return true,
            Ok(Ok(_)) => {}
            Err(_) => return false,
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_rpc_and_connections_above_the_limit_are_closed() {
    let world = World::new().await;
    let connect = |address: SocketAddr| async move { TcpStream::connect(address).await.unwrap() };
    let mut hostile = connect(world.resolver).await;
    hostile.write_all(&[0x47; 64]).await.unwrap();
    assert!(ends(&mut hostile).await);
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(connect(world.exporter).await);
    }
    assert!(ends(&mut connect(world.exporter).await).await, "the ninth");
    drop(open);
    assert_eq!(world.lamps(), 0);
}
