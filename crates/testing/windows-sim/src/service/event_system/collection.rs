//! Collections of stored subscriptions, and positions in them.

use std::sync::Arc;

use com::comev::{
    CloneEnumeratorReply, CloneEnumeratorRequest, GetCountReply, GetCountRequest, GetItemReply,
    GetItemRequest, GetNewEnumReply, GetNewEnumRequest, GetNewEnumVariantReply, GetNewEnumVariantRequest,
    IEnumEventObject, IEnumEventObjectServer, IEventObjectCollection, IEventObjectCollectionServer,
    IEventSubscription, NextItemsReply, NextItemsRequest, ResetItemsReply, ResetItemsRequest, SkipItemsReply,
    SkipItemsRequest, ids,
};
use com::dcom::wire::Objref;
use com::oaut::{IDispatchServer, Value, Variant};
use dcerpc::FaultStatus;
use rpc::ndr::{ConformantVarying, InterfacePointer};
use rpc::orpc::{IUnknownServer, ObjectInterface};
use rpc::{Interface, ServerResult};
use wire::{FileTime, Guid, HResult};

use super::subscription::SubscriptionObject;
use crate::events::{Column, Run, Subscription};
use crate::host_state::HostState;
use crate::service::Call;
use crate::service::objects::{ComClass, ComInterface, ComObject, Program, Refusing};
use crate::service::resolver_bindings;

/// The class of collections, which is made up: nobody activates one.
const COLLECTION: Guid = Guid::from_u128(0xc0_11ec_7104);
/// The class of enumerators, which is made up as well.
const ENUMERATOR: Guid = Guid::from_u128(0xe0_44e6_a704);

/// Items that one call returns.
const ITEMS_MAX: usize = 1024;

/// The class of collections.
pub(super) struct EventCollection;

/// The class of enumerators.
pub(super) struct EventEnumerator;

impl ComClass for EventCollection {
    fn clsid(&self) -> Guid {
        COLLECTION
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[ComInterface {
            name: "event-collection",
            syntax_id: IEventObjectCollection::SYNTAX_ID,
            refuse: IEventObjectCollection::dispatch,
        }];
        INTERFACES
    }

    fn create(&self, _: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Err(HResult::REGDB_E_CLASSNOTREG)
    }
}

impl ComClass for EventEnumerator {
    fn clsid(&self) -> Guid {
        ENUMERATOR
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[ComInterface {
            name: "event-enumerator",
            syntax_id: IEnumEventObject::SYNTAX_ID,
            refuse: IEnumEventObject::dispatch,
        }];
        INTERFACES
    }

    fn create(&self, _: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Err(HResult::REGDB_E_CLASSNOTREG)
    }
}

/// Copies of subscriptions, as they were when they were queried.
#[derive(Clone)]
pub(super) struct Collection {
    host: Arc<HostState>,
    run: Run,
    subscriptions: Arc<[Subscription]>,
}

impl Collection {
    pub(super) fn new(host: &Arc<HostState>, subscriptions: Vec<Subscription>) -> Self {
        Self { host: Arc::clone(host), run: host.events().run(), subscriptions: subscriptions.into() }
    }

    /// The collection as an object.
    pub(super) fn adopted(
        self,
        program: &dyn Program,
        now: FileTime,
    ) -> Result<InterfacePointer<'static>, HResult> {
        let host = Arc::clone(&self.host);
        let object = Box::new(CollectionObject(self));
        pointer(&host, program, COLLECTION, object, IEventObjectCollection::IID, now)
    }

    fn is_gone(&self) -> bool {
        self.run != self.host.events().run()
    }
}

/// A reference to an object that a call has made.
fn pointer(
    host: &HostState,
    program: &dyn Program,
    clsid: Guid,
    object: Box<dyn ComObject>,
    iid: Guid,
    now: FileTime,
) -> Result<InterfacePointer<'static>, HResult> {
    let std = program.adopt(clsid, object, iid, now)?;
    let objref = Objref::standard(iid, std, resolver_bindings(host));
    objref.to_pointer().map_err(|_| HResult::E_OUTOFMEMORY)
}

struct CollectionObject(Collection);

struct EnumeratorObject {
    collection: Collection,
    next: usize,
}

/// One call of one of the two.
struct Calls<'a, T> {
    object: T,
    program: &'a dyn Program,
    now: FileTime,
}

impl ComObject for CollectionObject {
    fn call(&mut self, _: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        if self.0.is_gone() {
            return Err(FaultStatus::RPC_E_DISCONNECTED);
        }
        let mut calls = Calls { object: &self.0, program, now: call.host.source().moment().time };
        IEventObjectCollection::dispatch(&mut calls, &call.info(), call.opnum, call.stub)
    }
}

impl ComObject for EnumeratorObject {
    fn call(&mut self, _: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        if self.collection.is_gone() {
            return Err(FaultStatus::RPC_E_DISCONNECTED);
        }
        let mut calls = Calls { object: self, program, now: call.host.source().moment().time };
        IEnumEventObject::dispatch(&mut calls, &call.info(), call.opnum, call.stub)
    }
}

impl Calls<'_, &Collection> {
    fn enumerator(&self) -> Result<Box<InterfacePointer<'static>>, HResult> {
        enumerator(self.object.clone(), 0, self.program, self.now)
    }
}

fn enumerator(
    collection: Collection,
    next: usize,
    program: &dyn Program,
    now: FileTime,
) -> Result<Box<InterfacePointer<'static>>, HResult> {
    let host = Arc::clone(&collection.host);
    let object = Box::new(EnumeratorObject { collection, next });
    pointer(&host, program, ENUMERATOR, object, IEnumEventObject::IID, now).map(Box::new)
}

fn item(
    collection: &Collection,
    subscription: &Subscription,
    program: &dyn Program,
    now: FileTime,
) -> Result<Box<InterfacePointer<'static>>, HResult> {
    let object = Box::new(SubscriptionObject::new(&collection.host, subscription.clone()));
    let class = ids::EVENT_SUBSCRIPTION_CLASS;
    pointer(&collection.host, program, class, object, IEventSubscription::IID, now).map(Box::new)
}

impl<T> IUnknownServer for Calls<'_, T> {}
impl<T> IDispatchServer for Calls<'_, T> {}

impl IEventObjectCollectionServer for Calls<'_, &Collection> {
    fn get_new_enum_variant(
        &mut self,
        _: &GetNewEnumVariantRequest,
    ) -> ServerResult<GetNewEnumVariantReply<'static>, HResult> {
        Ok(GetNewEnumVariantReply { enumerator: Some(self.enumerator()?), status: HResult::S_OK })
    }

    /// [MS-COMEV] 2.2.7: version 2 names a subscription by its id, its partition and its application.
    fn get_item(&mut self, request: &GetItemRequest) -> ServerResult<GetItemReply<'static>, HResult> {
        let id = request.id.text().ok().flatten().ok_or(HResult::E_INVALIDARG)?;
        let id = id.get(..38).unwrap_or(&id);
        let is_meant = |one: &&Subscription| {
            one.text(Column::SubscriptionId).is_some_and(|own| own.eq_ignore_ascii_case(id))
        };
        let found = self.object.subscriptions.iter().find(is_meant).ok_or(HResult::E_INVALIDARG)?;
        let pointer = item(self.object, found, self.program, self.now)?;
        let variant = Variant::new(Value::Unknown(Some(pointer))).map_err(|_| HResult::E_OUTOFMEMORY)?;
        Ok(GetItemReply { item: Some(Box::new(variant)), status: HResult::S_OK })
    }

    fn get_new_enum(&mut self, _: &GetNewEnumRequest) -> ServerResult<GetNewEnumReply<'static>, HResult> {
        Ok(GetNewEnumReply { enumerator: Some(self.enumerator()?), status: HResult::S_OK })
    }

    fn get_count(&mut self, _: &GetCountRequest) -> ServerResult<GetCountReply, HResult> {
        let count = i32::try_from(self.object.subscriptions.len()).unwrap_or(i32::MAX);
        Ok(GetCountReply { count, status: HResult::S_OK })
    }
}

impl IEnumEventObjectServer for Calls<'_, &mut EnumeratorObject> {
    fn clone_enumerator(
        &mut self,
        _: &CloneEnumeratorRequest,
    ) -> ServerResult<CloneEnumeratorReply<'static>, HResult> {
        let EnumeratorObject { collection, next } = &*self.object;
        let enumerator = enumerator(collection.clone(), *next, self.program, self.now)?;
        Ok(CloneEnumeratorReply { enumerator: Some(enumerator), status: HResult::S_OK })
    }

    fn next_items(&mut self, request: &NextItemsRequest) -> ServerResult<NextItemsReply<'static>, HResult> {
        let requested = usize::try_from(request.requested).unwrap_or(ITEMS_MAX);
        let EnumeratorObject { collection, next } = &mut *self.object;
        let rest = collection.subscriptions.get(*next..).unwrap_or_default();
        let taken = &rest[..rest.len().min(requested).min(ITEMS_MAX)];
        let items: Result<Vec<_>, HResult> =
            taken.iter().map(|one| item(collection, one, self.program, self.now).map(Some)).collect();
        let elements = items?;
        *next += taken.len();
        let count = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        let status = if taken.len() < requested { HResult::S_FALSE } else { HResult::S_OK };
        let items = ConformantVarying { max_count: request.requested, elements };
        Ok(NextItemsReply { items, count, status })
    }

    fn reset_items(&mut self, _: &ResetItemsRequest) -> ServerResult<ResetItemsReply, HResult> {
        self.object.next = 0;
        Ok(ResetItemsReply { status: HResult::S_OK })
    }

    fn skip_items(&mut self, request: &SkipItemsRequest) -> ServerResult<SkipItemsReply, HResult> {
        let end = self.object.collection.subscriptions.len();
        let skipped = self.object.next.saturating_add(usize::try_from(request.count).unwrap_or(end));
        self.object.next = skipped.min(end);
        let status = if skipped > end { HResult::S_FALSE } else { HResult::S_OK };
        Ok(SkipItemsReply { status })
    }
}

impl IEventObjectCollectionServer for Refusing {}
impl IEnumEventObjectServer for Refusing {}
