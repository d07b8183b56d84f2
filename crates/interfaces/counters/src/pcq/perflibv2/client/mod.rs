//! What a client of PerflibV2 does beyond single calls.

mod registration;

use core::ops::Range;

use dcerpc::Channel;
use rpc::ndr::{ConformantBytes, WideString};
use rpc::{Client, Message, Method, Reply, StatusOf};
use wire::{DecodeError, DecodeResult, Guid, Win32Error};

use crate::pcq::Error;
use crate::pcq::perflibv2::Change;
use crate::pcq::perflibv2::methods::{
    BUFFER_OFFSET, CloseQueryHandleRequest, EnumerateCountersetInstancesRequest, EnumerateCountersetsRequest,
    OpenQueryHandleRequest, PerflibV2, QueryCounterDataRequest, QueryCounterInfoRequest, SizedRequest,
    ValidateCountersRequest,
};
use crate::pcq::types::QueryHandle;
use crate::pcq::wire::{CounterIdentifier, DataHeader, InstanceInfo, Layout, QueryData, Reading};

/// What is done with the methods of [`PerflibV2`], on a channel that is bound to [`crate::pcq::SYNTAX_ID`] at PKT_PRIVACY.
///
/// Methods that return a buffer find its size themselves: they offer room, and where that is too small, as much
/// as the server asks for and some more, a few times over; where it does not say how much, twice as much up to the limit.
#[derive(Debug)]
pub struct PerflibV2Client<C> {
    client: Client<C, PerflibV2>,
    machine: WideString,
    limits: Limits,
}

impl<C: Channel> PerflibV2Client<C> {
    /// A client; `machine` is the host's name for providers.
    pub fn new(channel: C, machine: impl Into<String>) -> Self {
        Self { client: Client::new(channel), machine: WideString(machine.into()), limits: Limits::default() }
    }

    /// The same client with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub const fn channel(&mut self) -> &mut C {
        self.client.channel()
    }

    /// Gives the channel back.
    pub fn into_channel(self) -> C {
        self.client.into_channel()
    }

    /// Opnum 0: the countersets.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] when there are more than the 256 that the method can return.
    pub async fn enumerate_counter_set(&mut self) -> Result<Vec<Guid>, Error<C::Error>> {
        let (method, in_size) =
            (EnumerateCountersetsRequest::METHOD, EnumerateCountersetsRequest::IN_SIZE_MAX);
        let request = EnumerateCountersetsRequest { machine: self.machine.clone(), in_size };
        let reply = self.client.reply(&request).await?;
        match reply.status {
            Win32Error::ERROR_SUCCESS => Ok(reply.guids.elements),
            // As much room as the method allows was offered.
            status if is_too_small(status) => Err(Error::LimitExceeded {
                method,
                needed: reply.rtn_size.max(in_size.saturating_add(1)),
                unit: "countersets",
                limit: in_size,
            }),
            status => Err(failed(method, status)),
        }
    }

    /// Opnum 2: the instances of a counterset that are there now.
    ///
    /// # Errors
    /// `ERROR_WMI_INSTANCE_NOT_FOUND` when there are none.
    pub async fn enumerate_counter_set_instances(
        &mut self,
        set: Guid,
    ) -> Result<Vec<InstanceInfo>, Error<C::Error>> {
        let instances_max = self.limits.instances_max;
        let machine = self.machine.clone();
        let request = EnumerateCountersetInstancesRequest { machine, counterset: set, in_size: 0 };
        let buffer = self.call_sized(request, self.limits.first_reply_bytes).await?;
        buffer.decode(|bytes| InstanceInfo::decode_list(bytes, instances_max))
    }

    /// Opnum 3: opens a query.
    ///
    /// # Errors
    /// When the server lacks resources.
    pub async fn open_query_handle(&mut self) -> Result<Query, Error<C::Error>> {
        let opened = self.client.call(&OpenQueryHandleRequest { machine: self.machine.clone() }).await?;
        let handle = opened.query;
        Ok(Query { handle, data_bytes: self.limits.first_reply_bytes, layout: Layout::default() })
    }

    /// Opnum 4: closes a query.
    ///
    /// # Errors
    /// When the server does not know it any more.
    pub async fn close_query_handle(&mut self, query: Query) -> Result<(), Error<C::Error>> {
        self.client.call(&CloseQueryHandleRequest { query: query.handle }).await?;
        Ok(())
    }

    /// Opnum 5: what a query will fetch, with the index of each block.
    ///
    /// # Errors
    /// When the server does not know the query any more.
    pub async fn query_counter_info(
        &mut self,
        query: &Query,
    ) -> Result<Vec<CounterIdentifier>, Error<C::Error>> {
        let counters_max = self.limits.counters_max;
        let request = QueryCounterInfoRequest { query: query.handle, in_size: 0 };
        let buffer = self.call_sized(request, self.limits.first_reply_bytes).await?;
        buffer.decode(|bytes| CounterIdentifier::decode_list(bytes, counters_max))
    }

    /// Opnum 6: the values.
    ///
    /// # Errors
    /// A fault `nca_s_fault_context_mismatch` from the channel when the server dropped the query; open a new one.
    pub async fn query_counter_data(&mut self, query: &mut Query) -> Result<CounterData, Error<C::Error>> {
        let request = QueryCounterDataRequest { query: query.handle, in_size: 0 };
        let buffer = self.call_sized(request, query.data_bytes).await?;
        let needed = u32::try_from(buffer.bytes().len()).unwrap_or(u32::MAX);
        query.data_bytes = query.data_bytes.max(with_slack(needed, 0));
        let layout = &mut query.layout;
        let (header, reading) = buffer.decode(|bytes| {
            QueryData::parse_with(bytes, layout).map(|data| (*data.header(), data.reading()))
        })?;
        Ok(CounterData { buffer, header, reading })
    }

    /// Opnum 7: adds counters to a query or removes them, and answers them with their status, in order. Whether a host
    /// fills in their index is not known: ask [`PerflibV2Client::query_counter_info`] for that.
    ///
    /// # Errors
    /// If the whole call failed; a counter that could not be added has a status that says why.
    pub async fn validate_counters(
        &mut self,
        query: &Query,
        identifiers: &[CounterIdentifier],
        change: Change,
    ) -> Result<Vec<CounterIdentifier>, Error<C::Error>> {
        let method = ValidateCountersRequest::METHOD;
        let data = CounterIdentifier::encode_list(identifiers)
            .map_err(|source| rpc::Error::Request { method, source })?;
        let in_size = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let data = ConformantBytes(data.into());
        let request = ValidateCountersRequest { query: query.handle, in_size, data, change };
        let stub = self.client.stub(&request).await?;
        let reply = self.client.decode(&request, &stub)?;
        if !reply.status.is_success() {
            return Err(failed(method, reply.status));
        }
        let count = u32::try_from(identifiers.len()).unwrap_or(u32::MAX);
        let answered = CounterIdentifier::decode_list(&reply.data.0, count);
        answered
            .and_then(|answered| same_count(answered, identifiers.len()))
            .map_err(|source| Error::Buffer { method, source })
    }

    /// Calls with room for `in_size` bytes, and with more as long as the server asks for more.
    async fn call_sized<R>(&mut self, mut request: R, in_size: u32) -> Result<Buffer, Error<C::Error>>
    where
        R: SizedRequest<Interface = PerflibV2> + Sync + Send,
    {
        let method = R::METHOD;
        let limit = self.limits.reply_bytes_max.min(*R::IN_SIZE.end());
        let mut room = Room::new(in_size, limit, self.limits.retries_max);
        let mut calls = 0;
        loop {
            calls += 1;
            request.set_in_size(room.offered);
            let stub = self.client.stub(&request).await?;
            let reply = self.client.decode(&request, &stub)?;
            let status: StatusOf<R> = reply.status();
            let (rtn_size, bytes) = R::buffer(&reply);
            let data = BUFFER_OFFSET..BUFFER_OFFSET + bytes.len();
            match status {
                Win32Error::ERROR_SUCCESS => {
                    drop(reply);
                    return Ok(Buffer { method, stub, data });
                }
                status if !is_too_small(status) => return Err(failed(method, status)),
                status => match room.grow(status, rtn_size) {
                    Growth::Again => {}
                    Growth::AboveLimit => {
                        let needed = rtn_size;
                        return Err(Error::LimitExceeded { method, needed, unit: "bytes", limit });
                    }
                    Growth::GiveUp => return Err(Error::Unsettled { method, calls }),
                },
            }
        }
    }
}

fn failed<E: core::error::Error + 'static>(method: &'static Method, status: Win32Error) -> Error<E> {
    rpc::Error::Status { method, status }.into()
}

fn same_count(answered: Vec<CounterIdentifier>, asked: usize) -> DecodeResult<Vec<CounterIdentifier>> {
    if answered.len() == asked {
        Ok(answered)
    } else {
        let (context, reason) =
            (ValidateCountersRequest::METHOD.name, "not as many identifiers as were sent");
        Err(DecodeError::invalid_field(context, "lpData", 0, reason))
    }
}

/// What a [`PerflibV2Client`](crate::pcq::perflibv2::client::PerflibV2Client) accepts from a server. What is above is an error before memory is taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum calls of one method whose buffer is too small.
    pub retries_max: u32,
    /// Bytes in one buffer.
    pub reply_bytes_max: u32,
    /// Counters in one counterset, and counters in one query.
    pub counters_max: u32,
    /// Instances of one counterset.
    pub instances_max: u32,
    /// Room offered in the first call of a method, in bytes; saves the second call mostly.
    pub first_reply_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            retries_max: 4,
            reply_bytes_max: 64 << 20,
            counters_max: 1 << 13,
            instances_max: 1 << 17,
            first_reply_bytes: 64 << 10,
        }
    }
}

/// A method's buffer, still in its stub.
#[derive(Clone, Debug)]
struct Buffer {
    method: &'static Method,
    stub: Vec<u8>,
    // INVARIANT: within the stub.
    data: Range<usize>,
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        &self.stub[self.data.clone()]
    }

    fn decode<T, E: core::error::Error + 'static>(
        &self,
        decode: impl FnOnce(&[u8]) -> DecodeResult<T>,
    ) -> Result<T, Error<E>> {
        decode(self.bytes()).map_err(|source| Error::Buffer { method: self.method, source })
    }
}

/// A query that is open at the server. It dies with the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    handle: QueryHandle,
    /// Room for the next data, so that a steady poll is one call.
    data_bytes: u32,
    layout: Layout,
}

impl Query {
    /// Its name on the wire.
    #[must_use]
    pub const fn handle(&self) -> QueryHandle {
        self.handle
    }

    /// What the data so far proved about how the host lays them out.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The same query, for a host whose earlier data proved `layout`.
    #[must_use]
    pub const fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }
}

/// The reply of `PerflibV2QueryCounterData`, owned; the data are read in place.
#[derive(Clone, Debug)]
pub struct CounterData {
    buffer: Buffer,
    // INVARIANT: what `QueryData::parse_with` found in the buffer; so with the reading.
    header: DataHeader,
    reading: Reading,
}

impl CounterData {
    /// The clocks, and the blocks.
    #[must_use]
    pub fn data(&self) -> QueryData<'_> {
        QueryData::parsed_before(self.header, self.reading, self.buffer.bytes())
    }

    /// The bytes as they came.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }
}

/// Whether a method says that the client's buffer is too small. The document has `ERROR_NOT_ENOUGH_MEMORY` alone; the
/// other two are what services of Windows say in the same case.
const fn is_too_small(status: Win32Error) -> bool {
    matches!(
        status,
        Win32Error::ERROR_NOT_ENOUGH_MEMORY
            | Win32Error::ERROR_INSUFFICIENT_BUFFER
            | Win32Error::ERROR_MORE_DATA
    )
}

/// How much room a method is offered, from call to call.
struct Room {
    /// In the next call. INVARIANT: at most the limit.
    offered: u32,
    limit: u32,
    retries: u32,
    retries_max: u32,
}

/// What comes after a call that had too little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// Another call with more room.
    Again,
    /// The server needs more than the limit.
    AboveLimit,
    /// The server was asked often enough, or with as much as the limit allows.
    GiveUp,
}

impl Room {
    /// Offers `in_size` first, or the limit.
    const fn new(in_size: u32, limit: u32, retries_max: u32) -> Self {
        let offered = if in_size < limit { in_size } else { limit };
        Self { offered, limit, retries: 0, retries_max }
    }

    /// Makes room after a call that was answered with `status`, and with `rtn_size` as what it needs.
    fn grow(&mut self, status: Win32Error, rtn_size: u32) -> Growth {
        if status == Win32Error::ERROR_MORE_DATA {
            // The size that comes with it means nothing, so only the limit ends the search.
            if self.offered == self.limit {
                return Growth::GiveUp;
            }
            self.offered = self.offered.saturating_mul(2).max(GUESS_BYTES_MIN).min(self.limit);
        } else if rtn_size > self.limit {
            return Growth::AboveLimit;
        } else if self.retries == self.retries_max {
            return Growth::GiveUp;
        } else {
            self.offered = with_slack(rtn_size.max(self.offered), self.retries).min(self.limit);
            self.retries += 1;
        }
        Growth::Again
    }
}

/// A buffer size that still fits when instances have come meanwhile; each time that it did not, the slack doubles.
fn with_slack(size: u32, attempt: u32) -> u32 {
    let slack = (size / 8).saturating_mul(1 << attempt.min(8));
    size.saturating_add(slack).saturating_add(1024)
}

/// Where a search without a size begins at least.
const GUESS_BYTES_MIN: u32 = 1024;
