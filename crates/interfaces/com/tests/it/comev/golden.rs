//! Messages as go-msrpc 1.2.5 writes them. Numbers of pointers are the writer's own; everything else is the same.

use core::fmt::Debug;

use com::comev::subscription::{
    GetSubscriptionNameReply, PutEnabledRequest, PutSubscriberInterfaceRequest, PutSubscriptionNameRequest,
};
use com::comev::{
    GetItemReply, GetNewEnumReply, NextItemsReply, QueryReply, QueryRequest, StoreRequest, prog_id,
};
use com::oaut::{Bstr, Value};
use rpc::ndr::{ConformantVarying, InterfacePointer};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis, read_reply, read_request, reply_stub, request_stub};
use rpc::{FromStub, Message, Request};
use wire::{Guid, HResult};

const CID: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);

macro_rules! data {
    ($name:literal) => {
        unhex(include_str!(concat!("../../data/comev/go_", $name, ".hex")))
    };
}

fn unhex(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits: Vec<u8> = lines.flat_map(str::bytes).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn check_bytes(theirs: &[u8], ours: &[u8]) {
    let differing = ours.chunks(4).zip(theirs.chunks(4)).filter(|(ours, theirs)| ours != theirs);
    assert!(differing.into_iter().all(|(ours, _)| ours[2..] == [2, 0]), "{ours:02x?} {theirs:02x?}");
    assert_eq!(ours.len(), theirs.len());
}

fn check_request<'a, R: Request + FromStub<'a> + PartialEq + Debug>(theirs: &'a [u8], request: &R) {
    let (this, read) = read_request::<R>(theirs).unwrap();
    assert_eq!((&this, &read), (&OrpcThis::new(ComVersion::V5_7, CID), request));
    check_bytes(theirs, &request_stub(&this, request).unwrap());
}

fn check_reply<'a, M: Message + FromStub<'a> + PartialEq + Debug>(theirs: &'a [u8], reply: &M) {
    let (that, read) = read_reply::<M>(theirs).unwrap();
    assert_eq!((&that, &read), (&OrpcThat::default(), reply));
    check_bytes(theirs, &reply_stub(&that, reply).unwrap());
}

fn bstr(text: &str) -> Bstr {
    Bstr::new(text).unwrap()
}

fn pointer() -> Option<Box<InterfacePointer<'static>>> {
    Some(Box::new(InterfacePointer { size: 3, data: b"ref"[..].into() }))
}

#[test]
fn properties_of_a_subscription_are_put_and_read() {
    let name = PutSubscriptionNameRequest { value: bstr("odd") };
    check_request(&data!("request_put_subscription_name"), &name);
    check_request(&data!("request_put_enabled"), &PutEnabledRequest { value: 1 });
    let subscriber = PutSubscriberInterfaceRequest { value: pointer() };
    check_request(&data!("request_put_subscriber_interface"), &subscriber);
    let name = GetSubscriptionNameReply { value: bstr("odd"), status: HResult::S_OK };
    check_reply(&data!("response_get_subscription_name"), &name);
}

#[test]
fn a_subscription_is_stored_and_queried() {
    let store = StoreRequest { prog_id: bstr(prog_id::EVENT_SUBSCRIPTION), object: pointer() };
    check_request(&data!("request_store"), &store);
    let criteria = bstr("SubscriptionID={ECABB0C3-7F19-11D2-978E-0000F8757E2A}");
    let query = QueryRequest { prog_id: bstr(prog_id::EVENT_SUBSCRIPTION_COLLECTION), criteria };
    check_request(&data!("request_query"), &query);
    let found = QueryReply { error_index: 0, collection: pointer(), status: HResult::S_OK };
    check_reply(&data!("response_query"), &found);
}

#[test]
fn items_of_a_collection_are_in_order_and_by_name() {
    let enumerator = GetNewEnumReply { enumerator: pointer(), status: HResult::S_OK };
    check_reply(&data!("response_get_new_enum"), &enumerator);
    let items = ConformantVarying { max_count: 5, elements: vec![pointer(), pointer()] };
    check_reply(&data!("response_next"), &NextItemsReply { items, count: 2, status: HResult::S_FALSE });
    // go-msrpc leaves clSize to its user.
    let stub = data!("response_get_item");
    let (_, GetItemReply { item, status }) = read_reply(&stub).unwrap();
    assert_eq!((item.unwrap().value, status), (Value::Unknown(pointer()), HResult::S_OK));
}
