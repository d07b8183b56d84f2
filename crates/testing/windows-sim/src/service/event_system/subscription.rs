//! Subscriptions as objects. One that is not stored yet, and a copy of one that is, are the same.

use std::borrow::Cow;
use std::sync::Arc;

use com::comev::subscription::*;
use com::comev::{
    IEventSubscription, IEventSubscription2, IEventSubscription2Server, IEventSubscription3,
    IEventSubscription3Server, IEventSubscriptionServer, ids,
};
use com::dcom::wire::Objref;
use com::oaut::{Bstr, IDispatchServer};
use dcerpc::FaultStatus;
use rpc::ndr::InterfacePointer;
use rpc::orpc::{IUnknownServer, ObjectInterface};
use rpc::{Interface, ServerResult};
use wire::{Guid, HResult};

use crate::events::{Column, Run, Subscription};
use crate::host_state::HostState;
use crate::service::Call;
use crate::service::objects::{ComClass, ComInterface, ComObject, Program, Refusing};

/// The class of subscriptions.
pub(super) struct EventSubscription;

impl ComClass for EventSubscription {
    fn clsid(&self) -> Guid {
        ids::EVENT_SUBSCRIPTION_CLASS
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[
            ComInterface {
                name: "event-subscription",
                syntax_id: IEventSubscription::SYNTAX_ID,
                refuse: IEventSubscription::dispatch,
            },
            ComInterface {
                name: "event-subscription2",
                syntax_id: IEventSubscription2::SYNTAX_ID,
                refuse: IEventSubscription2::dispatch,
            },
            ComInterface {
                name: "event-subscription3",
                syntax_id: IEventSubscription3::SYNTAX_ID,
                refuse: IEventSubscription3::dispatch,
            },
        ];
        INTERFACES
    }

    fn create(&self, host: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Ok(Box::new(SubscriptionObject::new(host, Subscription::default())))
    }
}

/// A subscription that a client holds.
pub(super) struct SubscriptionObject {
    host: Arc<HostState>,
    run: Run,
    subscription: Subscription,
}

impl SubscriptionObject {
    pub(super) fn new(host: &Arc<HostState>, subscription: Subscription) -> Self {
        Self { host: Arc::clone(host), run: host.events().run(), subscription }
    }

    pub(super) const fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    /// [MS-COMEV] 3.1.4.4.1: a property that was not set cannot be read.
    fn text(&self, column: Column) -> Result<Bstr, HResult> {
        let text = self.subscription.text(column).ok_or(HResult::E_FAIL)?;
        Bstr::new(text).map_err(|_| HResult::E_OUTOFMEMORY)
    }

    fn set_text(&mut self, column: Column, value: &Bstr) -> Result<HResult, HResult> {
        let text = value.text().map_err(|_| HResult::E_INVALIDARG)?.unwrap_or_default();
        let is_set = self.subscription.set_text(column, text);
        is_set.then_some(HResult::S_OK).ok_or(HResult::E_INVALIDARG)
    }
}

impl ComObject for SubscriptionObject {
    fn call(&mut self, iid: Guid, call: &Call<'_>, _: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        if self.run != self.host.events().run() {
            return Err(FaultStatus::RPC_E_DISCONNECTED);
        }
        let info = call.info();
        match iid {
            IEventSubscription::IID => IEventSubscription::dispatch(self, &info, call.opnum, call.stub),
            IEventSubscription2::IID => IEventSubscription2::dispatch(self, &info, call.opnum, call.stub),
            _ => IEventSubscription3::dispatch(self, &info, call.opnum, call.stub),
        }
    }
}

impl IUnknownServer for SubscriptionObject {}
impl IDispatchServer for SubscriptionObject {}

/// The two methods of each property that is a text.
macro_rules! texts {
    ($($column:ident: $get:ident($get_request:ident) $get_reply:ident, $put:ident($put_request:ident) $put_reply:ident;)*) => {$(
        fn $get(&mut self, _: &$get_request) -> ServerResult<$get_reply, HResult> {
            Ok($get_reply { value: self.text(Column::$column)?, status: HResult::S_OK })
        }

        fn $put(&mut self, request: &$put_request) -> ServerResult<$put_reply, HResult> {
            Ok($put_reply { status: self.set_text(Column::$column, &request.value)? })
        }
    )*};
}

#[rustfmt::skip]
impl IEventSubscriptionServer for SubscriptionObject {
    texts! {
        SubscriptionId: get_subscription_id(GetSubscriptionIdRequest) GetSubscriptionIdReply,
            put_subscription_id(PutSubscriptionIdRequest) PutSubscriptionIdReply;
        SubscriptionName: get_subscription_name(GetSubscriptionNameRequest) GetSubscriptionNameReply,
            put_subscription_name(PutSubscriptionNameRequest) PutSubscriptionNameReply;
        PublisherId: get_publisher_id(GetPublisherIdRequest) GetPublisherIdReply,
            put_publisher_id(PutPublisherIdRequest) PutPublisherIdReply;
        EventClassId: get_event_class_id(GetEventClassIdRequest) GetEventClassIdReply,
            put_event_class_id(PutEventClassIdRequest) PutEventClassIdReply;
        MethodName: get_method_name(GetMethodNameRequest) GetMethodNameReply,
            put_method_name(PutMethodNameRequest) PutMethodNameReply;
        SubscriberClsid: get_subscriber_clsid(GetSubscriberClsidRequest) GetSubscriberClsidReply,
            put_subscriber_clsid(PutSubscriberClsidRequest) PutSubscriberClsidReply;
        OwnerSid: get_owner_sid(GetOwnerSidRequest) GetOwnerSidReply,
            put_owner_sid(PutOwnerSidRequest) PutOwnerSidReply;
        Description: get_description(GetDescriptionRequest) GetDescriptionReply,
            put_description(PutDescriptionRequest) PutDescriptionReply;
        MachineName: get_machine_name(GetMachineNameRequest) GetMachineNameReply,
            put_machine_name(PutMachineNameRequest) PutMachineNameReply;
        InterfaceId: get_interface_id(GetInterfaceIdRequest) GetInterfaceIdReply,
            put_interface_id(PutInterfaceIdRequest) PutInterfaceIdReply;
    }

    fn get_subscriber_interface(
        &mut self,
        _: &GetSubscriberInterfaceRequest,
    ) -> ServerResult<GetSubscriberInterfaceReply<'static>, HResult> {
        let bytes = self.subscription.subscriber.clone().ok_or(HResult::E_FAIL)?;
        let size = u32::try_from(bytes.len()).map_err(|_| HResult::E_OUTOFMEMORY)?;
        let value = Some(Box::new(InterfacePointer { size, data: Cow::Owned(bytes) }));
        Ok(GetSubscriberInterfaceReply { value, status: HResult::S_OK })
    }

    /// A reference that cannot be read is refused; whether it leads anywhere is seen with the first event.
    fn put_subscriber_interface(
        &mut self,
        request: &PutSubscriberInterfaceRequest<'_>,
    ) -> ServerResult<PutSubscriberInterfaceReply, HResult> {
        let pointer = request.value.as_deref();
        if let Some(pointer) = pointer {
            Objref::from_pointer(pointer).map_err(|_| HResult::RPC_E_INVALID_OBJREF)?;
        }
        self.subscription.subscriber = pointer.map(|pointer| pointer.data.to_vec());
        Ok(PutSubscriberInterfaceReply { status: HResult::S_OK })
    }

    fn get_per_user(&mut self, _: &GetPerUserRequest) -> ServerResult<GetPerUserReply, HResult> {
        let value = self.subscription.per_user.ok_or(HResult::E_FAIL)?.into();
        Ok(GetPerUserReply { value, status: HResult::S_OK })
    }

    fn put_per_user(&mut self, request: &PutPerUserRequest) -> ServerResult<PutPerUserReply, HResult> {
        self.subscription.per_user = Some(request.value != 0);
        Ok(PutPerUserReply { status: HResult::S_OK })
    }

    fn get_enabled(&mut self, _: &GetEnabledRequest) -> ServerResult<GetEnabledReply, HResult> {
        let value = self.subscription.enabled.ok_or(HResult::E_FAIL)?.into();
        Ok(GetEnabledReply { value, status: HResult::S_OK })
    }

    fn put_enabled(&mut self, request: &PutEnabledRequest) -> ServerResult<PutEnabledReply, HResult> {
        self.subscription.enabled = Some(request.value != 0);
        Ok(PutEnabledReply { status: HResult::S_OK })
    }
}

#[rustfmt::skip]
impl IEventSubscription2Server for SubscriptionObject {
    texts! {
        FilterCriteria: get_filter_criteria(GetFilterCriteriaRequest) GetFilterCriteriaReply,
            put_filter_criteria(PutFilterCriteriaRequest) PutFilterCriteriaReply;
        SubscriberMoniker: get_subscriber_moniker(GetSubscriberMonikerRequest) GetSubscriberMonikerReply,
            put_subscriber_moniker(PutSubscriberMonikerRequest) PutSubscriberMonikerReply;
    }
}

#[rustfmt::skip]
impl IEventSubscription3Server for SubscriptionObject {
    texts! {
        EventClassPartitionId: get_event_class_partition_id(GetEventClassPartitionIdRequest)
            GetEventClassPartitionIdReply, put_event_class_partition_id(PutEventClassPartitionIdRequest)
            PutEventClassPartitionIdReply;
        EventClassApplicationId: get_event_class_application_id(GetEventClassApplicationIdRequest)
            GetEventClassApplicationIdReply, put_event_class_application_id(PutEventClassApplicationIdRequest)
            PutEventClassApplicationIdReply;
        SubscriberPartitionId: get_subscriber_partition_id(GetSubscriberPartitionIdRequest)
            GetSubscriberPartitionIdReply, put_subscriber_partition_id(PutSubscriberPartitionIdRequest)
            PutSubscriberPartitionIdReply;
        SubscriberApplicationId: get_subscriber_application_id(GetSubscriberApplicationIdRequest)
            GetSubscriberApplicationIdReply, put_subscriber_application_id(PutSubscriberApplicationIdRequest)
            PutSubscriberApplicationIdReply;
    }
}

impl IEventSubscriptionServer for Refusing {}
impl IEventSubscription2Server for Refusing {}
impl IEventSubscription3Server for Refusing {}
