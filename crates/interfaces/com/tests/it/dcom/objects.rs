//! Both sides of the interfaces, over channels in memory.

use core::future::{Future, ready};

use com::dcom::activation::ObjectExporter;
use com::dcom::activator::RemoteCreateInstanceReply;
use com::dcom::remote_unknown::{
    IRemUnknown, IRemUnknown2, IRemUnknown2Server, IRemUnknownServer, RemAddRefReply, RemAddRefRequest,
    RemQueryInterface2Reply, RemQueryInterface2Request, RemQueryInterfaceReply, RemQueryInterfaceRequest,
    RemReleaseReply, RemReleaseRequest,
};
use com::dcom::resolver::{
    IObjectExporter, IObjectExporterServer, ResolveOxid2Reply, ResolveOxid2Request, ServerAlive2Reply,
    ServerAlive2Request, SimplePingRequest,
};
use com::dcom::types::{CLSID_ERROR_OBJECT, ERROR_EXTENSION, RemInterfaceRef, RemQiResult, SetId, StdObjref};
use com::dcom::wire::{CustomHeader, ErrorInfo, Objref, TEXT_UNITS_MAX};
use rpc::ndr::{Conformant, Reader, Reserved};
use rpc::orpc::{ComVersion, IUnknownServer, OrpcExtent, OrpcThat, Proxy, read_reply, reply_stub};
use rpc::{CallInfo, Channel, Client, Error, FaultStatus, FromStub as _, Interface, ServerResult};
use test_support::future::now;
use wire::{Guid, HResult, Win32Error, decode, encode_vec};

use crate::dcom::fixture::{CID, CLASS, IID, IPID, OXID, bindings, objref, std_objref};

/// A resolver that knows one program, and that program with one object.
#[derive(Default)]
struct Host {
    released: Vec<RemInterfaceRef>,
}

impl IObjectExporterServer for Host {
    fn server_alive2(&mut self, _: &ServerAlive2Request) -> ServerResult<ServerAlive2Reply, Win32Error> {
        let (version, reserved, status) = (ComVersion::V5_7, Reserved::NEW, Win32Error::ERROR_SUCCESS);
        Ok(ServerAlive2Reply { version, bindings: Some(Box::new(bindings("web1"))), reserved, status })
    }

    fn resolve_oxid2(
        &mut self,
        request: &ResolveOxid2Request,
    ) -> ServerResult<ResolveOxid2Reply, Win32Error> {
        if request.oxid != OXID {
            return Err(Win32Error::OR_INVALID_OXID.into());
        }
        let (ipid_rem_unknown, authn_hint, version) = (IPID, 5, ComVersion::V5_7);
        let (bindings, status) = (Some(Box::new(bindings("web1[49664]"))), Win32Error::ERROR_SUCCESS);
        Ok(ResolveOxid2Reply { bindings, ipid_rem_unknown, authn_hint, version, status })
    }
}

impl IUnknownServer for Host {}

impl IRemUnknownServer for Host {
    fn rem_query_interface(
        &mut self,
        request: &RemQueryInterfaceRequest,
    ) -> ServerResult<RemQueryInterfaceReply, HResult> {
        let query = |&iid: &Guid| match iid {
            IID => RemQiResult { result: HResult::S_OK, std: std_objref() },
            _ => RemQiResult { result: HResult::E_NOINTERFACE, std: StdObjref::default() },
        };
        let results = Some(Box::new(Conformant(request.iids.0.iter().map(query).collect())));
        Ok(RemQueryInterfaceReply { results, status: HResult::S_OK })
    }

    fn rem_add_ref(&mut self, _: &RemAddRefRequest) -> ServerResult<RemAddRefReply, HResult> {
        Err(HResult::RPC_E_INVALID_OBJECT.into())
    }

    fn rem_release(&mut self, request: &RemReleaseRequest) -> ServerResult<RemReleaseReply, HResult> {
        self.released.extend(&request.refs.0);
        Ok(RemReleaseReply { status: HResult::S_OK })
    }
}

impl IRemUnknown2Server for Host {
    fn rem_query_interface2(
        &mut self,
        request: &RemQueryInterface2Request,
    ) -> ServerResult<RemQueryInterface2Reply<'_>, HResult> {
        let is_ours = |&iid: &Guid| iid == IID;
        let status = |iid| if is_ours(iid) { HResult::S_OK } else { HResult::E_NOINTERFACE };
        let pointer = |iid| is_ours(iid).then(|| Box::new(objref().to_pointer().unwrap()));
        let iids = &request.iids.0;
        let results = Conformant(iids.iter().map(status).collect());
        let pointers = Conformant(iids.iter().map(pointer).collect());
        Ok(RemQueryInterface2Reply { results, pointers, status: HResult::S_OK })
    }
}

rpc::interface! {
    /// An interface that inherits from one of another crate.
    orpc interface IHost: IRemUnknown2("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd58") -> HResult {
        /// Counts what was released.
        7 => GetReleased() -> (count: u32);
    }
}

impl IHostServer for Host {
    fn get_released(&mut self, _: &GetReleasedRequest) -> ServerResult<GetReleasedReply, HResult> {
        let count = u32::try_from(self.released.len()).unwrap();
        Ok(GetReleasedReply { count, status: HResult::S_OK })
    }
}

/// Leads to the resolver, or to the program for calls of its object.
#[derive(Default)]
struct Wire(Host);

impl Channel for Wire {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        let call = CallInfo { object, ..CallInfo::default() };
        ready(match object {
            None => self.0.dispatch(&call, opnum, stub),
            Some(IPID) => IHost::dispatch(&mut self.0, &call, opnum, stub),
            Some(_) => Err(FaultStatus::RPC_E_DISCONNECTED),
        })
    }
}

#[test]
fn a_client_finds_the_program_of_an_object_by_its_resolver() {
    let mut client: Client<_, IObjectExporter> = Client::new(Wire::default());
    let alive = now(client.call(&ServerAlive2Request {})).unwrap();
    assert_eq!(ComVersion::V5_7.negotiate(alive.version), Some(ComVersion::V5_7));
    let request = ResolveOxid2Request::tcp(OXID);
    let reply = now(client.call(&request)).unwrap();
    let expected = ObjectExporter {
        oxid: OXID,
        bindings: bindings("web1[49664]"),
        ipid_rem_unknown: IPID,
        authn_hint: 5,
        version: ComVersion::V5_7,
    };
    assert_eq!(request.exporter(reply.clone()).unwrap(), expected);
    let nowhere = ResolveOxid2Reply { bindings: None, ..reply };
    let error = request.exporter(nowhere).unwrap_err().to_string();
    assert_eq!(error, "ResolveOxid2: `ppdsaOxidBindings`: is NULL (offset 0)");
    let error = now(client.call(&ResolveOxid2Request::tcp(com::dcom::types::Oxid(1)))).unwrap_err();
    assert_eq!(error.to_string(), "resolve oxid2: OR_INVALID_OXID");
    let error = now(client.call(&SimplePingRequest { set_id: SetId(1) })).unwrap_err();
    assert!(matches!(error, Error::Call { source: FaultStatus::NCA_S_OP_RNG_ERROR, .. }), "{error}");
}

fn proxy() -> Proxy<Wire, IRemUnknown2> {
    Proxy::new(Wire::default(), IPID, ComVersion::V5_7, CID)
}

#[test]
fn a_client_asks_for_further_interfaces_and_gives_references_back() {
    let mut proxy = proxy();
    let request = RemQueryInterfaceRequest::new(IPID, 5, vec![IID, CLASS]).unwrap();
    let reply = now(proxy.call(&request)).unwrap();
    assert_eq!(request.results(&reply).unwrap(), [Ok(std_objref()), Err(HResult::E_NOINTERFACE)]);
    let request = RemQueryInterface2Request::new(IPID, vec![CLASS, IID]).unwrap();
    let stub = now(proxy.stub(&request)).unwrap();
    let (_, reply) = proxy.decode(&request, &stub).unwrap();
    assert_eq!(request.results(&reply).unwrap(), [Err(HResult::E_NOINTERFACE), Ok(objref())]);
    let refs = vec![RemInterfaceRef::public(IPID, 5)];
    let error = now(proxy.call(&RemAddRefRequest::new(refs.clone()).unwrap())).unwrap_err();
    assert_eq!(error.to_string(), "rem add ref: RPC_E_INVALID_OBJECT");
    now(proxy.call(&RemReleaseRequest::new(refs.clone()).unwrap())).unwrap();
    assert_eq!(proxy.channel().0.released, refs);

    assert_eq!(IRemUnknown2::method(5).unwrap().interface, IRemUnknown::NAME);
    assert_eq!(RemReleaseRequest::new(vec![refs[0]; 0x1_0000]), None);
    assert_eq!(RemQueryInterface2Request::new(IPID, vec![IID; 0x1_0000]), None);
}

#[test]
fn an_interface_inherits_from_one_of_another_crate() {
    let mut host: Proxy<_, IHost> = Proxy::new(Wire::default(), IPID, ComVersion::V5_7, CID);
    now(host.call(&RemReleaseRequest::new(vec![RemInterfaceRef::public(IPID, 5)]).unwrap())).unwrap();
    assert_eq!(now(host.call(&GetReleasedRequest {})).unwrap().count, 1);
    let opnums = [3, 6, 7].map(|opnum| IHost::method(opnum).unwrap().interface);
    assert_eq!(opnums, ["IRemUnknown", "IRemUnknown2", "IHost"]);
}

#[test]
fn results_for_another_number_of_interfaces_are_none() {
    let request = RemQueryInterfaceRequest::new(IPID, 5, vec![IID, CLASS]).unwrap();
    let one = Conformant(vec![RemQiResult { result: HResult::S_OK, std: std_objref() }]);
    for results in [None, Some(Box::new(one))] {
        let reply = RemQueryInterfaceReply { results, status: HResult::S_OK };
        assert!(request.results(&reply).is_err());
    }
    let request = RemQueryInterface2Request::new(IPID, vec![IID]).unwrap();
    let check = |results: Vec<HResult>, pointers: Vec<Option<Objref<'_>>>, expected: &str| {
        let pointers =
            pointers.iter().map(|found| found.as_ref().map(|found| Box::new(found.to_pointer().unwrap())));
        let (results, pointers) = (Conformant(results), Conformant(pointers.collect()));
        let reply = RemQueryInterface2Reply { results, pointers, status: HResult::S_OK };
        let error = request.results(&reply).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(vec![], vec![None], "`phr`: has another number");
    check(vec![HResult::S_OK], vec![], "`ppMIF`: has another number");
    check(vec![HResult::S_OK], vec![None], "`ppMIF`: is NULL");
    check(vec![HResult::S_OK], vec![Some(Objref::custom(CLASS, CLASS, &b""[..]))], "is of another interface");
}

#[test]
fn an_object_may_say_why_it_failed_beside_its_status() {
    let info = ErrorInfo {
        help_context: 7,
        iid: IID,
        source: Some("COM+".to_owned()),
        description: Some("The application is paused".to_owned()),
        help_file: None,
    };
    let that = OrpcThat::with_extents(vec![info.to_extent().unwrap()]).unwrap();
    let request = RemReleaseRequest::new(Vec::new()).unwrap();
    let stub = reply_stub(&that, &RemReleaseReply { status: HResult::E_FAIL }).unwrap();
    let (that, reply) = proxy().decode(&request, &stub).unwrap();
    assert_eq!((ErrorInfo::of(&that), reply.status), (Some(info.clone()), HResult::E_FAIL));

    // What cannot be read leaves the status.
    let objref = Objref::custom(IID, CLSID_ERROR_OBJECT, &b"short"[..]);
    let extent = OrpcExtent::new(ERROR_EXTENSION, &encode_vec(&objref).unwrap()).unwrap();
    assert_eq!(ErrorInfo::of(&OrpcThat::with_extents(vec![extent]).unwrap()), None);
    assert_eq!(ErrorInfo::of(&OrpcThat::default()), None);

    let long = "a".repeat(usize::try_from(TEXT_UNITS_MAX).unwrap());
    let error = ErrorInfo { source: Some(long), ..info.clone() }.to_extent().unwrap_err();
    assert_eq!(error.to_string(), "ErrorInfo: `Source`: is too long or holds a NUL");
    let mut bytes = encode_vec(&info).unwrap();
    let dw_actual = 24 + 4 + 8;
    bytes[24 + 4..24 + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes[dw_actual..dw_actual + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = decode::<ErrorInfo>(&bytes).unwrap_err().to_string();
    assert_eq!(error, "ErrorInfo: `Source`: 4294967295 is above the limit of 4096 (offset 36)");
}

#[test]
fn data_that_marshal_themselves_may_hold_further_ones_one_behind_the_other() {
    let header = CustomHeader { iid: IID, clsid: CLASS };
    let mut bytes = Vec::new();
    for data in [&b"first"[..], b"second"] {
        let dst = &mut wire::WriteCursor::new(&mut bytes);
        header.encode(dst, data.len()).unwrap();
        dst.write_slice(data);
    }
    let mut src = wire::ReadCursor::new(&bytes);
    for data in [&b"first"[..], b"second"] {
        assert_eq!(<CustomHeader as wire::Decode<'_>>::decode(&mut src), Ok(header));
        assert_eq!(src.take_slice("test", "data", data.len()), Ok(data));
    }
    let standard = encode_vec(&objref()).unwrap();
    let error = decode::<CustomHeader>(&standard).unwrap_err().to_string();
    assert_eq!(error, "OBJREF_CUSTOM: `flags`: unsupported value 0x1 (offset 4)");
}

#[test]
fn four_billion_results_are_refused_before_any_memory_is_taken() {
    // No extension, a pointer, and the number of what is behind it.
    let stub = [[0, 0, 0x2_0000, u32::MAX].map(u32::to_le_bytes).concat(), vec![0; 400]].concat();
    let allocated = allocation_counter::measure(|| {
        read_reply::<RemQueryInterfaceReply>(&stub).unwrap_err();
        read_reply::<RemQueryInterface2Reply<'_>>(&stub).unwrap_err();
        RemoteCreateInstanceReply::decode(&mut Reader::new(&stub, "reply")).unwrap_err();
    });
    assert!(allocated.bytes_max < 4096, "{allocated:?}");
}
