//! The query that is open at a host: each counterset once, by wildcard.

use dcerpc::Channel;
use ms_dtyp::{Guid, Win32Error};
use ms_pcq::perflibv2::{Change, CounterData, PerflibV2Client, Query};
use ms_pcq::types::InstanceType;
use ms_pcq::wire::CounterIdentifier;

/// A query with what its blocks are.
#[derive(Debug)]
pub(crate) struct OpenQuery {
    query: Query,
    /// By index of the block: which of the wanted countersets it is.
    blocks: Vec<Option<usize>>,
}

/// A counterset to add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition {
    /// Which of the wanted ones.
    pub(crate) wanted: usize,
    /// What the host knows it by.
    pub(crate) guid: Guid,
    /// Whether its instances have names.
    pub(crate) instance_type: InstanceType,
}

/// A counterset that the host did not take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// Which of the wanted ones.
    pub(crate) wanted: usize,
    /// Why.
    pub(crate) status: Win32Error,
}

type Result<T, C> = std::result::Result<T, ms_pcq::Error<<C as Channel>::Error>>;

impl OpenQuery {
    /// Opens a query without countersets.
    ///
    /// # Errors
    /// When the call fails.
    pub(crate) async fn open<C: Channel>(client: &mut PerflibV2Client<C>) -> Result<Self, C> {
        Ok(Self { query: client.open_query_handle().await?, blocks: Vec::new() })
    }

    /// Adds countersets in one call, and answers those that the host refused. Once for each query: adding more may
    /// move the blocks of those that are there.
    ///
    /// # Errors
    /// When the call fails.
    pub(crate) async fn fill<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        additions: &[Addition],
    ) -> Result<Vec<Refusal>, C> {
        let identifiers: Vec<_> = additions.iter().map(identifier).collect();
        let answered = client.validate_counters(&self.query, &identifiers, Change::Add).await?;
        let mut refusals = Vec::new();
        for (addition, answer) in additions.iter().zip(answered) {
            if answer.status.is_success() {
                self.note(answer.index, addition.wanted);
            } else {
                refusals.push(Refusal { wanted: addition.wanted, status: answer.status });
            }
        }
        Ok(refusals)
    }

    /// Closes it. A host keeps queries that nobody closes for as long as the connection lives.
    ///
    /// # Errors
    /// When the call fails.
    pub(crate) async fn close<C: Channel>(self, client: &mut PerflibV2Client<C>) -> Result<(), C> {
        client.close_query_handle(self.query).await
    }

    /// Fetches the values: one call, as long as their size does not grow by much.
    ///
    /// # Errors
    /// When the call fails.
    pub(crate) async fn fetch<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
    ) -> Result<CounterData, C> {
        client.query_counter_data(&mut self.query).await
    }

    /// Which of the wanted countersets a block is.
    #[must_use]
    pub(crate) fn wanted_of(&self, block: u32) -> Option<usize> {
        self.blocks.get(usize::try_from(block).ok()?).copied().flatten()
    }

    /// Whether the host took no counterset.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn note(&mut self, block: u32, wanted: usize) {
        // A host that numbers its blocks beyond reason gets them dropped, not memory for them.
        let Some(block) = usize::try_from(block).ok().filter(|block| *block < BLOCKS_MAX) else { return };
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        if let Some(place) = self.blocks.get_mut(block) {
            *place = Some(wanted);
        }
    }
}

/// More countersets than any host has.
const BLOCKS_MAX: usize = 1 << 16;

fn identifier(addition: &Addition) -> CounterIdentifier {
    if addition.instance_type == InstanceType::SINGLE {
        CounterIdentifier::single_instance(addition.guid)
    } else {
        CounterIdentifier::all_instances(addition.guid)
    }
}
