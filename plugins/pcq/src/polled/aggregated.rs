//! What the instances of an aggregate counterset come to: one series a family, added up here.

use counters::aggregate::{Accumulator, Scope, Share};
use counters::{RawClocks, Value};
use plugin_sdk::{Family, FamilyId, Output, Series, SeriesId, ValueKind};

use super::Column;
use super::families::{AGGREGATE, describe, kind_of};
use counter_poll::Counterset;

/// The aggregates of one counterset.
#[derive(Debug)]
pub(super) struct Aggregated {
    /// Whether instances that nobody chose are in it.
    pub(super) scope: Scope,
    families: Vec<AggregatedFamily>,
}

#[derive(Debug)]
struct AggregatedFamily {
    /// Its place among the columns.
    column: usize,
    id: FamilyId,
    series: Option<SeriesId>,
    accumulator: Accumulator,
    exposition: counters::Exposition,
    /// Those of the last instance.
    clocks: RawClocks,
}

impl Aggregated {
    /// Registers families and series; nothing where the counterset is none that a client adds up.
    pub(super) fn new(
        counterset: &Counterset,
        families: &[counters::Family],
        output: &mut Output,
    ) -> Option<Self> {
        let scope = Scope::of(counterset.instance_type)?;
        let accumulator_of = |(column, family): (usize, &counters::Family)| {
            let item = counterset.counters.iter().find(|counter| counter.info.counter_id == family.item)?;
            let made = Accumulator::new(&item.info, &family.exposition, counterset.instance_type)?;
            Some((column, *family, made))
        };
        let made: Vec<_> = families.iter().enumerate().filter_map(accumulator_of).collect();
        let told: Vec<_> =
            made.iter().map(|(_, family, _)| describe(counterset, family, AGGREGATE)).collect();
        let offered: Vec<Family<'_>> = made
            .iter()
            .zip(&told)
            .map(|((_, family, accumulator), told)| Family {
                kind: kind_of(family.exposition.kind),
                value: if family.exposition.is_integer() && accumulator.is_integer() {
                    ValueKind::U64
                } else {
                    ValueKind::F64
                },
                ..told.family(&family.exposition)
            })
            .collect();
        let ids = output.register_families(&offered);
        let accepted = made.into_iter().zip(ids).filter_map(|(made, id)| Some((made, id?)));
        let mut families: Vec<AggregatedFamily> = accepted
            .map(|((column, family, accumulator), id)| AggregatedFamily {
                column,
                id,
                series: None,
                accumulator,
                exposition: family.exposition,
                clocks: RawClocks::default(),
            })
            .collect();
        let offered: Vec<Series<'_>> =
            families.iter().map(|family| Series { family: family.id, labels: &[], start: None }).collect();
        let series = output.register_series(&offered);
        families.iter_mut().zip(series).for_each(|(family, series)| family.series = series);
        Some(Self { scope, families })
    }

    pub(super) fn families(&self) -> impl Iterator<Item = FamilyId> {
        self.families.iter().map(|family| family.id)
    }

    /// Room for what one instance contributes.
    pub(super) fn shares(&self) -> Box<[Share]> {
        vec![Share::default(); self.families.len()].into()
    }

    pub(super) fn begin(&mut self) {
        self.families.iter_mut().for_each(|family| family.accumulator.begin());
    }

    /// Takes the values of an instance.
    pub(super) fn add(
        &mut self,
        columns: &[Column],
        shares: &mut [Share],
        at: impl Fn(Option<usize>) -> Option<u64>,
        clocks_of: impl Fn(&Column) -> RawClocks,
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
    pub(super) fn emit(&self, output: &mut Output) {
        for AggregatedFamily { series, accumulator, exposition, clocks, .. } in &self.families {
            let Some(series) = *series else { continue };
            match accumulator.export(exposition, clocks) {
                Some(Value::U64(value)) => output.push_u64(series, value),
                Some(Value::F64(value)) => output.push_f64(series, value),
                None => {}
            }
        }
    }

    pub(super) fn end(self, output: &mut Output) {
        let series: Vec<SeriesId> = self.families.iter().filter_map(|family| family.series).collect();
        output.retire(&series);
    }
}
