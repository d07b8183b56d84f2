use counters::pcq::perflibv2::{BlockMapping, Change, CounterData, MappingProblem, Query};
use counters::pcq::wire::CounterIdentifier;

use super::PathPlan;
use crate::channel::{Client, Error, HostChannel};

/// A query with the countersets of a [`PathPlan`], open at a host.
#[derive(Debug)]
pub struct PathQuery {
    query: Query,
    /// Which counterset of the plan, and what was asked for of it.
    pub(super) added: Vec<(usize, CounterIdentifier)>,
    /// Which of those each block is.
    pub(super) mapping: BlockMapping,
    is_whole: bool,
}

impl PathQuery {
    /// Opens a query with what `plan` needs, as far as the host takes it: see [`is_empty`](Self::is_empty).
    ///
    /// # Errors
    /// When a call fails.
    pub async fn open<C: HostChannel>(client: &mut Client<C>, plan: &PathPlan) -> Result<Self, Error<C>> {
        let query = client.open_query_handle().await?;
        let (countersets, identifiers): (Vec<usize>, Vec<_>) = plan.identifiers().into_iter().unzip();
        let wanted = identifiers.len();
        let answered = client.validate_counters(&query, &identifiers, Change::Add).await?;
        let all = countersets.into_iter().zip(identifiers).zip(answered);
        let taken = all.filter(|(_, answer)| answer.status.is_success());
        let added: Vec<(usize, CounterIdentifier)> = taken.map(|(asked_for, _)| asked_for).collect();
        let identifiers: Vec<_> = added.iter().map(|(_, identifier)| identifier.clone()).collect();
        let mapping = BlockMapping::new(&identifiers, &client.query_counter_info(&query).await?);
        let is_whole = added.len() == wanted;
        Ok(Self { query, added, mapping, is_whole })
    }

    /// Whether no block will be that of a counterset.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapping.is_empty()
    }

    /// Whether the host took all that the plan needs. What it refuses it had when it was asked what it has.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Why blocks cannot be told apart from others, each with the counterset of the plan that it may be.
    pub fn problems(&self) -> impl Iterator<Item = (usize, &MappingProblem)> {
        let problems = self.mapping.problems().iter();
        problems.filter_map(|(which, problem)| Some((self.added.get(*which)?.0, problem)))
    }

    /// Fetches the values.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn fetch<C: HostChannel>(&mut self, client: &mut Client<C>) -> Result<CounterData, Error<C>> {
        client.query_counter_data(&mut self.query).await
    }

    /// Closes it.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn close<C: HostChannel>(self, client: &mut Client<C>) -> Result<(), Error<C>> {
        client.close_query_handle(self.query).await
    }
}
