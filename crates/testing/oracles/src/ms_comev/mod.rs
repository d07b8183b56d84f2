//! Honest calls of `com::comev`, whose laws are those of interfaces.

use com::comev::subscription::{
    GetDescriptionReply, GetDescriptionRequest, GetEnabledReply, GetEnabledRequest,
    GetEventClassApplicationIdReply, GetEventClassApplicationIdRequest, GetEventClassIdReply,
    GetEventClassIdRequest, GetEventClassPartitionIdReply, GetEventClassPartitionIdRequest,
    GetFilterCriteriaReply, GetFilterCriteriaRequest, GetInterfaceIdReply, GetInterfaceIdRequest,
    GetMachineNameReply, GetMachineNameRequest, GetMethodNameReply, GetMethodNameRequest, GetOwnerSidReply,
    GetOwnerSidRequest, GetPerUserReply, GetPerUserRequest, GetPublisherIdReply, GetPublisherIdRequest,
    GetPublisherPropertyCollectionReply, GetPublisherPropertyCollectionRequest, GetPublisherPropertyReply,
    GetPublisherPropertyRequest, GetSubscriberApplicationIdReply, GetSubscriberApplicationIdRequest,
    GetSubscriberClsidReply, GetSubscriberClsidRequest, GetSubscriberInterfaceReply,
    GetSubscriberInterfaceRequest, GetSubscriberMonikerReply, GetSubscriberMonikerRequest,
    GetSubscriberPartitionIdReply, GetSubscriberPartitionIdRequest, GetSubscriberPropertyCollectionReply,
    GetSubscriberPropertyCollectionRequest, GetSubscriberPropertyReply, GetSubscriberPropertyRequest,
    GetSubscriptionIdReply, GetSubscriptionIdRequest, GetSubscriptionNameReply, GetSubscriptionNameRequest,
    PutDescriptionReply, PutDescriptionRequest, PutEnabledReply, PutEnabledRequest,
    PutEventClassApplicationIdReply, PutEventClassApplicationIdRequest, PutEventClassIdReply,
    PutEventClassIdRequest, PutEventClassPartitionIdReply, PutEventClassPartitionIdRequest,
    PutFilterCriteriaReply, PutFilterCriteriaRequest, PutInterfaceIdReply, PutInterfaceIdRequest,
    PutMachineNameReply, PutMachineNameRequest, PutMethodNameReply, PutMethodNameRequest, PutOwnerSidReply,
    PutOwnerSidRequest, PutPerUserReply, PutPerUserRequest, PutPublisherIdReply, PutPublisherIdRequest,
    PutPublisherPropertyReply, PutPublisherPropertyRequest, PutSubscriberApplicationIdReply,
    PutSubscriberApplicationIdRequest, PutSubscriberClsidReply, PutSubscriberClsidRequest,
    PutSubscriberInterfaceReply, PutSubscriberInterfaceRequest, PutSubscriberMonikerReply,
    PutSubscriberMonikerRequest, PutSubscriberPartitionIdReply, PutSubscriberPartitionIdRequest,
    PutSubscriberPropertyReply, PutSubscriberPropertyRequest, PutSubscriptionIdReply,
    PutSubscriptionIdRequest, PutSubscriptionNameReply, PutSubscriptionNameRequest,
    RemovePublisherPropertyReply, RemovePublisherPropertyRequest, RemoveSubscriberPropertyReply,
    RemoveSubscriberPropertyRequest,
};
use com::comev::{
    AddItemReply, AddItemRequest, CloneEnumeratorReply, CloneEnumeratorRequest, GetCountReply,
    GetCountRequest, GetEventObjectChangeEventClassIdReply, GetEventObjectChangeEventClassIdRequest,
    GetItemReply, GetItemRequest, GetNewEnumReply, GetNewEnumRequest, GetNewEnumVariantReply,
    GetNewEnumVariantRequest, GetVersionReply, GetVersionRequest, NextItemsReply, NextItemsRequest,
    QueryReply, QueryRequest, QuerySReply, QuerySRequest, RemoveItemReply, RemoveItemRequest, RemoveReply,
    RemoveRequest, RemoveSReply, RemoveSRequest, ResetItemsReply, ResetItemsRequest, SkipItemsReply,
    SkipItemsRequest, StoreReply, StoreRequest, VerifyTransientSubscribersReply,
    VerifyTransientSubscribersRequest,
};
use com::oaut::{Bstr, Value, Variant};
use rpc::ndr::{ConformantVarying, InterfacePointer};
use rpc::{Message, Request};
use wire::HResult;

use crate::ms_dcom::{Call, object};

const MADE: &str = "our own encoders take it";

fn call(opnum: u16, request: &impl Request, reply: &impl Message) -> Call {
    let (request, reply) = object(request, reply);
    (opnum, request, reply)
}

fn text() -> Bstr {
    Bstr::new("Orders").expect(MADE)
}

fn variant() -> Option<Box<Variant<'static>>> {
    Some(Box::new(Variant::new(Value::Bstr(text())).expect(MADE)))
}

fn object_pointer() -> Option<Box<InterfacePointer<'static>>> {
    Some(Box::new(InterfacePointer { size: 4, data: b"MEOW"[..].into() }))
}

pub(crate) fn honest_event_system() -> Vec<Call> {
    let (status, error_index, collection) = (HResult::S_OK, 0, object_pointer());
    let (prog_id, criteria, object) = (text, text, object_pointer());
    let query = QueryReply { error_index, collection: object_pointer(), status };
    let class = GetEventObjectChangeEventClassIdReply { value: text(), status };
    vec![
        call(7, &QueryRequest { prog_id: prog_id(), criteria: criteria() }, &query),
        call(8, &StoreRequest { prog_id: prog_id(), object }, &StoreReply { status }),
        call(
            9,
            &RemoveRequest { prog_id: prog_id(), criteria: criteria() },
            &RemoveReply { error_index, status },
        ),
        call(10, &GetEventObjectChangeEventClassIdRequest {}, &class),
        call(
            11,
            &QuerySRequest { prog_id: prog_id(), criteria: criteria() },
            &QuerySReply { collection, status },
        ),
        call(12, &RemoveSRequest { prog_id: prog_id(), criteria: criteria() }, &RemoveSReply { status }),
    ]
}

pub(crate) fn honest_event_system2() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(13, &GetVersionRequest {}, &GetVersionReply { version: 2, status }),
        call(14, &VerifyTransientSubscribersRequest {}, &VerifyTransientSubscribersReply { status }),
    ]
}

pub(crate) fn honest_collection() -> Vec<Call> {
    let status = HResult::S_OK;
    let enumerator = object_pointer;
    vec![
        call(7, &GetNewEnumVariantRequest {}, &GetNewEnumVariantReply { enumerator: enumerator(), status }),
        call(8, &GetItemRequest { id: text() }, &GetItemReply { item: variant(), status }),
        call(9, &GetNewEnumRequest {}, &GetNewEnumReply { enumerator: enumerator(), status }),
        call(10, &GetCountRequest {}, &GetCountReply { count: 1, status }),
        call(11, &AddItemRequest { item: variant(), id: text() }, &AddItemReply { status }),
        call(12, &RemoveItemRequest { id: text() }, &RemoveItemReply { status }),
    ]
}

pub(crate) fn honest_enumerator() -> Vec<Call> {
    let status = HResult::S_OK;
    let items = ConformantVarying { max_count: 2, elements: vec![object_pointer()] };
    let next = NextItemsReply { items, count: 1, status: HResult::S_FALSE };
    vec![
        call(3, &CloneEnumeratorRequest {}, &CloneEnumeratorReply { enumerator: object_pointer(), status }),
        call(4, &NextItemsRequest { requested: 2 }, &next),
        call(5, &ResetItemsRequest {}, &ResetItemsReply { status }),
        call(6, &SkipItemsRequest { count: 1 }, &SkipItemsReply { status }),
    ]
}

// Honest calls of subscriptions, whose laws are those of interfaces.

pub(crate) fn honest_subscription() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(7, &GetSubscriptionIdRequest {}, &GetSubscriptionIdReply { value: text(), status }),
        call(8, &PutSubscriptionIdRequest { value: text() }, &PutSubscriptionIdReply { status }),
        call(9, &GetSubscriptionNameRequest {}, &GetSubscriptionNameReply { value: text(), status }),
        call(10, &PutSubscriptionNameRequest { value: text() }, &PutSubscriptionNameReply { status }),
        call(11, &GetPublisherIdRequest {}, &GetPublisherIdReply { value: text(), status }),
        call(12, &PutPublisherIdRequest { value: text() }, &PutPublisherIdReply { status }),
        call(13, &GetEventClassIdRequest {}, &GetEventClassIdReply { value: text(), status }),
        call(14, &PutEventClassIdRequest { value: text() }, &PutEventClassIdReply { status }),
        call(15, &GetMethodNameRequest {}, &GetMethodNameReply { value: text(), status }),
        call(16, &PutMethodNameRequest { value: text() }, &PutMethodNameReply { status }),
        call(17, &GetSubscriberClsidRequest {}, &GetSubscriberClsidReply { value: text(), status }),
        call(18, &PutSubscriberClsidRequest { value: text() }, &PutSubscriberClsidReply { status }),
        call(
            19,
            &GetSubscriberInterfaceRequest {},
            &GetSubscriberInterfaceReply { value: object_pointer(), status },
        ),
        call(
            20,
            &PutSubscriberInterfaceRequest { value: object_pointer() },
            &PutSubscriberInterfaceReply { status },
        ),
        call(21, &GetPerUserRequest {}, &GetPerUserReply { value: 1, status }),
        call(22, &PutPerUserRequest { value: 1 }, &PutPerUserReply { status }),
        call(23, &GetOwnerSidRequest {}, &GetOwnerSidReply { value: text(), status }),
        call(24, &PutOwnerSidRequest { value: text() }, &PutOwnerSidReply { status }),
        call(25, &GetEnabledRequest {}, &GetEnabledReply { value: 1, status }),
        call(26, &PutEnabledRequest { value: 1 }, &PutEnabledReply { status }),
        call(27, &GetDescriptionRequest {}, &GetDescriptionReply { value: text(), status }),
        call(28, &PutDescriptionRequest { value: text() }, &PutDescriptionReply { status }),
        call(29, &GetMachineNameRequest {}, &GetMachineNameReply { value: text(), status }),
        call(30, &PutMachineNameRequest { value: text() }, &PutMachineNameReply { status }),
        call(
            31,
            &GetPublisherPropertyRequest { name: text() },
            &GetPublisherPropertyReply { value: variant(), status },
        ),
        call(
            32,
            &PutPublisherPropertyRequest { name: text(), value: variant() },
            &PutPublisherPropertyReply { status },
        ),
        call(33, &RemovePublisherPropertyRequest { name: text() }, &RemovePublisherPropertyReply { status }),
        call(
            34,
            &GetPublisherPropertyCollectionRequest {},
            &GetPublisherPropertyCollectionReply { collection: object_pointer(), status },
        ),
        call(
            35,
            &GetSubscriberPropertyRequest { name: text() },
            &GetSubscriberPropertyReply { value: variant(), status },
        ),
        call(
            36,
            &PutSubscriberPropertyRequest { name: text(), value: variant() },
            &PutSubscriberPropertyReply { status },
        ),
        call(
            37,
            &RemoveSubscriberPropertyRequest { name: text() },
            &RemoveSubscriberPropertyReply { status },
        ),
        call(
            38,
            &GetSubscriberPropertyCollectionRequest {},
            &GetSubscriberPropertyCollectionReply { collection: object_pointer(), status },
        ),
        call(39, &GetInterfaceIdRequest {}, &GetInterfaceIdReply { value: text(), status }),
        call(40, &PutInterfaceIdRequest { value: text() }, &PutInterfaceIdReply { status }),
    ]
}

pub(crate) fn honest_subscription2() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(41, &GetFilterCriteriaRequest {}, &GetFilterCriteriaReply { value: text(), status }),
        call(42, &PutFilterCriteriaRequest { value: text() }, &PutFilterCriteriaReply { status }),
        call(43, &GetSubscriberMonikerRequest {}, &GetSubscriberMonikerReply { value: text(), status }),
        call(44, &PutSubscriberMonikerRequest { value: text() }, &PutSubscriberMonikerReply { status }),
    ]
}

pub(crate) fn honest_subscription3() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(
            45,
            &GetEventClassPartitionIdRequest {},
            &GetEventClassPartitionIdReply { value: text(), status },
        ),
        call(
            46,
            &PutEventClassPartitionIdRequest { value: text() },
            &PutEventClassPartitionIdReply { status },
        ),
        call(
            47,
            &GetEventClassApplicationIdRequest {},
            &GetEventClassApplicationIdReply { value: text(), status },
        ),
        call(
            48,
            &PutEventClassApplicationIdRequest { value: text() },
            &PutEventClassApplicationIdReply { status },
        ),
        call(
            49,
            &GetSubscriberPartitionIdRequest {},
            &GetSubscriberPartitionIdReply { value: text(), status },
        ),
        call(
            50,
            &PutSubscriberPartitionIdRequest { value: text() },
            &PutSubscriberPartitionIdReply { status },
        ),
        call(
            51,
            &GetSubscriberApplicationIdRequest {},
            &GetSubscriberApplicationIdReply { value: text(), status },
        ),
        call(
            52,
            &PutSubscriberApplicationIdRequest { value: text() },
            &PutSubscriberApplicationIdReply { status },
        ),
    ]
}
