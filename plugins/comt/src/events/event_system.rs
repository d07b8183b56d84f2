//! A host's COM+ event system [MS-COMEV]: the calls that a subscription takes, and what their failures mean.

use com::comev::subscription::{
    PutEnabledRequest, PutEventClassIdRequest, PutInterfaceIdRequest, PutPerUserRequest,
    PutSubscriberInterfaceRequest, PutSubscriptionIdRequest, PutSubscriptionNameRequest,
};
use com::comev::{
    GetCountRequest, IEventObjectCollection, IEventSubscription, IEventSystem, IEventSystem2, QuerySRequest,
    RemoveSRequest, StoreRequest, VerifyTransientSubscribersRequest, ids, prog_id, query,
};
use com::comt::IComTrackingInfoEvents;
use com::dcom::wire::Objref;
use com::oaut::Bstr;
use dcom::callbacks::Subscriber;
use dcom::client::Object;
use host_session::{Reason, SessionError, Stage};
use plugin_session::{Explanation, ObjectService, ObjectStep};
use rpc::orpc::ObjectInterface as _;
use tokio::time::Instant;
use wire::{Guid, HResult};

use crate::reasons::{
    EVENT_SYSTEM_DENIED, EVENT_SYSTEM_NOT_REGISTERED, EVENT_SYSTEM_PORT_BLOCKED, REASONS, declared, of_object,
};
use crate::tracker::{NAMES, TRACKER};

/// The store of subscriptions.
pub(crate) const EVENT_SYSTEM: ObjectService = ObjectService {
    class: ids::EVENT_SYSTEM_CLASS,
    interfaces: &[IEventSystem::IID],
    names: NAMES,
    reasons: &REASONS,
    explain,
};

/// A subscription before it is stored.
pub(crate) const SUBSCRIPTION: ObjectService = ObjectService {
    class: ids::EVENT_SUBSCRIPTION_CLASS,
    interfaces: &[IEventSubscription::IID],
    ..EVENT_SYSTEM
};

/// What people read in the host's store.
const NAME: &str = "perfmon-exporter";

fn explain(error: &SessionError, step: ObjectStep) -> Option<Explanation> {
    match (step, error.stage) {
        (ObjectStep::Connect | ObjectStep::LogOn, _) => (TRACKER.explain)(error, step),
        (ObjectStep::Activate, Stage::Dns | Stage::Tcp) => declared(EVENT_SYSTEM_PORT_BLOCKED),
        (ObjectStep::Activate | ObjectStep::Call, _) => {
            of_object(error, EVENT_SYSTEM_DENIED, EVENT_SYSTEM_NOT_REGISTERED).and_then(declared)
        }
    }
}

/// Gives a subscription that the host made its properties.
///
/// # Errors
/// Of the calls of `subscription`.
pub(crate) async fn fill(
    subscription: &mut Object,
    id: Guid,
    subscriber: &Subscriber,
    deadline: Instant,
) -> Result<(), SessionError> {
    let reference = subscriber.objref().to_pointer();
    let reference = reference.map_err(|error| internal(subscription, &error.to_string()))?;
    let [class, interface] = [com::comt::ids::EVENT_CLASS, IComTrackingInfoEvents::IID].map(braces);
    let mut proxy = subscription.proxy::<IEventSubscription>(deadline).await?;
    let filled = async {
        proxy.call(&PutSubscriptionIdRequest { value: braces(id) }).await?;
        proxy.call(&PutSubscriptionNameRequest { value: text(NAME) }).await?;
        proxy.call(&PutEventClassIdRequest { value: class }).await?;
        proxy.call(&PutInterfaceIdRequest { value: interface }).await?;
        proxy.call(&PutPerUserRequest { value: 0 }).await?;
        proxy.call(&PutEnabledRequest { value: 1 }).await?;
        let value = Some(Box::new(reference));
        proxy.call(&PutSubscriberInterfaceRequest { value }).await.map(drop)
    };
    let filled: Result<(), CallError> = filled.await;
    filled.map_err(|error| subscription.error_of(&error))
}

type CallError = rpc::Error<host_session::rpc_client::Error, HResult>;

/// Stores a subscription that was filled.
///
/// # Errors
/// Of the call of `system`.
pub(crate) async fn store(
    system: &mut Object,
    subscription: &mut Object,
    deadline: Instant,
) -> Result<(), SessionError> {
    let reference = subscription.objref::<IEventSubscription>(deadline).await?;
    let pointer = reference.to_pointer().map_err(|error| internal(subscription, &error.to_string()))?;
    let request =
        StoreRequest { prog_id: text(prog_id::EVENT_SUBSCRIPTION), object: Some(Box::new(pointer)) };
    let mut proxy = system.proxy::<IEventSystem>(deadline).await?;
    let stored = proxy.call(&request).await.map(drop);
    stored.map_err(|error| system.error_of(&error))
}

/// Removes the subscription with this id. Returns whether there was one: the host has one answer for none and for other
/// failures ([MS-COMEV] 3.1.4.1.3).
///
/// # Errors
/// If the host does not answer.
pub(crate) async fn remove(system: &mut Object, id: Guid, deadline: Instant) -> Result<bool, SessionError> {
    let mut proxy = system.proxy::<IEventSystem>(deadline).await?;
    match proxy.call(&RemoveSRequest { prog_id: subscriptions(), criteria: by(id) }).await {
        Ok(_) => Ok(true),
        Err(CallError::Status { .. }) => Ok(false),
        Err(error) => Err(system.error_of(&error)),
    }
}

/// Whether the store has the subscription with this id.
///
/// # Errors
/// Of the calls of `system`.
pub(crate) async fn is_stored(
    system: &mut Object,
    id: Guid,
    deadline: Instant,
) -> Result<bool, SessionError> {
    let request = QuerySRequest { prog_id: subscriptions(), criteria: by(id) };
    let mut proxy = system.proxy::<IEventSystem>(deadline).await?;
    let found = match proxy.stub(&request).await {
        Ok(stub) => proxy.decode(&request, &stub).map(|(_, reply)| {
            let pointer = reply.collection.as_ref().filter(|_| reply.status.is_success());
            let objref = pointer.map(|pointer| Objref::from_pointer(pointer).map(Objref::into_owned));
            (reply.status, objref)
        }),
        Err(error) => Err(error),
    };
    let (status, objref) = found.map_err(|error| system.error_of(&error))?;
    let objref = match objref {
        Some(Ok(objref)) => objref,
        Some(Err(error)) => return Err(malformed(system, &error.to_string())),
        None if status.is_success() => return Ok(false),
        None => {
            let error: Box<dyn core::error::Error> = format!("query the subscriptions: {status}").into();
            return Err(SessionError::of_hresult(system.program().target(), status, &*error));
        }
    };
    let collection = system.take_returned::<IEventObjectCollection>(&objref, deadline).await?;
    let mut proxy = system.proxy_of(&collection, deadline).await?;
    let counted = proxy.call(&GetCountRequest {}).await;
    let counted = counted.map(|reply| reply.count > 0).map_err(|error| system.error_of(&error));
    system.release_returned(collection, deadline).await?;
    counted
}

/// Has the host call all transient subscribers, and forget those that do not answer. Returns whether it did: the first
/// version of the event system cannot.
///
/// # Errors
/// If the host does not answer.
pub(crate) async fn verify(system: &mut Object, deadline: Instant) -> Result<bool, SessionError> {
    let mut proxy = match system.proxy::<IEventSystem2>(deadline).await {
        Ok(proxy) => proxy,
        Err(error) if error.recovery == host_session::Recovery::Nothing => return Ok(false),
        Err(error) => return Err(error),
    };
    match proxy.call(&VerifyTransientSubscribersRequest {}).await {
        Ok(_) => Ok(true),
        Err(CallError::Status { .. }) => Ok(false),
        Err(error) => Err(system.error_of(&error)),
    }
}

fn subscriptions() -> Bstr {
    text(prog_id::EVENT_SUBSCRIPTION_COLLECTION)
}

fn by(id: Guid) -> Bstr {
    text(&query::by_subscription_id(id))
}

fn braces(guid: Guid) -> Bstr {
    text(&format!("{{{guid}}}").to_uppercase())
}

fn text(text: &str) -> Bstr {
    Bstr::new(text).unwrap_or_else(|_too_long| Bstr::null())
}

fn internal(object: &Object, sentence: &str) -> SessionError {
    answer(object, Stage::Query, Reason::Internal, sentence)
}

fn malformed(object: &Object, sentence: &str) -> SessionError {
    answer(object, Stage::Decode, Reason::MalformedReply, sentence)
}

fn answer(object: &Object, stage: Stage, reason: Reason, sentence: &str) -> SessionError {
    let error: Box<dyn core::error::Error> = sentence.into();
    SessionError::of_answer(object.program().target(), stage, reason, &*error)
}
