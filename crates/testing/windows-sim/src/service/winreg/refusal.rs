//! Answers that a rule replaces.

use counters::rrp::types::ValueType;
use counters::rrp::winreg::{
    EnumerateRegistryKeyRequest, EnumerateRegistryValueRequest, OpenLocalMachineRequest,
    OpenPerformanceDataRequest, OpenRegistryKeyRequest, QueryInfoOfRegistryKeyRequest,
    QueryRegistryValueRequest,
};
use rpc::{FromStub, Message, Request};
use wire::Win32Error;

use crate::service::refused::refused;

/// The answer of a method that fails with `status`; nothing for a method that cannot.
pub(super) fn refused(opnum: u16, request: &[u8], status: Win32Error) -> Option<Vec<u8>> {
    refused!(opnum, request, status, [
        OpenLocalMachineRequest OpenPerformanceDataRequest EnumerateRegistryKeyRequest
        EnumerateRegistryValueRequest OpenRegistryKeyRequest QueryInfoOfRegistryKeyRequest
        QueryRegistryValueRequest
    ])
}

/// The answer to a query for a value that has become larger than its room by so many percent and eight bytes. Performance
/// data do not say how large they are; here, no value does.
pub(super) fn outgrown(opnum: u16, request: &[u8], percent: u32) -> Option<Vec<u8>> {
    if opnum != QueryRegistryValueRequest::METHOD.opnum {
        return None;
    }
    let request = QueryRegistryValueRequest::from_stub(request).ok()?;
    let room = u64::from(request.size.as_deref().copied().unwrap_or_default());
    let larger = usize::try_from(room + room * u64::from(percent) / 100 + 8).ok()?;
    request.answer_unsized(ValueType::REG_BINARY, vec![0; larger]).to_stub().ok()
}
