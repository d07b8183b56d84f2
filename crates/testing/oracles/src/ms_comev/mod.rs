//! Honest calls of `com::comev`, whose laws are those of interfaces.

mod subscription;

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

pub(crate) use self::subscription::{honest_subscription, honest_subscription2, honest_subscription3};
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
