use std::borrow::Cow;

use rpc::ndr::{ConformantBytes, ConformantVaryingBytes, Limits, WideString};
use rpc::{Client, Error, Message};
use test_support::future::now;
use wire::Win32Error;

use crate::shelf::{
    Canned, CloseShelfRequest, HANDLE, Library, Loop, OpenShelfRequest, ReadBookReply, ReadBookRequest,
    RestRequest, SUCCESS, Shelf, TitleReply, TitleRequest, WriteBookRequest,
};

fn client() -> Client<Loop, Shelf> {
    Client::new(Loop(Library::default()))
}

fn open(name: &str) -> OpenShelfRequest {
    OpenShelfRequest { name: WideString(name.to_owned()) }
}

#[test]
fn a_call_answers_the_reply_or_the_status_that_is_no_success() {
    let mut client = client();
    assert_eq!(now(client.call(&open("A"))).unwrap().shelf, HANDLE);
    let error = now(client.call(&open("B"))).unwrap_err();
    assert_eq!(error.status(), Some(Win32Error::ERROR_FILE_NOT_FOUND));
    assert_eq!(error.to_string(), "open shelf: ERROR_FILE_NOT_FOUND");
    assert_eq!((error.method().name, error.method().interface), ("ShelfOpen", "shelf"));
    // Whoever wants the reply whatever its status gets it.
    assert_eq!(now(client.reply(&open("B"))).unwrap().status, Win32Error::ERROR_FILE_NOT_FOUND);
}

#[test]
fn a_reply_borrows_from_the_stub_that_the_caller_keeps() {
    let mut client = client();
    now(client.call(&open("A"))).unwrap();
    let request = ReadBookRequest { shelf: HANDLE, room: 16 };
    let stub = now(client.stub(&request)).unwrap();
    let reply = client.decode(&request, &stub).unwrap();
    assert_eq!((reply.size, &*reply.text.bytes), (9, &b"Once upon"[..]));
    assert!(matches!(reply.text.bytes, Cow::Borrowed(_)));
}

#[test]
fn more_than_the_request_has_room_for_is_no_reply_to_it() {
    let text = ConformantVaryingBytes { max_count: 9, bytes: Cow::Borrowed(b"Once upon") };
    let stub = ReadBookReply { size: 9, text, status: SUCCESS }.to_stub().unwrap();
    let client: Client<_, Shelf> = Client::new(Canned(Vec::new()));
    client.decode(&ReadBookRequest { shelf: HANDLE, room: 9 }, &stub).unwrap();
    let error = client.decode(&ReadBookRequest { shelf: HANDLE, room: 8 }, &stub).unwrap_err();
    assert_eq!(error.to_string(), "read book: ReadBook: `text`: more than the request's room (offset 32)");
}

#[test]
fn a_fault_a_short_stub_and_a_request_that_contradicts_itself_are_errors_of_their_own() {
    let mut client = client();
    let error = now(client.call(&CloseShelfRequest { shelf: HANDLE })).unwrap_err();
    assert!(matches!(error, Error::Call { .. }), "{error}");
    let text = ConformantBytes(Cow::Borrowed(b"abc"));
    let error = now(client.stub(&WriteBookRequest { length: 2, text })).unwrap_err();
    assert_eq!(error.to_string(), "write book: WriteBook: `text`: max_count is not length");

    let mut client: Client<_, Shelf> = Client::new(Canned(vec![0; 3]));
    let error = now(client.call(&RestRequest {})).unwrap_err();
    let expected = "rest: Rest: `return value`: 4 bytes needed at offset 0, 3 there";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_reply_is_read_by_the_limits_of_the_client() {
    let stub = TitleReply { title: WideString("Dune".to_owned()), status: SUCCESS }.to_stub().unwrap();
    let mut client: Client<_, Shelf> = Client::new(Canned(stub));
    assert_eq!(now(client.call(&TitleRequest {})).unwrap().title.0, "Dune");
    let limits = Limits { string_units_max: 4, ..Limits::default() };
    let error = now(client.with_limits(limits).call(&TitleRequest {})).unwrap_err();
    assert_eq!(error.to_string(), "title: Title: `title`: 5 is above the limit of 4 (offset 8)");
}
