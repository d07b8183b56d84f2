//! A tracker that answers each call of an interface otherwise than the one before.

use std::error::Error;
use std::future::pending;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use com::comt::{
    ComponentData, ContainerData, DumpProcessReply, DumpProcessRequest,
    GetComponentDataByContainerAndClsidReply, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerReply, GetComponentDataByContainerRequest, GetContainerDataReply,
    GetContainerDataRequest, IGetTrackingData, IProcessDump, IsSupportedReply, IsSupportedRequest,
};
use dcerpc::{FaultStatus, SyntaxId};
use dcom::rpc_server::{Call, Options, Server, TcpListeners};
use rpc::ndr::Conformant;
use rpc::orpc::{OrpcThat, read_request, reply_stub, request_stub};
use rpc::{FromStub, Interface, Message, Request};
use tokio::net::TcpListener;
use wire::HResult;

use crate::made_up;
use crate::transcript::{Parameters, print_reply, print_request};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const CONTAINERS: u16 = GetContainerDataRequest::METHOD.opnum;
const COMPONENTS: u16 = GetComponentDataByContainerRequest::METHOD.opnum;
const COMPONENT: u16 = GetComponentDataByContainerAndClsidRequest::METHOD.opnum;
const IS_SUPPORTED: u16 = IsSupportedRequest::METHOD.opnum;
const DUMP: u16 = DumpProcessRequest::METHOD.opnum;

/// More elements than a fragment holds.
const MANY: u32 = 500;

/// Serves until the process is ended.
pub(crate) async fn serve() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let served = |syntax_id| Arc::new(Tracker { syntax_id, calls: AtomicU32::new(0) });
    let tracker = served(IGetTrackingData::SYNTAX_ID);
    let dumps = served(IProcessDump::SYNTAX_ID);
    let server = Server::new(Options::default(), vec![tracker, dumps]);
    let _listening = TcpListeners::start(&server, vec![listener])?;
    eprintln!("listening on {address}");
    pending().await
}

/// An object with one interface.
struct Tracker {
    syntax_id: SyntaxId,
    calls: AtomicU32,
}

impl dcom::rpc_server::Interface for Tracker {
    fn syntax_id(&self) -> SyntaxId {
        self.syntax_id
    }

    fn call(&self, call: &Call<'_>) -> std::result::Result<Vec<u8>, FaultStatus> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let tracks = self.syntax_id == IGetTrackingData::SYNTAX_ID;
        let answered = match call.opnum {
            CONTAINERS if tracks => {
                answer(call.stub, number, |_: &GetContainerDataRequest| containers(number))
            }
            COMPONENTS if tracks => answer(call.stub, number, components),
            COMPONENT if tracks => answer(call.stub, number, component),
            IS_SUPPORTED if !tracks => {
                answer(call.stub, number, |_: &IsSupportedRequest| is_supported(number))
            }
            DUMP if !tracks => answer(call.stub, number, dump),
            _ => return Err(FaultStatus::NCA_S_OP_RNG_ERROR),
        };
        answered.map_err(|error| {
            eprintln!("opnum {}: {error}", call.opnum);
            FaultStatus::RPC_X_BAD_STUB_DATA
        })
    }
}

/// Each answer has flags and extents of its own.
fn answer<'stub, R, M>(stub: &'stub [u8], number: u32, reply: impl FnOnce(&R) -> M) -> Result<Vec<u8>>
where
    R: Request + FromStub<'stub> + Parameters,
    M: Message + Parameters,
{
    let (this, request) = read_request::<R>(stub)?;
    print_request(&this, &request);
    let (ours, theirs) = (request_stub(&this, &request)?.len(), stub.len());
    if ours != theirs {
        return Err(format!("a request of {theirs} bytes has {ours} when we write it").into());
    }
    let reply = reply(&request);
    let that = OrpcThat { flags: number, extensions: made_up::extents(number)? };
    print_reply(&that, &reply);
    Ok(reply_stub(&that, &reply)?)
}

/// An array without elements comes in both forms that the IDL allows: as NULL, and as an array.
fn containers(call: u32) -> GetContainerDataReply {
    let reply = |data: Option<Vec<ContainerData>>, status| GetContainerDataReply {
        count: data.as_ref().map_or(0, |data| u32::try_from(data.len()).expect("there are a few")),
        data: data.map(|data| Box::new(Conformant(data))),
        status,
    };
    let some = |count| reply(Some((0..count).map(made_up::container).collect()), HResult::S_OK);
    match call {
        0 => some(1),
        1 => some(0),
        2 => some(3),
        3 => reply(None, HResult::S_OK),
        4 => some(MANY),
        _ => reply(None, HResult::E_ACCESSDENIED),
    }
}

/// The container with the highest number is unknown; each other one has as many components as its number says.
fn components(request: &GetComponentDataByContainerRequest) -> GetComponentDataByContainerReply {
    let count = request.container;
    if count > MANY {
        return GetComponentDataByContainerReply { count: 0, data: None, status: HResult::E_INVALIDARG };
    }
    let element = |element| made_up::component(made_up::guid(element), element);
    let data: Vec<ComponentData> = (0..count).map(element).collect();
    GetComponentDataByContainerReply { count, data: Some(Box::new(Conformant(data))), status: HResult::S_OK }
}

/// Container 0 has no component.
fn component(
    request: &GetComponentDataByContainerAndClsidRequest,
) -> GetComponentDataByContainerAndClsidReply {
    let data =
        (request.container > 0).then(|| Box::new(made_up::component(request.clsid, request.container)));
    let status = if data.is_some() { HResult::S_OK } else { HResult::E_INVALIDARG };
    GetComponentDataByContainerAndClsidReply { data, status }
}

fn is_supported(call: u32) -> IsSupportedReply {
    let status = match call % 3 {
        0 => HResult::S_FALSE,
        1 => HResult::E_NOTIMPL,
        _ => HResult::S_OK,
    };
    IsSupportedReply { status }
}

/// The file's name is that of the directory, backwards, and nothing comes back as the form of nothing that came.
fn dump(request: &DumpProcessRequest) -> DumpProcessReply {
    let mut file = request.directory.clone();
    if let Some(blob) = &mut file.0 {
        blob.units.reverse();
    }
    let status = if file.is_null() { HResult::E_INVALIDARG } else { HResult::S_OK };
    DumpProcessReply { file, status }
}
