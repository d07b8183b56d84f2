//! What the instances of an aggregate counterset come to: the client adds them up ([MS-PCQ] 2.2.4.1), and a path without an
//! instance means that.

use std::collections::HashMap;

use counter_types::aggregate::{Accumulator, Share};
use counter_types::{RawClocks, Selection, plan_of};
use counters::pcq::types::{CounterId, InstanceType};
use counters::pcq::wire::CounterRegInfo;

use super::plan::{Instance, PathPlan, is_aggregated};
use crate::Provider;
use crate::survey::Counterset;

/// The aggregates of the countersets of a plan, from reply to reply.
#[derive(Debug, Default)]
pub struct Aggregates(HashMap<Provider, Aggregate>);

/// That of one counterset.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// What was registered when it began.
    registered: (InstanceType, Vec<CounterRegInfo>),
    /// By what is added up.
    accumulators: Vec<(CounterId, Accumulator)>,
    shares: HashMap<Instance, InstanceShares>,
    round: u64,
    /// Those of the last reply.
    clocks: RawClocks,
}

#[derive(Debug)]
struct InstanceShares {
    round: u64,
    shares: Box<[Share]>,
}

impl Aggregates {
    /// That of a counterset of `plan`, if a path means it.
    pub(super) fn of(&mut self, plan: &PathPlan, counterset: usize) -> Option<&mut Aggregate> {
        let known = meant(plan, counterset)?;
        Some(self.0.entry(known.provider).or_insert_with(|| Aggregate::new(known)))
    }

    /// The next replies are those of `plan`. A counterset that is still the same goes on.
    pub(super) fn keep(&mut self, plan: &PathPlan) {
        let meant: HashMap<Provider, &Counterset> = (0..plan.countersets.len())
            .filter_map(|counterset| meant(plan, counterset))
            .map(|counterset| (counterset.provider, counterset))
            .collect();
        self.0.retain(|provider, aggregate| {
            meant.get(provider).is_some_and(|counterset| aggregate.registered == registered(counterset))
        });
    }
}

/// A counterset of `plan` of which a path means the aggregate.
fn meant(plan: &PathPlan, counterset: usize) -> Option<&Counterset> {
    let is_meant = plan.matches.iter().any(|one| one.counterset == counterset && one.is_aggregate());
    plan.countersets.get(counterset).filter(|known| is_meant && is_aggregated(known))
}

fn registered(counterset: &Counterset) -> (InstanceType, Vec<CounterRegInfo>) {
    (counterset.instance_type, counterset.counters.iter().map(|counter| counter.info).collect())
}

impl Aggregate {
    fn new(counterset: &Counterset) -> Self {
        let find = |id: CounterId| counterset.counters.iter().find(|counter| counter.info.counter_id == id);
        let registered = registered(counterset);
        let name_of = |id| find(id).map(|counter| counter.name.as_str());
        let mut accumulators: Vec<(CounterId, Accumulator)> = Vec::new();
        for family in plan_of(&counterset.name.text, &registered.1, name_of) {
            let is_known = accumulators.iter().any(|(source, _)| *source == family.source);
            let made = find(family.item).filter(|_| !is_known).and_then(|counter| {
                Accumulator::new(&counter.info, &family.exposition, counterset.instance_type)
            });
            accumulators.extend(made.map(|made| (family.source, made)));
        }
        Self { registered, accumulators, shares: HashMap::new(), round: 0, clocks: RawClocks::default() }
    }

    /// Begins a reply, which has no clocks if it has no instances. Where its clocks do not continue the last ones the host was
    /// restarted, or another one has its name, and the aggregate is that of the new values alone.
    pub(super) fn begin(&mut self, clocks: Option<RawClocks>) {
        self.round += 1;
        let clocks = clocks.unwrap_or(self.clocks);
        if !clocks.continue_from(&std::mem::replace(&mut self.clocks, clocks)) {
            self.accumulators.iter_mut().for_each(|(_, accumulator)| accumulator.begin_anew());
            let shares = self.shares.values_mut().flat_map(|one| &mut one.shares);
            shares.for_each(Share::begin_anew);
        }
        self.accumulators.iter_mut().for_each(|(_, accumulator)| accumulator.begin());
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

#[cfg(test)]
mod tests {
    use counters::pcq::types::{AggregateFunc, CounterType};
    use wire::Guid;

    use super::*;
    use crate::registration::{Counter, Name};

    const READ: CounterId = CounterId(0);

    fn clocks(uptime_s: u64, second: u64) -> Option<RawClocks> {
        const SECOND: u64 = 10_000_000;
        const YEAR_2026: u64 = 134_116_992_000_000_000;
        let time_100ns = YEAR_2026 + second * SECOND;
        Some(RawClocks {
            perf_time: uptime_s * SECOND,
            perf_freq: SECOND,
            time_100ns,
            ..RawClocks::default()
        })
    }

    #[test]
    fn a_sum_falls_only_where_the_host_is_another_one() {
        let info = CounterRegInfo {
            aggregate_func: AggregateFunc::TOTAL,
            ..CounterRegInfo::new(READ, CounterType::PERF_COUNTER_BULK_COUNT)
        };
        let counterset = Counterset {
            provider: Provider::V2(Guid::default()),
            name: Name { text: "Workers Together".to_owned(), is_english: true, trouble: None },
            local_name: None,
            help: String::new(),
            instance_type: InstanceType::GLOBAL_AGGREGATE,
            counters: vec![Counter {
                info,
                name: "Bytes Read/sec".to_owned(),
                local_name: None,
                help: String::new(),
            }],
        };
        let mut aggregate = Aggregate::new(&counterset);
        let mut sum = |clocks, values: &[(&str, u64)]| {
            aggregate.begin(clocks);
            for (name, value) in values {
                let instance = Instance { name: (*name).to_owned(), id: None, index: 0 };
                aggregate.add(&instance, |_| Some(*value));
            }
            aggregate.end().map(|mut sums| sums.next().unwrap().1)
        };
        assert_eq!(sum(clocks(9_000, 0), &[("one", 100), ("two", 50)]), Some(150));
        assert_eq!(sum(clocks(9_015, 15), &[("one", 110)]), Some(160), "one has gone");
        assert_eq!(sum(None, &[]), None, "no instance is there");
        assert_eq!(sum(clocks(9_045, 45), &[("one", 7)]), Some(167), "it is a new one");
        assert_eq!(sum(clocks(9_060, 3_600), &[("one", 8)]), Some(168), "the time of day was set");
        assert_eq!(sum(clocks(80_000, 3_630), &[("one", 9)]), Some(9), "another host that is up for longer");
        assert_eq!(sum(clocks(20, 3_660), &[("one", 10)]), Some(10), "a start of the host");
    }
}
