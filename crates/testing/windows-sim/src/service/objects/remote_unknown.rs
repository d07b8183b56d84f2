//! `IRemUnknown` and `IRemUnknown2` of the program: further interfaces of its objects, and references to them.

use std::sync::Arc;

use com::dcom::remote_unknown::{
    IRemUnknown, IRemUnknown2, IRemUnknown2Server, IRemUnknownServer, RemAddRefReply, RemAddRefRequest,
    RemQueryInterface2Reply, RemQueryInterface2Request, RemQueryInterfaceReply, RemQueryInterfaceRequest,
    RemReleaseReply, RemReleaseRequest,
};
use com::dcom::types::{RemQiResult, StdObjref};
use com::dcom::wire::Objref;
use dcerpc::{FaultStatus, SyntaxId};
use rpc::ndr::Conformant;
use rpc::orpc::IUnknownServer;
use rpc::{Interface, ServerResult};
use wire::{FileTime, HResult};

use super::table::ObjectTable;
use super::{Refusing, RefusingDispatch};
use crate::host_state::HostState;
use crate::rule::Action;
use crate::service::{Call, Endpoint, Handler, Service, TcpPort, resolver_bindings};

/// References that come with an interface where the client does not say how many it wants.
const REFERENCES: u32 = 5;

/// One of the two interfaces.
#[derive(Clone)]
pub(super) struct RemUnknown {
    name: &'static str,
    syntax_id: SyntaxId,
    dispatch: Dispatch,
    refuse: RefusingDispatch,
    objects: Arc<ObjectTable>,
}

type Dispatch = fn(&mut Calls, &rpc::CallInfo, u16, &[u8]) -> Result<Vec<u8>, FaultStatus>;

impl RemUnknown {
    pub(super) fn first(objects: Arc<ObjectTable>) -> Self {
        Self {
            name: "rem-unknown",
            syntax_id: IRemUnknown::SYNTAX_ID,
            dispatch: IRemUnknown::dispatch,
            refuse: IRemUnknown::dispatch,
            objects,
        }
    }

    pub(super) fn second(objects: Arc<ObjectTable>) -> Self {
        Self {
            name: "rem-unknown2",
            syntax_id: IRemUnknown2::SYNTAX_ID,
            dispatch: IRemUnknown2::dispatch,
            refuse: IRemUnknown2::dispatch,
            objects,
        }
    }
}

impl Service for RemUnknown {
    fn name(&self) -> &'static str {
        self.name
    }

    fn syntax_id(&self) -> SyntaxId {
        self.syntax_id
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Exporter)]
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(Calls { interface: self.clone(), host: Arc::clone(host) })
    }
}

struct Calls {
    interface: RemUnknown,
    host: Arc<HostState>,
}

impl Calls {
    fn objects(&self) -> &ObjectTable {
        &self.interface.objects
    }

    fn now(&self) -> FileTime {
        self.host.source().moment().time
    }
}

impl Handler for Calls {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        call.require_privacy()?;
        if call.object != Some(self.objects().ipid_rem_unknown()) {
            return Err(FaultStatus::RPC_E_DISCONNECTED);
        }
        (self.interface.dispatch)(self, &call.info(), call.opnum, call.stub)
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            let mut refusing = Refusing(HResult(status.0));
            let refused = (self.interface.refuse)(&mut refusing, &call.info(), call.opnum, call.stub);
            *response = refused.unwrap_or_default();
        }
    }
}

impl IUnknownServer for Calls {}

impl IRemUnknownServer for Calls {
    fn rem_query_interface(
        &mut self,
        request: &RemQueryInterfaceRequest,
    ) -> ServerResult<RemQueryInterfaceReply, HResult> {
        let found = self.objects().query(request.ipid, &request.iids.0, request.refs, self.now());
        let result = |found| match found {
            Ok(std) => RemQiResult { result: HResult::S_OK, std },
            Err(result) => RemQiResult { result, std: StdObjref::default() },
        };
        let results = found.ok_or(HResult::RPC_E_INVALID_OBJECT)?.into_iter().map(result).collect();
        Ok(RemQueryInterfaceReply { results: Some(Box::new(Conformant(results))), status: HResult::S_OK })
    }

    fn rem_add_ref(&mut self, request: &RemAddRefRequest) -> ServerResult<RemAddRefReply, HResult> {
        let now = self.now();
        let add = |one| self.objects().add_references(one, now);
        let results = request.refs.0.iter().map(add).collect();
        Ok(RemAddRefReply { results: Conformant(results), status: HResult::S_OK })
    }

    fn rem_release(&mut self, request: &RemReleaseRequest) -> ServerResult<RemReleaseReply, HResult> {
        let now = self.now();
        request.refs.0.iter().for_each(|one| self.objects().release(one, now));
        Ok(RemReleaseReply { status: HResult::S_OK })
    }
}

impl IRemUnknown2Server for Calls {
    fn rem_query_interface2(
        &mut self,
        request: &RemQueryInterface2Request,
    ) -> ServerResult<RemQueryInterface2Reply<'static>, HResult> {
        let found = self.objects().query(request.ipid, &request.iids.0, REFERENCES, self.now());
        let found = found.ok_or(HResult::RPC_E_INVALID_OBJECT)?;
        let status = |found: &Result<StdObjref, HResult>| found.as_ref().err().copied();
        let results = found.iter().map(|found| status(found).unwrap_or(HResult::S_OK)).collect();
        let resolver = resolver_bindings(&self.host);
        let pointer = |(iid, found): (_, Result<StdObjref, HResult>)| {
            let objref = Objref::standard(iid, found.ok()?, resolver.clone());
            objref.to_pointer().ok().map(Box::new)
        };
        let pointers = request.iids.0.iter().copied().zip(found).map(pointer).collect();
        Ok(RemQueryInterface2Reply {
            results: Conformant(results),
            pointers: Conformant(pointers),
            status: HResult::S_OK,
        })
    }
}

impl IRemUnknownServer for Refusing {}

impl IRemUnknown2Server for Refusing {}
