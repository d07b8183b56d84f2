use std::any::Any;
use std::sync::Arc;

use com::comev::{
    GetVersionReply, GetVersionRequest, IEventSystem, IEventSystem2, IEventSystem2Server, IEventSystemServer,
    QueryReply, QueryRequest, QuerySReply, QuerySRequest, RemoveReply, RemoveRequest, RemoveSReply,
    RemoveSRequest, StoreReply, StoreRequest, VERSION_WITH_PARTITIONS, VerifyTransientSubscribersReply,
    VerifyTransientSubscribersRequest, ids, prog_id, status,
};
use com::dcom::wire::Objref;
use com::oaut::{Bstr, IDispatchServer};
use dcerpc::FaultStatus;
use rpc::ndr::InterfacePointer;
use rpc::orpc::{IUnknownServer, ObjectInterface};
use rpc::{Interface, ServerResult};
use wire::{FileTime, Guid, HResult};

use super::collection::Collection;
use super::subscription::SubscriptionObject;
use crate::events::{Criteria, CriteriaError, Run, Subscription};
use crate::host_state::HostState;
use crate::service::Call;
use crate::service::objects::{ComClass, ComInterface, ComObject, Program, Refusing};

/// The name of the event system in rules, counts and recordings.
pub const NAME: &str = "event-system";

/// The class of the event system.
pub(super) struct EventSystem;

impl ComClass for EventSystem {
    fn clsid(&self) -> Guid {
        ids::EVENT_SYSTEM_CLASS
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[
            ComInterface { name: NAME, syntax_id: IEventSystem::SYNTAX_ID, refuse: IEventSystem::dispatch },
            ComInterface {
                name: "event-system2",
                syntax_id: IEventSystem2::SYNTAX_ID,
                refuse: IEventSystem2::dispatch,
            },
        ];
        INTERFACES
    }

    fn annotation(&self) -> Option<&'static str> {
        Some("COM+ Event System")
    }

    fn create(&self, host: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Ok(Box::new(SystemObject { host: Arc::clone(host), run: host.events().run() }))
    }
}

/// It has no state but that of the host.
struct SystemObject {
    host: Arc<HostState>,
    run: Run,
}

impl ComObject for SystemObject {
    fn call(&mut self, iid: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        if self.run != self.host.events().run() {
            return Err(FaultStatus::RPC_E_DISCONNECTED);
        }
        let now = call.host.source().moment().time;
        let mut calls = Calls { host: &self.host, program, now };
        match iid {
            IEventSystem::IID => IEventSystem::dispatch(&mut calls, &call.info(), call.opnum, call.stub),
            _ => IEventSystem2::dispatch(&mut calls, &call.info(), call.opnum, call.stub),
        }
    }
}

struct Calls<'a> {
    host: &'a Arc<HostState>,
    program: &'a dyn Program,
    now: FileTime,
}

/// Why criteria select nothing, and at which character.
type Refused = (HResult, i32);

impl Calls<'_> {
    /// The subscriptions that are meant; event classes are not simulated.
    fn criteria(prog_id: &Bstr, criteria: &Bstr) -> Result<Criteria, Refused> {
        if text(prog_id).map_err(at_begin)? != prog_id::EVENT_SUBSCRIPTION_COLLECTION {
            return Err((HResult::E_INVALIDARG, 0));
        }
        Criteria::parse(&text(criteria).map_err(at_begin)?).map_err(|error| {
            let (status, at) = match error {
                CriteriaError::Syntax(at) => (status::EVENT_E_QUERYSYNTAX, at),
                CriteriaError::Field(at) => (status::EVENT_E_QUERYFIELD, at),
            };
            (status, i32::try_from(at).unwrap_or(i32::MAX))
        })
    }

    fn collect(&self, prog_id: &Bstr, criteria: &Bstr) -> Result<InterfacePointer<'static>, Refused> {
        let found = self.host.events().query(&Self::criteria(prog_id, criteria)?);
        Collection::new(self.host, found).adopted(self.program, self.now).map_err(at_begin)
    }

    fn remove_found(&self, prog_id: &Bstr, criteria: &Bstr) -> Result<(), Refused> {
        match self.host.events().remove(&Self::criteria(prog_id, criteria)?) {
            0 => Err((HResult::E_FAIL, 0)),
            _ => Ok(()),
        }
    }

    /// A copy of the subscription that a reference of the caller is to.
    fn subscription(&self, pointer: Option<&InterfacePointer<'_>>) -> Result<Subscription, HResult> {
        let objref = Objref::from_pointer(pointer.ok_or(HResult::E_POINTER)?);
        let objref = objref.map_err(|_| HResult::RPC_E_INVALID_OBJREF)?;
        let std = objref.std().ok_or(HResult::E_INVALIDARG)?;
        let object = self.program.object(std.ipid, self.now).ok_or(HResult::E_INVALIDARG)?;
        // The caller may name the event system itself, which is locked.
        let locked = object.try_lock().ok_or(HResult::E_INVALIDARG)?;
        let any: &dyn Any = &**locked;
        let subscription = any.downcast_ref::<SubscriptionObject>().ok_or(HResult::E_INVALIDARG)?;
        let subscription = subscription.subscription().clone();
        drop(locked);
        self.program.release(std, self.now);
        Ok(subscription)
    }
}

fn at_begin(status: HResult) -> Refused {
    (status, 0)
}

fn text(bstr: &Bstr) -> Result<String, HResult> {
    bstr.text().map(Option::unwrap_or_default).map_err(|_| HResult::E_INVALIDARG)
}

impl IUnknownServer for Calls<'_> {}
impl IDispatchServer for Calls<'_> {}

impl IEventSystemServer for Calls<'_> {
    fn query(&mut self, request: &QueryRequest) -> ServerResult<QueryReply<'static>, HResult> {
        let (error_index, collection, status) = match self.collect(&request.prog_id, &request.criteria) {
            Ok(pointer) => (0, Some(Box::new(pointer)), HResult::S_OK),
            Err((status, at)) => (at, None, status),
        };
        Ok(QueryReply { error_index, collection, status })
    }

    fn store(&mut self, request: &StoreRequest<'_>) -> ServerResult<StoreReply, HResult> {
        if text(&request.prog_id)? != prog_id::EVENT_SUBSCRIPTION {
            return Err(HResult::E_INVALIDARG.into());
        }
        let subscription = self.subscription(request.object.as_deref())?;
        if !subscription.is_complete() {
            return Err(HResult::E_INVALIDARG.into());
        }
        self.host.events().store(subscription).ok_or(HResult::E_OUTOFMEMORY)?;
        Ok(StoreReply { status: HResult::S_OK })
    }

    fn remove(&mut self, request: &RemoveRequest) -> ServerResult<RemoveReply, HResult> {
        let removed = self.remove_found(&request.prog_id, &request.criteria);
        let (status, error_index) = removed.err().unwrap_or((HResult::S_OK, 0));
        Ok(RemoveReply { error_index, status })
    }

    fn query_s(&mut self, request: &QuerySRequest) -> ServerResult<QuerySReply<'static>, HResult> {
        let pointer = self.collect(&request.prog_id, &request.criteria).map_err(|(status, _)| status)?;
        Ok(QuerySReply { collection: Some(Box::new(pointer)), status: HResult::S_OK })
    }

    fn remove_s(&mut self, request: &RemoveSRequest) -> ServerResult<RemoveSReply, HResult> {
        self.remove_found(&request.prog_id, &request.criteria).map_err(|(status, _)| status)?;
        Ok(RemoveSReply { status: HResult::S_OK })
    }
}

impl IEventSystem2Server for Calls<'_> {
    fn get_version(&mut self, _: &GetVersionRequest) -> ServerResult<GetVersionReply, HResult> {
        Ok(GetVersionReply { version: VERSION_WITH_PARTITIONS, status: HResult::S_OK })
    }

    /// Subscribers that did not answer the last event are gone; nobody is called now.
    fn verify_transient_subscribers(
        &mut self,
        _: &VerifyTransientSubscribersRequest,
    ) -> ServerResult<VerifyTransientSubscribersReply, HResult> {
        self.host.events().remove_unreachable();
        Ok(VerifyTransientSubscribersReply { status: HResult::S_OK })
    }
}

impl IEventSystemServer for Refusing {}
impl IEventSystem2Server for Refusing {}
impl IDispatchServer for Refusing {}
