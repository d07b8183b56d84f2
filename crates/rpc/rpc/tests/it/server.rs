use std::borrow::Cow;

use rpc::ndr::{ConformantBytes, ConformantVaryingBytes, ContextHandle, WideString, WithRoom as _};
use rpc::{CallInfo, FaultStatus, FromStub, Message};
use wire::Win32Error;

use crate::shelf::{
    CloseShelfReply, CloseShelfRequest, HANDLE, IsThereReply, IsThereRequest, Library, OpenShelfReply,
    OpenShelfRequest, ReadBookReply, ReadBookRequest, RestRequest, ShelfServer, WriteBookReply,
    WriteBookRequest,
};

fn opened() -> Library {
    let mut library = Library::default();
    library.open.insert(HANDLE.uuid);
    library
}

fn call<R: Message>(library: &mut Library, request: &R) -> Result<Vec<u8>, FaultStatus> {
    library.dispatch(&CallInfo::default(), R::METHOD.opnum, &request.to_stub().unwrap())
}

#[test]
fn a_handle_that_is_not_open_never_reaches_a_method() {
    for shelf in [ContextHandle::NULL, HANDLE] {
        let mut library = Library::default();
        let mismatch = Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH);
        assert_eq!(call(&mut library, &CloseShelfRequest { shelf }), mismatch);
        assert_eq!(call(&mut library, &ReadBookRequest { shelf, room: 1 }), mismatch);
        assert!(library.called.is_empty());
    }
}

#[test]
fn a_method_that_fails_answers_empty_values_and_in_out_parameters_as_they_came() {
    let library = &mut opened();
    let stub = call(library, &ReadBookRequest { shelf: HANDLE, room: 8 }).unwrap();
    let status = Win32Error::ERROR_MORE_DATA;
    let expected = ReadBookReply { size: 0, text: ConformantVaryingBytes::with_room(8), status };
    assert_eq!(ReadBookReply::from_stub(&stub).unwrap(), expected);
    let stub = call(library, &OpenShelfRequest { name: WideString::default() }).unwrap();
    assert_eq!(OpenShelfReply::from_stub(&stub).unwrap().shelf, ContextHandle::NULL);

    library.is_closed = true;
    let stub = call(library, &CloseShelfRequest { shelf: HANDLE }).unwrap();
    let status = Win32Error::ERROR_ACCESS_DENIED;
    assert_eq!(CloseShelfReply::from_stub(&stub).unwrap(), CloseShelfReply { shelf: HANDLE, status });
    assert!(!library.open.is_empty());
    let text = ConformantBytes(Cow::Borrowed(b"abc"));
    let stub = call(library, &WriteBookRequest { length: 3, text: text.clone() }).unwrap();
    assert_eq!(WriteBookReply::from_stub(&stub).unwrap(), WriteBookReply { text, status });
}

#[test]
fn a_value_that_a_method_returns_stands_behind_its_status() {
    let library = &mut opened();
    let stub = call(library, &IsThereRequest { book: 3 }).unwrap();
    assert_eq!(stub, [7, 0, 0, 0, 234, 0, 0, 0, 3, 0, 0, 0]);
    let (shelves, is_there, status) = (7, 3, Win32Error::ERROR_MORE_DATA);
    assert_eq!(IsThereReply::from_stub(&stub).unwrap(), IsThereReply { shelves, is_there, status });
    let cut = IsThereReply::from_stub(&stub[..10]).unwrap_err().to_string();
    assert_eq!(cut, "IsThere: `return value`: 4 bytes needed at offset 8, 2 there");
    let cut = IsThereReply::from_stub(&stub[..6]).unwrap_err().to_string();
    assert_eq!(cut, "IsThere: `status`: 4 bytes needed at offset 4, 2 there");
    let stub = call(library, &IsThereRequest { book: 0 }).unwrap();
    assert_eq!(stub, [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0], "a method that fails returns zero");
}

#[test]
fn an_answer_may_borrow_and_a_failure_may_be_a_fault() {
    let library = &mut opened();
    let stub = call(library, &ReadBookRequest { shelf: HANDLE, room: 9 }).unwrap();
    assert_eq!(&*ReadBookReply::from_stub(&stub).unwrap().text.bytes, b"Once upon");
    let text = ConformantBytes(Cow::Borrowed(b"abc"));
    let stub = call(library, &WriteBookRequest { length: 3, text }).unwrap();
    assert_eq!(&*WriteBookReply::from_stub(&stub).unwrap().text.0, b"ABC");
    let nothing = WriteBookRequest { length: 0, text: ConformantBytes::default() };
    assert_eq!(call(library, &nothing), Err(FaultStatus::NCA_S_FAULT_UNSPEC));
}

#[test]
fn a_stub_that_is_not_the_methods_is_a_fault_that_says_so() {
    let dispatch = |opnum, stub: &[u8]| opened().dispatch(&CallInfo::default(), opnum, stub);
    let request = ReadBookRequest { shelf: HANDLE, room: 9 }.to_stub().unwrap();
    for end in 0..request.len() {
        assert_eq!(dispatch(4, &request[..end]), Err(FaultStatus::RPC_X_BAD_STUB_DATA), "cut at {end}");
    }
    let mut wide = request.clone();
    wide[20] = 17;
    assert_eq!(dispatch(4, &wide), Err(FaultStatus::RPC_S_INVALID_BOUND));
    let text = ConformantBytes(Cow::Borrowed(b"abc"));
    let mut lying = WriteBookRequest { length: 3, text }.to_stub().unwrap();
    lying[0] = 2;
    assert_eq!(dispatch(5, &lying), Err(FaultStatus::RPC_X_BAD_STUB_DATA));
    // A verification trailer or other bytes after the parameters are somebody else's.
    dispatch(4, &[&request[..], &[0xaa; 9]].concat()).unwrap();
}

#[test]
fn what_is_not_declared_or_not_served_is_an_opnum_out_of_range() {
    for opnum in [2, 3, 6, 10, 14, u16::MAX] {
        let answer = opened().dispatch(&CallInfo::default(), opnum, &[]);
        assert_eq!(answer, Err(FaultStatus::NCA_S_OP_RNG_ERROR), "{opnum}");
    }
    assert_eq!(call(&mut opened(), &RestRequest {}), Err(FaultStatus::NCA_S_OP_RNG_ERROR));
}
