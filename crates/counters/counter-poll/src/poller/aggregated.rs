//! What the instances of an aggregate counterset come to: one series a family, added up here.

use counter_types::aggregate::{Accumulator, Scope, Share};
use counter_types::{Kind, RawClocks};

use super::{Column, FamilyGroup, NewSeries, PolledFamily, SeriesIds, SeriesSink};
use crate::Counterset;

/// The aggregates of one counterset.
#[derive(Debug)]
pub(super) struct Aggregated<I: SeriesIds> {
    /// Whether instances that nobody chose are in it.
    pub(super) scope: Scope,
    /// Since when it counts, where that is still to be sent; else 0.
    anew_since: i64,
    families: Vec<AggregatedFamily<I>>,
}

#[derive(Debug)]
struct AggregatedFamily<I: SeriesIds> {
    /// Its place among the columns.
    column: usize,
    id: I::Family,
    series: Option<I::Series>,
    accumulator: Accumulator,
    exposition: counter_types::Exposition,
    /// Those of the last instance.
    clocks: RawClocks,
}

impl<I: SeriesIds> Aggregated<I> {
    /// Registers families and series; nothing where the counterset is none that a client adds up.
    pub(super) fn new<S: SeriesSink<I>>(
        counterset: &Counterset,
        families: &[counter_types::Family],
        output: &mut S,
    ) -> Option<Self> {
        let scope = Scope::of(counterset.instance_type)?;
        let accumulator_of = |(column, family): (usize, &counter_types::Family)| {
            let item = counterset.counters.iter().find(|counter| counter.info.counter_id == family.item)?;
            let made = Accumulator::new(&item.info, &family.exposition, counterset.instance_type)?;
            Some((column, *family, made))
        };
        let made: Vec<_> = families.iter().enumerate().filter_map(accumulator_of).collect();
        let offered = made.iter().map(|(_, family, accumulator)| PolledFamily {
            family: *family,
            is_integer: family.exposition.is_integer() && accumulator.is_integer(),
        });
        let offered: Vec<PolledFamily> = offered.collect();
        let ids = output.register_families(counterset, FamilyGroup::Aggregate, &offered);
        let accepted = made.into_iter().zip(ids).filter_map(|(made, id)| Some((made, id?)));
        let mut families: Vec<AggregatedFamily<I>> = accepted
            .map(|((column, family, accumulator), id)| AggregatedFamily {
                column,
                id,
                series: None,
                accumulator,
                exposition: family.exposition,
                clocks: RawClocks::default(),
            })
            .collect();
        let offered: Vec<NewSeries<'_, I>> =
            families.iter().map(|family| NewSeries { family: family.id, labels: &[], start: None }).collect();
        let series = output.register_series(&offered);
        families.iter_mut().zip(series).for_each(|(family, series)| family.series = series);
        Some(Self { scope, anew_since: 0, families })
    }

    pub(super) fn families(&self) -> impl Iterator<Item = I::Family> {
        self.families.iter().map(|family| family.id)
    }

    /// Room for what one instance contributes.
    pub(super) fn shares(&self) -> Box<[Share]> {
        vec![Share::default(); self.families.len()].into()
    }

    pub(super) fn begin(&mut self) {
        self.families.iter_mut().for_each(|family| family.accumulator.begin());
    }

    /// The host was restarted, or another one has its name: what was added up so far is over, and the rest counts since
    /// then.
    pub(super) fn begin_anew(&mut self, since: i64) {
        self.anew_since = since;
        self.families.iter_mut().for_each(|family| family.accumulator.begin_anew());
    }

    /// Takes the values of an instance.
    pub(super) fn add(
        &mut self,
        columns: &[Column<I>],
        shares: &mut [Share],
        at: impl Fn(Option<usize>) -> Option<u64>,
        clocks_of: impl Fn(&Column<I>) -> RawClocks,
    ) {
        for (family, share) in self.families.iter_mut().zip(shares) {
            let Some(column) = columns.get(family.column) else { continue };
            if let Some(value) = at(column.source) {
                family.accumulator.add(share, value);
                family.clocks = clocks_of(column);
            }
        }
    }

    /// An instance has gone.
    pub(super) fn leave(&mut self, shares: &[Share]) {
        for (family, share) in self.families.iter_mut().zip(shares) {
            family.accumulator.leave(share);
        }
    }

    /// Sends what the instances come to.
    pub(super) fn emit<S: SeriesSink<I>>(&mut self, output: &mut S) {
        let anew_since = std::mem::take(&mut self.anew_since);
        for AggregatedFamily { series, accumulator, exposition, clocks, .. } in &self.families {
            let Some(series) = *series else { continue };
            if let Some(value) = accumulator.export(exposition, clocks) {
                let counts = exposition.kind == Kind::Counter && !exposition.is_time_stamp();
                output.push(series, value, if counts { anew_since } else { 0 });
            }
        }
    }

    pub(super) fn end<S: SeriesSink<I>>(self, output: &mut S) {
        let series: Vec<I::Series> = self.families.iter().filter_map(|family| family.series).collect();
        output.retire(&series);
    }
}
