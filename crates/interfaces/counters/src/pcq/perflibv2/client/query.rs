use super::buffer::Buffer;
use crate::pcq::types::QueryHandle;
use crate::pcq::wire::{DataHeader, Layout, QueryData, Reading};

/// A query that is open at the server. It dies with the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    pub(super) handle: QueryHandle,
    /// Room for the next data, so that a steady poll is one call.
    pub(super) data_bytes: u32,
    pub(super) layout: Layout,
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
    pub(super) buffer: Buffer,
    // INVARIANT: what `QueryData::parse_with` found in the buffer; so with the reading.
    pub(super) header: DataHeader,
    pub(super) reading: Reading,
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
