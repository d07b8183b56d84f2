//! What the instances of an aggregate counterset come to: the client adds them up ([MS-PCQ] 2.2.4.1), and a path without an
//! instance means that.

use std::collections::HashMap;

use counter_types::aggregate::{Accumulator, Share};
use counter_types::{Selection, plan_of};
use ms_pcq::types::CounterId;

use super::plan::{Instance, PathPlan, is_aggregated};
use crate::survey::Counterset;

/// The aggregates of a plan, from reply to reply.
#[derive(Debug, Default)]
pub struct Aggregates(HashMap<usize, Aggregate>);

/// That of one counterset.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// By what is added up.
    accumulators: Vec<(CounterId, Accumulator)>,
    shares: HashMap<Instance, InstanceShares>,
    round: u64,
    perf_time: u64,
}

#[derive(Debug)]
struct InstanceShares {
    round: u64,
    shares: Box<[Share]>,
}

impl Aggregates {
    /// That of a counterset of `plan`, if a path means it.
    pub(super) fn of(&mut self, plan: &PathPlan, counterset: usize) -> Option<&mut Aggregate> {
        let is_meant = plan.matches.iter().any(|one| one.counterset == counterset && one.is_aggregate());
        let known = plan.countersets.get(counterset).filter(|known| is_meant && is_aggregated(known))?;
        Some(self.0.entry(counterset).or_insert_with(|| Aggregate::new(known)))
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

impl Aggregate {
    fn new(counterset: &Counterset) -> Self {
        let find = |id: CounterId| counterset.counters.iter().find(|counter| counter.info.counter_id == id);
        let infos: Vec<_> = counterset.counters.iter().map(|counter| counter.info).collect();
        let name_of = |id| find(id).map(|counter| counter.name.as_str());
        let mut accumulators: Vec<(CounterId, Accumulator)> = Vec::new();
        for family in plan_of(&counterset.name.text, &infos, name_of) {
            let is_known = accumulators.iter().any(|(source, _)| *source == family.source);
            let made = find(family.item).filter(|_| !is_known).and_then(|counter| {
                Accumulator::new(&counter.info, &family.exposition, counterset.instance_type)
            });
            accumulators.extend(made.map(|made| (family.source, made)));
        }
        Self { accumulators, shares: HashMap::new(), round: 0, perf_time: 0 }
    }

    /// Begins a reply. A host whose clock has gone back was started anew, and its counters with it.
    pub(super) fn begin(&mut self, perf_time: u64) {
        self.round += 1;
        self.accumulators.iter_mut().for_each(|(_, accumulator)| accumulator.begin());
        if perf_time < std::mem::replace(&mut self.perf_time, perf_time) {
            let shares = self.shares.values_mut().flat_map(|one| &mut one.shares);
            shares.for_each(Share::begin_anew);
        }
    }

    /// Takes an instance, whose values `at` has. One that sums up others is none.
    pub(super) fn add(&mut self, instance: &Instance, at: impl Fn(CounterId) -> Option<u64>) {
        if Selection::is_total(&instance.name) {
            return;
        }
        if !self.shares.contains_key(instance) {
            let shares = vec![Share::default(); self.accumulators.len()].into();
            self.shares.insert(instance.clone(), InstanceShares { round: 0, shares });
        }
        let Some(known) = self.shares.get_mut(instance) else { return };
        known.round = self.round;
        for ((source, accumulator), share) in self.accumulators.iter_mut().zip(&mut known.shares) {
            if let Some(value) = at(*source) {
                accumulator.add(share, value);
            }
        }
    }

    /// Ends a reply. Returns what its instances come to; nothing where there are none.
    pub(super) fn end(&mut self) -> Option<impl Iterator<Item = (CounterId, u64)> + '_> {
        let Self { accumulators, shares, round, .. } = self;
        shares.retain(|_, one| {
            let is_there = one.round == *round;
            if !is_there {
                let leaving = accumulators.iter_mut().zip(&one.shares);
                leaving.for_each(|((_, accumulator), share)| accumulator.leave(share));
            }
            is_there
        });
        let all = accumulators.iter().filter_map(|(source, accumulator)| Some((*source, accumulator.raw()?)));
        (!shares.is_empty()).then_some(all)
    }
}
