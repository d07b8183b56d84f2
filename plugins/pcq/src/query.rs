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
    /// By index of the block: which of the watched countersets it is.
    blocks: Vec<Option<usize>>,
}

/// A counterset to add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addition {
    /// Which of the watched ones.
    pub(crate) watched: usize,
    /// What the host knows it by.
    pub(crate) guid: Guid,
    /// Whether its instances have names.
    pub(crate) instance_type: InstanceType,
}

/// A counterset that the host did not take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// Which of the watched ones.
    pub(crate) watched: usize,
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
        let form = |addition: &Addition| addition.instance_type.is_multiple();
        let refused = self.add(client, additions, form).await?;
        // Documents do not agree on which of the aggregate types take a name: the other form may do.
        let may_do = |refusal: &&Refusal| {
            let addition = additions.iter().find(|addition| addition.watched == refusal.watched);
            addition.is_some_and(|addition| addition.instance_type.is_aggregate())
        };
        let again: Vec<usize> = refused.iter().filter(may_do).map(|refusal| refusal.watched).collect();
        if again.is_empty() {
            return Ok(refused);
        }
        let again: Vec<Addition> =
            additions.iter().filter(|addition| again.contains(&addition.watched)).copied().collect();
        let still = self.add(client, &again, |addition| !form(addition)).await?;
        self.find_blocks(client, additions).await?;
        // The first answer says more than the one to a guess.
        let is_still = |refusal: &Refusal| {
            let was_tried = again.iter().any(|addition| addition.watched == refusal.watched);
            !was_tried || still.iter().any(|other| other.watched == refusal.watched)
        };
        Ok(refused.into_iter().filter(is_still).collect())
    }

    async fn add<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        additions: &[Addition],
        has_name: impl Fn(&Addition) -> bool,
    ) -> Result<Vec<Refusal>, C> {
        let identifiers: Vec<_> = additions
            .iter()
            .map(|addition| match has_name(addition) {
                true => CounterIdentifier::all_instances(addition.guid),
                false => CounterIdentifier::single_instance(addition.guid),
            })
            .collect();
        let answered = client.validate_counters(&self.query, &identifiers, Change::Add).await?;
        let mut refusals = Vec::new();
        for (addition, answer) in additions.iter().zip(answered) {
            if answer.status.is_success() {
                self.note(answer.index, addition.watched);
            } else {
                refusals.push(Refusal { watched: addition.watched, status: answer.status });
            }
        }
        Ok(refusals)
    }

    /// Asks for the index of each block: adding a counterset may have moved those that were there.
    async fn find_blocks<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        additions: &[Addition],
    ) -> Result<(), C> {
        self.blocks.clear();
        for identifier in client.query_counter_info(&self.query).await? {
            let addition = additions.iter().find(|addition| addition.guid == identifier.counter_set_guid);
            if let Some(addition) = addition {
                self.note(identifier.index, addition.watched);
            }
        }
        Ok(())
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

    /// Which of the watched countersets a block is.
    #[must_use]
    pub(crate) fn watched_of(&self, block: u32) -> Option<usize> {
        self.blocks.get(usize::try_from(block).ok()?).copied().flatten()
    }

    /// Whether the host took no counterset.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn note(&mut self, block: u32, watched: usize) {
        // A host that numbers its blocks beyond reason gets them dropped, not memory for them.
        let Some(block) = usize::try_from(block).ok().filter(|block| *block < BLOCKS_MAX) else { return };
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        if let Some(place) = self.blocks.get_mut(block) {
            *place = Some(watched);
        }
    }
}

/// More countersets than any host has.
const BLOCKS_MAX: usize = 1 << 16;
