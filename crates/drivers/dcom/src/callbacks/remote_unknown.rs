//! `IRemUnknown` and `IRemUnknown2` [MS-DCOM] 3.1.1.5.6: interfaces of an object, and references to it.
//!
//! References are not counted: an object lives as long as the program wants its calls.

use std::sync::Arc;

use crate::rpc_server::{Call, Interface as ServedInterface};
use com::dcom::remote_unknown::{
    IRemUnknown, IRemUnknown2, IRemUnknown2Server, IRemUnknownServer, RemAddRefReply, RemAddRefRequest,
    RemQueryInterface2Reply, RemQueryInterface2Request, RemQueryInterfaceReply, RemQueryInterfaceRequest,
    RemReleaseReply, RemReleaseRequest,
};
use com::dcom::types::{ReferenceFlags, RemInterfaceRef, RemQiResult, StdObjref};
use dcerpc::{FaultStatus, SyntaxId};
use rpc::ndr::Conformant;
use rpc::orpc::IUnknownServer;
use rpc::{CallInfo, Interface, ServerResult};
use wire::{Guid, HResult};

use crate::callbacks::table::{Entry, Role, Table};

/// Interfaces that one call may ask for.
const INTERFACES_MAX: usize = 64;

/// One of the two interfaces.
pub(crate) struct RemUnknown {
    syntax_id: SyntaxId,
    dispatch: Dispatch,
    table: Arc<Table>,
}

type Dispatch = fn(&mut Calls<'_>, &CallInfo, u16, &[u8]) -> Result<Vec<u8>, FaultStatus>;

impl RemUnknown {
    pub(crate) fn first(table: Arc<Table>) -> Self {
        let dispatch: Dispatch = |calls, info, opnum, stub| IRemUnknown::dispatch(calls, info, opnum, stub);
        Self { syntax_id: IRemUnknown::SYNTAX_ID, dispatch, table }
    }

    pub(crate) fn second(table: Arc<Table>) -> Self {
        let dispatch: Dispatch = |calls, info, opnum, stub| IRemUnknown2::dispatch(calls, info, opnum, stub);
        Self { syntax_id: IRemUnknown2::SYNTAX_ID, dispatch, table }
    }
}

impl ServedInterface for RemUnknown {
    fn syntax_id(&self) -> SyntaxId {
        self.syntax_id
    }

    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let found = self.table.interface(call.info.object.unwrap_or_default());
        let found =
            found.filter(|(entry, role)| *role == Role::RemUnknown && entry.is_called_from(call.peer));
        let (entry, _) = found.ok_or(FaultStatus::RPC_E_DISCONNECTED)?;
        let mut calls = Calls { table: &self.table, entry: &entry };
        (self.dispatch)(&mut calls, &call.info, call.opnum, call.stub)
    }
}

/// A call of the program that has one object.
struct Calls<'a> {
    table: &'a Table,
    entry: &'a Entry,
}

impl Calls<'_> {
    /// Whether this names an interface of the program's object.
    fn has(&self, ipid: Guid) -> bool {
        self.table
            .interface(ipid)
            .is_some_and(|(entry, role)| entry.oxid == self.entry.oxid && role != Role::RemUnknown)
    }

    fn query(
        &self,
        ipid: Guid,
        iids: &[Guid],
        references: u32,
    ) -> Result<Vec<Result<StdObjref, HResult>>, HResult> {
        if !self.has(ipid) {
            return Err(HResult::RPC_E_INVALID_OBJECT);
        }
        if iids.len() > INTERFACES_MAX {
            return Err(HResult::E_INVALIDARG);
        }
        let reference = |&iid| self.entry.reference(iid, references).ok_or(HResult::E_NOINTERFACE);
        Ok(iids.iter().map(reference).collect())
    }

    /// Private references need a caller who proves who it is.
    fn add_references(&self, added: &RemInterfaceRef) -> HResult {
        match added {
            _ if !self.has(added.ipid) => HResult::CO_E_OBJNOTREG,
            RemInterfaceRef { private_refs: 0, .. } => HResult::S_OK,
            _ => HResult::E_ACCESSDENIED,
        }
    }
}

impl IUnknownServer for Calls<'_> {}

impl IRemUnknownServer for Calls<'_> {
    fn rem_query_interface(
        &mut self,
        request: &RemQueryInterfaceRequest,
    ) -> ServerResult<RemQueryInterfaceReply, HResult> {
        let found = self.query(request.ipid, &request.iids.0, request.refs)?;
        let result = |found| match found {
            Ok(std) => RemQiResult { result: HResult::S_OK, std },
            Err(result) => RemQiResult { result, std: StdObjref::default() },
        };
        let results = Conformant(found.into_iter().map(result).collect());
        Ok(RemQueryInterfaceReply { results: Some(Box::new(results)), status: HResult::S_OK })
    }

    fn rem_add_ref(&mut self, request: &RemAddRefRequest) -> ServerResult<RemAddRefReply, HResult> {
        let results = request.refs.0.iter().map(|added| self.add_references(added)).collect();
        Ok(RemAddRefReply { results: Conformant(results), status: HResult::S_OK })
    }

    fn rem_release(&mut self, _: &RemReleaseRequest) -> ServerResult<RemReleaseReply, HResult> {
        Ok(RemReleaseReply { status: HResult::S_OK })
    }
}

impl IRemUnknown2Server for Calls<'_> {
    fn rem_query_interface2(
        &mut self,
        request: &RemQueryInterface2Request,
    ) -> ServerResult<RemQueryInterface2Reply<'static>, HResult> {
        let found = self.query(request.ipid, &request.iids.0, 0)?;
        let status = |found: &Result<StdObjref, HResult>| found.as_ref().err().copied();
        let results = found.iter().map(|found| status(found).unwrap_or(HResult::S_OK)).collect();
        let pointer = |&iid| self.entry.objref(iid, ReferenceFlags::NONE)?.to_pointer().ok().map(Box::new);
        let pointers = request.iids.0.iter().map(pointer).collect();
        Ok(RemQueryInterface2Reply {
            results: Conformant(results),
            pointers: Conformant(pointers),
            status: HResult::S_OK,
        })
    }
}
