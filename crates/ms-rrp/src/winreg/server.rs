use codec::EncodeResult;
use dcerpc::FaultStatus;
use ms_dtyp::Win32Error;

use crate::Method;
use crate::types::{AccessMask, KeyHandle, UnicodeString};
use crate::winreg::ops::{
    CloseKeyRequest, EnumKeyReply, EnumKeyRequest, HandleReply, OpenKeyRequest, OpenLocalMachineRequest,
    QueryInfoKeyReply, QueryInfoKeyRequest, Request,
};

/// What is told of a key as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KeyInfo {
    /// How many subkeys it has.
    pub sub_keys: u32,
    /// The longest of their names, in bytes.
    pub sub_key_bytes_max: u32,
}

/// What the methods do, on one association. [`dispatch`] has read the parameters and checked the handle; it
/// writes the answer and compares its size with the client's buffer.
pub trait RegistryServer {
    /// Opnum 2: opens the root. The handle is not NULL and not guessable.
    ///
    /// # Errors
    /// What the method returns; so with all of them.
    fn open_local_machine(&mut self, sam_desired: AccessMask) -> Result<KeyHandle, Win32Error>;

    /// Whether a handle names a key of this association that is open.
    fn is_open(&self, key: KeyHandle) -> bool;

    /// Opnum 5: closes a key that is open.
    ///
    /// # Errors
    /// None is expected.
    fn close_key(&mut self, key: KeyHandle) -> Result<(), Win32Error>;

    /// Opnum 9: the name of a subkey.
    ///
    /// # Errors
    /// `ERROR_NO_MORE_ITEMS` behind the last one.
    fn enum_key(&mut self, key: KeyHandle, index: u32) -> Result<String, Win32Error>;

    /// Opnum 15: opens a key below another; `path` has backslashes between its parts, and may be empty.
    ///
    /// # Errors
    /// `ERROR_FILE_NOT_FOUND`.
    fn open_key(
        &mut self,
        key: KeyHandle,
        path: &str,
        sam_desired: AccessMask,
    ) -> Result<KeyHandle, Win32Error>;

    /// Opnum 16: how many subkeys there are.
    ///
    /// # Errors
    /// None is expected.
    fn query_info_key(&mut self, key: KeyHandle) -> Result<KeyInfo, Win32Error>;
}

/// Executes one call: the request's stub in, the response's stub out.
///
/// # Errors
/// The fault to answer: `nca_s_op_rng_error` for an opnum that is not here, `RPC_X_BAD_STUB_DATA` for a stub that
/// is not the method's, `nca_s_fault_context_mismatch` for a handle that names no open key.
pub fn dispatch(server: &mut impl RegistryServer, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, FaultStatus> {
    let reply = match Method::from_opnum(opnum).ok_or(FaultStatus::NCA_S_OP_RNG_ERROR)? {
        Method::OpenLocalMachine => {
            let OpenLocalMachineRequest { sam_desired } = parse(stub)?;
            handle_reply(server.open_local_machine(sam_desired))
        }
        Method::BaseRegCloseKey => {
            let CloseKeyRequest { key } = parse(stub)?;
            let key = check_open(server, key)?;
            handle_reply(server.close_key(key).map(|()| KeyHandle::NULL))
        }
        Method::BaseRegEnumKey => {
            let request: EnumKeyRequest = parse(stub)?;
            let key = check_open(server, request.key)?;
            enum_key_reply(server.enum_key(key, request.index), &request)
        }
        Method::BaseRegOpenKey => {
            let OpenKeyRequest { key, sub_key, sam_desired } = parse(stub)?;
            let key = check_open(server, key)?;
            handle_reply(server.open_key(key, &sub_key, sam_desired))
        }
        Method::BaseRegQueryInfoKey => {
            let QueryInfoKeyRequest { key, .. } = parse(stub)?;
            let key = check_open(server, key)?;
            query_info_reply(server.query_info_key(key))
        }
    };
    reply.map_err(|_error| FaultStatus::NCA_S_FAULT_UNSPEC)
}

fn parse<R: Request>(stub: &[u8]) -> Result<R, FaultStatus> {
    R::from_stub(stub).map_err(|_error| FaultStatus::RPC_X_BAD_STUB_DATA)
}

fn check_open(server: &impl RegistryServer, key: KeyHandle) -> Result<KeyHandle, FaultStatus> {
    if !key.is_null() && server.is_open(key) {
        Ok(key)
    } else {
        Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH)
    }
}

fn handle_reply(result: Result<KeyHandle, Win32Error>) -> EncodeResult<Vec<u8>> {
    let (key, status) = match result {
        Ok(key) => (key, Win32Error::ERROR_SUCCESS),
        Err(status) => (KeyHandle::NULL, status),
    };
    HandleReply { key, status }.to_stub()
}

/// A class is never there; one is asked for nevertheless, and answered with an empty text.
fn enum_key_reply(result: Result<String, Win32Error>, request: &EnumKeyRequest) -> EncodeResult<Vec<u8>> {
    let room = UnicodeString::with_room(request.name_room);
    let (name, status) = match result {
        Ok(name) if bytes_with_nul(&name) <= usize::from(request.name_room) => {
            (UnicodeString { text: Some(name), ..room }, Win32Error::ERROR_SUCCESS)
        }
        Ok(_) => (room, Win32Error::ERROR_MORE_DATA),
        Err(status) => (room, status),
    };
    let class = Some(UnicodeString::with_room(request.class_room));
    EnumKeyReply { name, class, last_write_time: None, status }.to_stub()
}

fn query_info_reply(result: Result<KeyInfo, Win32Error>) -> EncodeResult<Vec<u8>> {
    let (info, status) = match result {
        Ok(info) => (info, Win32Error::ERROR_SUCCESS),
        Err(status) => (KeyInfo::default(), status),
    };
    let KeyInfo { sub_keys, sub_key_bytes_max } = info;
    QueryInfoKeyReply { class: UnicodeString::NULL, sub_keys, sub_key_bytes_max, status }.to_stub()
}

fn bytes_with_nul(text: &str) -> usize {
    2 * (text.encode_utf16().count() + 1/* NUL */)
}
