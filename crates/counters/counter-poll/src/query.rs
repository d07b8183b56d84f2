//! The query that is open at a host: each counterset once, by wildcard.

use counters::pcq::perflibv2::{BlockCountMismatch, BlockMapping, Change, CounterData, Query};
use counters::pcq::wire::{Block, Body, CounterIdentifier, Layout, QueryData};
use rpc::Error as Rpc;
use wire::Win32Error;

use super::registration::{Client, Error, HostChannel};
use crate::Addition;
use crate::forms::{FormAnswer, Forms};
use crate::registration::Trouble;

/// A query with what its blocks are.
#[derive(Debug)]
pub struct OpenQuery {
    query: Query,
    /// What the host took, with the identifier that it took it by.
    taken: Vec<(Addition, CounterIdentifier)>,
    /// Which of those each block is.
    mapping: BlockMapping,
}

/// A counterset of which the query gives nothing.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Which of the watched ones.
    pub watched: usize,
    pub trouble: Trouble,
}

impl OpenQuery {
    /// Opens a query without countersets at a host whose earlier data proved `layout`.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn open<C: HostChannel>(client: &mut Client<C>, layout: Layout) -> Result<Self, Error<C>> {
        let query = client.open_query_handle().await?.with_layout(layout);
        Ok(Self { query, taken: Vec::new(), mapping: BlockMapping::default() })
    }

    /// Adds countersets in one call, finds out where the block of each is, and answers those of which nothing will
    /// come. Once for each query: adding more may move the blocks of those that are there.
    ///
    /// # Errors
    /// When a call fails.
    pub async fn fill<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        additions: &[Addition],
        forms: &mut Forms,
    ) -> Result<Vec<Refusal>, Error<C>> {
        let mut refusals = self.add(client, additions, |addition| forms.has_name(addition)).await?;
        let was_refused =
            |one: &&Addition| refusals.iter().any(|(refused, _)| refused.watched == one.watched);
        let again = additions.iter().filter(|one| one.may_take_other_form()).filter(was_refused);
        let again: Vec<Addition> = again.copied().collect();
        if !again.is_empty() {
            // The first answer says more than the one to a guess.
            let still = self.add(client, &again, |addition| !forms.has_name(addition)).await?;
            let is_still = |watched| still.iter().any(|(refused, _)| refused.watched == watched);
            let taken: Vec<Addition> =
                again.into_iter().filter(|addition| !is_still(addition.watched)).collect();
            refusals.retain(|(refused, _)| taken.iter().all(|addition| addition.watched != refused.watched));
            taken.iter().for_each(|addition| forms.exchange(addition));
        }
        let refused = refusals.into_iter().map(|(addition, status)| Refusal {
            watched: addition.watched,
            trouble: Trouble::Refused(status),
        });
        let mut refused: Vec<Refusal> = refused.collect();
        refused.extend(self.find_blocks(client).await?);
        Ok(refused)
    }

    async fn add<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        additions: &[Addition],
        has_name: impl Fn(&Addition) -> bool,
    ) -> Result<Vec<(Addition, Win32Error)>, Error<C>> {
        let identifiers: Vec<_> = additions
            .iter()
            .map(|addition| match has_name(addition) {
                true => CounterIdentifier::all_instances(addition.guid),
                false => CounterIdentifier::single_instance(addition.guid),
            })
            .collect();
        let answered = client.validate_counters(&self.query, &identifiers, Change::Add).await?;
        let mut refusals = Vec::new();
        for ((addition, identifier), answer) in additions.iter().zip(identifiers).zip(answered) {
            if answer.status.is_success() {
                self.taken.push((*addition, identifier));
            } else {
                refusals.push((*addition, answer.status));
            }
        }
        Ok(refusals)
    }

    /// Asks where the block of each counterset is. Only the answer to this says so: a host need not fill in the index
    /// when it adds, and orders the blocks as it likes.
    async fn find_blocks<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
    ) -> Result<Vec<Refusal>, Error<C>> {
        let identifiers: Vec<_> = self.taken.iter().map(|(_, identifier)| identifier.clone()).collect();
        self.mapping = match client.query_counter_info(&self.query).await {
            Ok(listed) => BlockMapping::new(&identifiers, &listed),
            // There is nothing to tell apart.
            Err(
                counters::pcq::Error::Rpc(Rpc::Status { .. } | Rpc::Stub { .. })
                | counters::pcq::Error::Buffer { .. },
            ) if identifiers.len() == 1 => BlockMapping::single(),
            Err(error) => return Err(error),
        };
        let problems = self.mapping.problems().iter();
        Ok(problems
            .filter_map(|(which, problem)| {
                let (addition, _) = self.taken.get(*which)?;
                Some(Refusal { watched: addition.watched, trouble: Trouble::Malformed(problem.to_string()) })
            })
            .collect())
    }

    /// Closes it. A host keeps queries that nobody closes for as long as the connection lives.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn close<C: HostChannel>(self, client: &mut Client<C>) -> Result<(), Error<C>> {
        client.close_query_handle(self.query).await
    }

    /// Fetches the values: one call, as long as their size does not grow by much.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn fetch<C: HostChannel>(&mut self, client: &mut Client<C>) -> Result<CounterData, Error<C>> {
        client.query_counter_data(&mut self.query).await
    }

    /// What the data proved about how the host lays them out.
    pub const fn layout(&self) -> Layout {
        self.query.layout()
    }

    /// Whether the data are those of this query.
    ///
    /// # Errors
    /// When they have another number of blocks.
    pub fn check(&self, data: &QueryData<'_>) -> Result<(), BlockCountMismatch> {
        self.mapping.check_count(data.header().num_counters)
    }

    /// What the data say of countersets whose form is not proven.
    #[must_use]
    pub fn form_answers(&self, data: &QueryData<'_>, forms: &Forms) -> Vec<FormAnswer> {
        // In most queries there is none, and no block is looked at twice.
        if self.check(data).is_err() || !self.additions().any(|addition| forms.is_unproven(addition)) {
            return Vec::new();
        }
        let answer = |block: Block<'_>| {
            let addition = *self.addition_of(block.index).filter(|addition| forms.is_unproven(addition))?;
            let has_data = !matches!(block.body, Body::ErrorReturn);
            let is_about_form = has_data || block.status == Win32Error::ERROR_NO_DATA;
            is_about_form.then_some(FormAnswer { addition, has_data })
        };
        data.blocks().flatten().filter_map(answer).collect()
    }

    /// Which of the watched countersets a block is.
    #[must_use]
    pub fn watched_of(&self, block: u32) -> Option<usize> {
        self.addition_of(block).map(|addition| addition.watched)
    }

    /// What a block was added as.
    pub fn addition_of(&self, block: u32) -> Option<&Addition> {
        let which = self.mapping.identifier_of(block)?;
        self.taken.get(which).map(|(addition, _)| addition)
    }

    /// What the host took.
    pub fn additions(&self) -> impl Iterator<Item = &Addition> {
        self.taken.iter().map(|(addition, _)| addition)
    }

    /// Whether no block will be that of a counterset.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapping.is_empty()
    }
}
