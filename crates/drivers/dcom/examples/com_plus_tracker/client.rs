//! Calls of every method with all kinds of arguments.

use std::error::Error;
use std::time::Duration;

use com::comt::{
    DumpProcessRequest, GetComponentDataByContainerAndClsidRequest, GetComponentDataByContainerRequest,
    GetContainerDataRequest, IGetTrackingData, IProcessDump, IsSupportedRequest,
};
use com::oaut::{Bstr, FlaggedWordBlob};
use dcerpc::client::{CallRequest, ClientConfig};
use host_session::rpc_client::{Association, TcpTransport};
use rpc::orpc::{ComVersion, OrpcThis, read_reply, reply_stub, request_stub};
use rpc::{FromStub, Interface, Request};
use tokio::time::Instant;
use transport::{Connector, Endpoint, TcpConnector};
use wire::Guid;

use crate::call_ids::OwnCallIds;
use crate::made_up;
use crate::transcript::{Parameters, print_reply, print_request};

const TIME_MAX: Duration = Duration::from_secs(30);
/// What the server calls its objects; it does not look at it.
const IPID: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
const CONTAINERS_CALLS: usize = 6;
const IS_SUPPORTED_CALLS: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) async fn call(server: &Endpoint) -> Result<()> {
    let mut tracker = Calls::bind::<IGetTrackingData>(server).await?;
    for _ in 0..CONTAINERS_CALLS {
        tracker.call(&GetContainerDataRequest {}).await?;
    }
    for container in [0, 1, 3, 500, u32::MAX] {
        tracker.call(&GetComponentDataByContainerRequest { container }).await?;
    }
    let all_ones = Guid::from_u128(u128::MAX);
    for (container, clsid) in [(0, Guid::NULL), (1, made_up::guid(9)), (u32::MAX, all_ones)] {
        tracker.call(&GetComponentDataByContainerAndClsidRequest { container, clsid }).await?;
    }
    let mut dumps = Calls::bind::<IProcessDump>(server).await?;
    for _ in 0..IS_SUPPORTED_CALLS {
        dumps.call(&IsSupportedRequest {}).await?;
    }
    for request in dump_requests()? {
        dumps.call(&request).await?;
    }
    Ok(())
}

fn dump_requests() -> Result<Vec<DumpProcessRequest>> {
    let container = made_up::guid(1);
    let no_pointers = DumpProcessRequest { container: Bstr(None), directory: Bstr(None), files_max: 1 };
    let long = "長".repeat(4001);
    let odd = FlaggedWordBlob { bytes: 3, count: 2, units: vec![0x646f, 0x64] };
    let odd = DumpProcessRequest {
        container: Bstr::new("odd")?,
        directory: Bstr(Some(Box::new(odd))),
        files_max: 5,
    };
    Ok(vec![
        DumpProcessRequest::new(container, Some(r"C:\Größe\日本\𝄞"), 0)?,
        DumpProcessRequest::new(container, None, u32::MAX)?,
        no_pointers,
        DumpProcessRequest::new(container, Some(""), 2)?,
        DumpProcessRequest::new(container, Some("\0C:\0"), 3)?,
        DumpProcessRequest::new(container, Some(&long), 4)?,
        odd,
    ])
}

/// Calls of one object.
struct Calls {
    association: Association<OwnCallIds>,
    made: u32,
    deadline: Instant,
}

impl Calls {
    async fn bind<I: Interface>(server: &Endpoint) -> Result<Self> {
        let deadline = Instant::now() + TIME_MAX;
        let stream = TcpConnector::default().connect(server, deadline).await?;
        let transport = OwnCallIds::new(TcpTransport::new(stream));
        let config = ClientConfig::default();
        let association = Association::bind(transport, &[I::SYNTAX_ID], None, config, deadline).await?;
        Ok(Self { association, made: 0, deadline })
    }

    /// Calls a method. Each call has flags, a causality and extents of its own.
    async fn call<R, T>(&mut self, request: &R) -> Result<()>
    where
        R: for<'reply> Request<Reply<'reply> = T> + Parameters,
        T: for<'reply> FromStub<'reply> + Parameters,
    {
        let extensions = made_up::extents(self.made)?;
        let this = OrpcThis::new(ComVersion::V5_7, made_up::guid(0x7000 + self.made));
        let this = OrpcThis { flags: self.made, extensions, ..this };
        self.made += 1;
        print_request(&this, request);
        let stub = request_stub(&this, request)?;
        let call = CallRequest { context_id: 0, opnum: R::METHOD.opnum, object: Some(IPID), stub: &stub };
        let response = self.association.call(call, self.deadline).await?;
        let (that, reply) = read_reply::<T>(&response)?;
        print_reply(&that, &reply);
        let written = reply_stub(&that, &reply)?;
        match request.broken_rule(&reply) {
            None if written.len() == response.len() => Ok(()),
            None => {
                let (ours, theirs) = (written.len(), response.len());
                Err(format!("{}: a response of {theirs} bytes has {ours} when we write it", R::METHOD.name)
                    .into())
            }
            Some((field, reason)) => Err(format!("{}: {field} {reason}", R::METHOD.name).into()),
        }
    }
}
