use counters::pcq::perflibv2::methods::{
    BUFFER_OFFSET, EnumerateCountersetInstancesRequest, EnumerateCountersetsRequest, OpenQueryHandleRequest,
    QueryCounterDataReply, QueryCounterDataRequest, QueryCounterInfoRequest,
    QueryCountersetRegistrationInfoRequest,
};
use counters::pcq::types::BlockType;
use counters::pcq::wire::{CounterHeader, CounterIdentifier, DataHeader, MultiCounters, StringBufferHeader};
use rpc::ndr::{ConformantVaryingBytes, WithRoom as _};
use rpc::{Message, Method};
use wire::{Guid, Win32Error};

use crate::rule::Corruption;

/// Larger than anything that is there, and no multiple of 8 short of it.
const TOO_MUCH: u32 = 0x7FFF_FFF8;

/// Makes one size in a response's stub wrong. `request` is the stub that it answers, whose last field is dwInSize.
pub(super) fn change_size(corruption: Corruption, request: &[u8], response: &mut [u8]) {
    let data = BUFFER_OFFSET;
    let first_block = data + DataHeader::FIXED_PART_SIZE;
    match corruption {
        Corruption::OutSize => {
            let beyond = in_size(request).saturating_add(8);
            patch(response, 0 /* pdwOutSize */, beyond);
            patch(response, data - 4 /* actual_count */, beyond);
        }
        Corruption::TotalSize => patch(response, data, TOO_MUCH),
        Corruption::BlockSize => patch(response, first_block + 8 /* dwStatus, dwType */, TOO_MUCH),
        Corruption::InstanceCount => {
            let instances = first_block + CounterHeader::FIXED_PART_SIZE + ids_size(response, first_block);
            patch(response, instances + 4 /* dwTotalSize */, TOO_MUCH);
        }
        Corruption::StringOffset => {
            patch(response, data + StringBufferHeader::FIXED_PART_SIZE + 4 /* dwCounterId */, TOO_MUCH);
        }
        Corruption::BlockCount => {
            let at = data + 4 /* dwTotalSize */;
            patch(response, at, read(response, at).unwrap_or(0).saturating_sub(1));
        }
        Corruption::Index => clear_indexes(response, data),
    }
}

/// Clears Index in the identifiers that begin at `at`.
fn clear_indexes(response: &mut [u8], mut at: usize) {
    const SIZE_AT: usize = Guid::FIXED_PART_SIZE + 4 /* Status */;
    const INDEX_AT: usize = SIZE_AT + 4 /* Size */ + 4 /* CounterId */ + 4 /* InstanceId */;
    let end = response.len().saturating_sub(4 /* status */);
    while at + CounterIdentifier::FIXED_PART_SIZE <= end {
        patch(response, at + INDEX_AT, 0);
        let size = read(response, at + SIZE_AT).and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        at += size.max(CounterIdentifier::FIXED_PART_SIZE);
    }
}

/// dwInSize, the last field of a request for a buffer.
pub(super) fn in_size(request: &[u8]) -> u32 {
    request.last_chunk().map_or(0, |size| u32::from_le_bytes(*size))
}

/// Makes the method return `status`, and nothing where it would return a buffer.
pub(super) fn refuse(opnum: u16, status: Win32Error, request: &[u8], response: &mut Vec<u8>) {
    if returns_buffer(opnum) {
        answer_without_data(in_size(request), 0, status, response);
    } else {
        if opnum == OpenQueryHandleRequest::METHOD.opnum {
            response.fill(0);
        }
        let at = response.len().saturating_sub(4);
        patch(response, at, status.0);
    }
}

/// Makes the answer larger than the client's buffer, by so many percent and eight bytes.
pub(super) fn outgrow(opnum: u16, percent: u32, request: &[u8], response: &mut Vec<u8>) {
    if returns_buffer(opnum) {
        let size = in_size(request);
        let more = u64::from(size) * u64::from(percent) / 100 + 8;
        let grown = size.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        answer_without_data(size, grown, Win32Error::ERROR_NOT_ENOUGH_MEMORY, response);
    }
}

/// Whether a method fills a buffer of the client's size.
pub(super) fn returns_buffer(opnum: u16) -> bool {
    const METHODS: [&Method; 5] = [
        EnumerateCountersetsRequest::METHOD,
        QueryCountersetRegistrationInfoRequest::METHOD,
        EnumerateCountersetInstancesRequest::METHOD,
        QueryCounterInfoRequest::METHOD,
        QueryCounterDataRequest::METHOD,
    ];
    METHODS.iter().any(|method| method.opnum == opnum)
}

fn answer_without_data(in_size: u32, rtn_size: u32, status: Win32Error, response: &mut Vec<u8>) {
    // Without data all of them look alike.
    let data = ConformantVaryingBytes::with_room(in_size);
    if let Ok(stub) = (QueryCounterDataReply { out_size: 0, rtn_size, data, status }).to_stub() {
        *response = stub;
    }
}

/// Bytes of the counter ids that come before the instances, where the block has them.
fn ids_size(response: &[u8], block: usize) -> usize {
    let ids = block + CounterHeader::FIXED_PART_SIZE;
    if read(response, block + 4 /* dwStatus */) == Some(BlockType::PERF_COUNTERSET.0) {
        read(response, ids)
            .and_then(|size| usize::try_from(size).ok())
            .unwrap_or(MultiCounters::FIXED_PART_SIZE)
    } else {
        0
    }
}

fn read(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Does nothing to a response that is too short to have the field: the answer to a probe, or an error.
fn patch(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(field) = bytes.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}
