use ms_smb2::wire::{
    CloseRequest, CloseResponse, CreateRequest, CreateResponse, EmptyBody, ErrorResponse, Flags, Header,
    IoctlRequest, IoctlResponse, NegotiateContext, NegotiateRequest, NegotiateResponse, Owner,
    QueryInfoRequest, QueryInfoResponse, ReadRequest, ReadResponse, SessionSetupRequest,
    SessionSetupResponse, Smb1Negotiate, TransformHeader, TreeConnectRequest, TreeConnectResponse,
    ValidateNegotiateRequest, ValidateNegotiateResponse, WriteRequest, WriteResponse,
};
use wire::{Decode as _, Encode as _, ReadCursor};

use crate::input::Input;
use crate::law::exact;

/// A body is read after its header and reads the same after it was written again, but for what `$forget` knows not to
/// be kept.
macro_rules! check_body {
    ($message:expr, $body:ident, $forget:expr) => {{
        let mut src = behind_header($message);
        if let Ok(mut body) = $body::decode(&mut src) {
            assert!(src.pos() <= $message.len());
            forgetting(&mut body, $forget);
            let mut again = $message[..Header::FIXED_PART_SIZE].to_vec();
            wire::encode_into(&body, &mut again).expect("what was read can be written");
            assert_eq!(
                again.len(),
                Header::FIXED_PART_SIZE + body.size(),
                "{} keeps its size law",
                body.name()
            );
            let mut src = behind_header(&again);
            assert_eq!($body::decode(&mut src).as_ref(), Ok(&body), "{} reads the same again", body.name());
        }
    }};
}

macro_rules! check_bodies {
    ($message:expr, $($body:ident),*) => {$(check_body!($message, $body, |_| {});)*};
}

/// One message: header, transform header, and each body that could follow.
pub fn messages(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    exact::<Header>(bytes);
    exact::<TransformHeader>(bytes);
    exact::<ValidateNegotiateResponse>(bytes);
    if let Ok(header) = wire::decode::<Header>(bytes) {
        let is_async = matches!(header.owner, Owner::Async(_));
        assert_eq!(header.flags.contains(Flags::ASYNC_COMMAND), is_async);
    }
    if let Ok(negotiate) = wire::decode::<Smb1Negotiate>(bytes) {
        assert!(bytes.starts_with(&Smb1Negotiate::PROTOCOL_ID));
        assert!(!negotiate.offers_smb2 || bytes.windows(7).any(|window| window.starts_with(b"SMB 2.?")));
    }
    if bytes.len() < Header::FIXED_PART_SIZE {
        return;
    }
    check_body!(bytes, NegotiateRequest, |body| forget_names(&mut body.contexts));
    check_body!(bytes, NegotiateResponse, |body| forget_names(&mut body.contexts));
    check_bodies!(
        bytes,
        CloseRequest,
        CloseResponse,
        CreateRequest,
        CreateResponse,
        EmptyBody,
        ErrorResponse,
        IoctlRequest,
        IoctlResponse,
        QueryInfoRequest,
        QueryInfoResponse,
        ReadRequest,
        ReadResponse,
        SessionSetupRequest,
        SessionSetupResponse,
        TreeConnectRequest,
        TreeConnectResponse,
        ValidateNegotiateRequest,
        ValidateNegotiateResponse,
        WriteRequest,
        WriteResponse
    );
}

fn forgetting<T>(body: &mut T, forget: impl FnOnce(&mut T)) {
    forget(body);
}

/// A name that is no text is not looked at, and written as none.
fn forget_names(contexts: &mut [NegotiateContext]) {
    const NETNAME: u16 = 5;
    for context in contexts.iter_mut().filter(|context| **context == NegotiateContext::Unknown(NETNAME)) {
        *context = NegotiateContext::Netname(String::new());
    }
}

fn behind_header(message: &[u8]) -> ReadCursor<'_> {
    let mut src = ReadCursor::new(message);
    src.read_slice(Header::FIXED_PART_SIZE);
    src
}
