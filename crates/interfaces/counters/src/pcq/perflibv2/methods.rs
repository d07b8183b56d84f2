//! [MS-PCQ] 3.1.4.1: the methods.

use core::ops::RangeInclusive;
use std::borrow::Cow;

use rpc::Request;
use rpc::ndr::{ConformantBytes, ConformantVarying, ConformantVaryingBytes, WideString};
use wire::{Guid, Win32Error};

use crate::pcq::perflibv2::Change;
use crate::pcq::types::{QueryHandle, RequestCode};

/// The IDL's ranges of `dwInSize`; the first counts countersets, the others bytes.
const COUNTERSETS: RangeInclusive<u32> = 0..=256;
const REGISTRATION_BYTES: RangeInclusive<u32> = 0..=134_217_728;
const LIST_BYTES: RangeInclusive<u32> = 0..=67_108_864;
const DATA_BYTES: RangeInclusive<u32> = 0..=1_073_741_824;

rpc::interface! {
    /// [MS-PCQ] 1.9: performance counters, version 1.0.
    pub interface PerflibV2("da5a86c5-12c2-4943-ab30-7f74a813d853", 1.0) -> Win32Error {
        /// [MS-PCQ] 3.1.4.1.1: lists the countersets, or says how many there are where there is no room for all.
        0 => PerflibV2EnumerateCounterSet as enumerate_countersets(
            machine: WideString, #[ndr(name = "dwInSize", range = COUNTERSETS)] in_size: u32,
        ) -> (
            #[ndr(name = "pdwOutSize")] out_size: u32, rtn_size: u32,
            #[ndr(name = "lpData", size_is = in_size, length_is = out_size)] guids: ConformantVarying<Guid>,
        );

        /// [MS-PCQ] 3.1.4.1.2: describes a counterset as `request_code` asks. `request_lcid` is a language, a counter or 0.
        1 => PerflibV2QueryCounterSetRegistrationInfo as query_counterset_registration_info(
            machine: WideString, counterset: Guid, request_code: RequestCode, request_lcid: u32,
            #[ndr(name = "dwInSize", range = REGISTRATION_BYTES)] in_size: u32,
        ) -> (
            #[ndr(name = "pdwOutSize")] out_size: u32, rtn_size: u32,
            #[ndr(name = "lpData", size_is = in_size, length_is = out_size)] data: ConformantVaryingBytes<'stub>,
        );

        /// [MS-PCQ] 3.1.4.1.3: lists the instances of a counterset.
        2 => PerflibV2EnumerateCounterSetInstances as enumerate_counterset_instances(
            machine: WideString, counterset: Guid, #[ndr(name = "dwInSize", range = LIST_BYTES)] in_size: u32,
        ) -> (
            #[ndr(name = "pdwOutSize")] out_size: u32, rtn_size: u32,
            #[ndr(name = "lpData", size_is = in_size, length_is = out_size)] data: ConformantVaryingBytes<'stub>,
        );

        /// [MS-PCQ] 3.1.4.1.4: opens a query.
        3 => PerflibV2OpenQueryHandle as open_query_handle(machine: WideString) -> (query: QueryHandle);

        /// [MS-PCQ] 3.1.4.1.8: closes a query, whose handle is NULL afterwards.
        4 => PerflibV2CloseQueryHandle as close_query_handle(#[ndr(handle)] query: QueryHandle) -> (query: QueryHandle);

        /// [MS-PCQ] 3.1.4.1.5: lists what a query will fetch.
        5 => PerflibV2QueryCounterInfo as query_counter_info(
            #[ndr(handle)] query: QueryHandle, #[ndr(name = "dwInSize", range = LIST_BYTES)] in_size: u32,
        ) -> (
            #[ndr(name = "pdwOutSize")] out_size: u32, rtn_size: u32,
            #[ndr(name = "lpData", size_is = in_size, length_is = out_size)] data: ConformantVaryingBytes<'stub>,
        );

        /// [MS-PCQ] 3.1.4.1.6: fetches the values of a query's counters.
        6 => PerflibV2QueryCounterData as query_counter_data(
            #[ndr(handle)] query: QueryHandle, #[ndr(name = "dwInSize", range = DATA_BYTES)] in_size: u32,
        ) -> (
            #[ndr(name = "pdwOutSize")] out_size: u32, rtn_size: u32,
            #[ndr(name = "lpData", size_is = in_size, length_is = out_size)] data: ConformantVaryingBytes<'stub>,
        );

        /// [MS-PCQ] 3.1.4.1.7: adds counters to a query or removes them. `data` holds `PERF_COUNTER_IDENTIFIER`s, which
        /// come back with status and index filled in.
        7 => PerflibV2ValidateCounters as validate_counters(
            #[ndr(handle)] query: QueryHandle, #[ndr(name = "dwInSize", range = LIST_BYTES)] in_size: u32,
            #[ndr(name = "lpData", size_is = in_size)] data: ConformantBytes<'stub>, change: Change,
        ) -> (#[ndr(name = "lpData")] data: ConformantBytes<'stub>);
    }
}

/// A method that fills a buffer of the client's size with bytes.
pub trait SizedRequest: Request {
    /// The IDL's range of `dwInSize`.
    const IN_SIZE: RangeInclusive<u32>;

    fn set_in_size(&mut self, in_size: u32);

    /// The size of the whole answer in bytes, and the bytes that were sent.
    fn buffer<'reply>(reply: &'reply Self::Reply<'_>) -> (u32, &'reply [u8]);

    /// A server's answer: all of it, or how many bytes it takes where there is no room for all of it.
    fn answer(&self, data: Vec<u8>) -> Self::Reply<'static>;
}

macro_rules! sized {
    ($($request:ident, $reply:ident, $range:ident;)*) => {$(
        impl SizedRequest for $request {
            const IN_SIZE: RangeInclusive<u32> = $range;

            fn set_in_size(&mut self, in_size: u32) {
                self.in_size = in_size;
            }

            fn buffer<'reply>(reply: &'reply $reply<'_>) -> (u32, &'reply [u8]) {
                (reply.rtn_size, &reply.data.bytes)
            }

            fn answer(&self, data: Vec<u8>) -> $reply<'static> {
                let (max_count, rtn_size) = (self.in_size, u32::try_from(data.len()).unwrap_or(u32::MAX));
                let (bytes, status) = if rtn_size <= max_count {
                    (Cow::Owned(data), Win32Error::ERROR_SUCCESS)
                } else {
                    (Cow::Borrowed(&[][..]), Win32Error::ERROR_NOT_ENOUGH_MEMORY)
                };
                let out_size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let data = ConformantVaryingBytes { max_count, bytes };
                $reply { out_size, rtn_size, data, status }
            }
        }
    )*};
}

sized! {
    QueryCountersetRegistrationInfoRequest, QueryCountersetRegistrationInfoReply, REGISTRATION_BYTES;
    EnumerateCountersetInstancesRequest, EnumerateCountersetInstancesReply, LIST_BYTES;
    QueryCounterInfoRequest, QueryCounterInfoReply, LIST_BYTES;
    QueryCounterDataRequest, QueryCounterDataReply, DATA_BYTES;
}

impl EnumerateCountersetsRequest {
    /// As many countersets as a client can have.
    pub const IN_SIZE_MAX: u32 = *COUNTERSETS.end();

    /// A server's answer: all countersets, or how many there are where there is no room for all.
    #[must_use]
    pub fn answer(&self, guids: Vec<Guid>) -> EnumerateCountersetsReply {
        let (max_count, rtn_size) = (self.in_size, u32::try_from(guids.len()).unwrap_or(u32::MAX));
        let (elements, status) = if rtn_size <= max_count {
            (guids, Win32Error::ERROR_SUCCESS)
        } else {
            (Vec::new(), Win32Error::ERROR_NOT_ENOUGH_MEMORY)
        };
        let out_size = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        EnumerateCountersetsReply {
            out_size,
            rtn_size,
            guids: ConformantVarying { max_count, elements },
            status,
        }
    }
}

/// Where the bytes of a buffer begin in the stub of a [`SizedRequest`]'s reply.
pub const BUFFER_OFFSET: usize = 4 /* pdwOutSize */
    + 4 /* pdwRtnSize */
    + 4 /* max_count */
    + 4 /* offset */
    + 4 /* actual_count */;
