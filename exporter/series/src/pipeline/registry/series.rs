//! Series of a registry: how one gets its block, its prefix and its id, and how it ends.

use std::sync::Arc;

use plugin_abi::SeriesDef;

use super::{BlockMapping, Place, Registered, Registry};
use crate::model::{ValueKind, Values};
use crate::pipeline::limits::Refusal;
use crate::pipeline::scope::{Scope, SeriesGuard};

impl Registry {
    /// Takes a series in and answers its id. `building` are the values of the collection that is under way.
    pub(in crate::pipeline) fn add_series(
        &mut self,
        scope: &Scope,
        series: &mut SeriesGuard<'_>,
        mut building: Option<&mut Values>,
        def: &SeriesDef<'_>,
    ) -> Result<u32, Refusal> {
        let family = self.families.get(def.family.index()).ok_or(Refusal::UnknownFamily)?;
        let plan = Arc::clone(&family.plan);
        let (value, buckets) = (plan.value, plan.bounds.len() + 1);
        let mapped = plan.metric.as_ref().map(|metric| metric.labels.applied(def.labels)).transpose()?;
        let mapped: Option<Vec<(&str, &str)>> =
            mapped.as_ref().map(|labels| labels.iter().map(|(name, value)| (*name, &**value)).collect());
        let labels = mapped.as_deref().unwrap_or(def.labels);
        let mut id = None;
        for name in 0..plan.names.len() {
            let placed = self.place_series(scope, def.family.0, name, labels);
            let admitted = placed.and_then(|block| {
                let samples = self.mappings[block as usize].samples;
                series.admit(&self.scratch, samples).map(|()| (block, samples))
            });
            let (block, samples) = match (admitted, id) {
                (Ok(admitted), _) => admitted,
                (Err(Refusal::DroppedByRule), _) => continue,
                (Err(refusal), None) => return Err(refusal),
                (Err(refusal), Some(id)) => {
                    // All of its names or none.
                    self.retire(series, building, &[id]);
                    return Err(refusal);
                }
            };
            let id = match id {
                Some(id) => id,
                None => {
                    *id.insert(self.take_id(series, building.as_deref_mut(), def, value, buckets, block)?)
                }
            };
            self.live += samples;
            self.mappings[block as usize].live += samples;
            Arc::make_mut(&mut self.layout).add_series(block as usize, id, &self.scratch);
        }
        id.ok_or(Refusal::DroppedByRule)
    }

    /// An id for a series whose prefix was just written, and which is in `block`.
    fn take_id(
        &mut self,
        series: &mut SeriesGuard<'_>,
        building: Option<&mut Values>,
        def: &SeriesDef<'_>,
        value: ValueKind,
        buckets: usize,
        block: u32,
    ) -> Result<u32, Refusal> {
        let next = u32::try_from(self.block_of.len()).unwrap_or(u32::MAX);
        let id = self.free.last().copied().unwrap_or(next);
        let is_placed =
            value != ValueKind::Histogram || self.slots.take(&mut self.roster, id, buckets).is_some();
        if id == u32::MAX || !is_placed {
            series.remove(&self.scratch, self.mappings[block as usize].samples);
            return Err(Refusal::SeriesLimit);
        }
        if self.free.pop().is_some() {
            self.reused.push(id);
            self.block_of[id as usize] = block;
        } else {
            self.block_of.push(block);
        }
        self.roster.admit(id, value, def.start.map(|start| start.unix_nanos));
        if let Some(building) = building {
            building.admit(id, value, def.start.map(|start| start.unix_nanos));
            if value == ValueKind::Histogram {
                building.place_histogram(id, &self.roster);
            }
        }
        Ok(id)
    }

    /// Writes the prefix that a series has under one of its family's names, and answers its block, which has room for it.
    fn place_series(
        &mut self,
        scope: &Scope,
        family: u32,
        name: usize,
        labels: &[(&str, &str)],
    ) -> Result<u32, Refusal> {
        let Registered { plan, places } = &self.families[family as usize];
        match &places[name] {
            Place::One(block) if plan.names[name].is_done() => {
                let block = *block;
                self.check_room(block)?;
                let sample_name = &plan.names[name].name;
                self.prefixes.write(
                    plan.kind,
                    sample_name,
                    labels,
                    &self.normalize.limits,
                    &mut self.scratch,
                )?;
                Ok(block)
            }
            _ => {
                let block = self.apply_rules(scope, family, name, labels)?;
                self.check_room(block)?;
                Ok(block)
            }
        }
    }

    /// Whether one more series fits into a block.
    fn check_room(&self, block: u32) -> Result<(), Refusal> {
        let limits = &self.normalize.limits;
        let BlockMapping { live, samples, .. } = self.mappings[block as usize];
        let is_full = self.live.saturating_add(samples) > limits.instance_series_max
            || live.saturating_add(samples) > limits.family_series_max;
        if is_full { Err(Refusal::SeriesLimit) } else { Ok(()) }
    }

    /// Writes the prefix that the rules give a series, and answers its block.
    fn apply_rules(
        &mut self,
        scope: &Scope,
        id: u32,
        name: usize,
        labels: &[(&str, &str)],
    ) -> Result<u32, Refusal> {
        let Registered { plan, places } = &self.families[id as usize];
        let (kind, plan) = (plan.kind, &plan.names[name]);
        let mut ruled = self.prefixes.label_set(kind, &plan.name, labels)?;
        if !plan.apply(&mut ruled, kind, self.prefixes.is_utf8(), &mut self.text)? {
            return Err(Refusal::DroppedByRule);
        }
        self.prefixes.write_ruled(kind, &mut ruled, &self.normalize.limits, &mut self.scratch)?;
        let (origin, factor, sample_name) = match &places[name] {
            Place::One(block) => return Ok(*block),
            Place::Many(moving) => match moving.blocks.get(&*ruled.name) {
                Some(block) => return Ok(*block),
                None => (moving.origin.clone(), moving.factor, ruled.name.into_owned()),
            },
        };
        let block = self.add_block(scope, id, &origin, factor, &sample_name)?;
        if let Place::Many(moving) = &mut self.families[id as usize].places[name] {
            moving.blocks.insert(sample_name, block);
        }
        Ok(block)
    }

    pub(in crate::pipeline) fn retire(
        &mut self,
        series: &mut SeriesGuard<'_>,
        mut building: Option<&mut Values>,
        ids: &[u32],
    ) {
        let mut families: Vec<u32> = Vec::new();
        let mut blocks: Vec<u32> = Vec::new();
        for &id in ids {
            if self.roster.retire(id) {
                self.free.push(id);
                self.slots.give_back(&mut self.roster, id);
                let block = self.block_of[id as usize];
                let family = self.mappings[block as usize].family;
                match self.families[family as usize].places.len() {
                    1 => blocks.push(block),
                    _ => families.push(family),
                }
                if let Some(building) = building.as_deref_mut() {
                    building.retire(id);
                }
            }
        }
        families.sort_unstable();
        families.dedup();
        blocks.extend(self.blocks_of(&families));
        blocks.sort_unstable();
        blocks.dedup();
        if blocks.is_empty() {
            return;
        }
        let layout = Arc::make_mut(&mut self.layout);
        for block in blocks {
            let BlockMapping { samples, live, .. } = &mut self.mappings[block as usize];
            let gone = |id| !self.roster.lives(id);
            layout.remove_series(block as usize, gone, |prefix| {
                *live -= *samples;
                self.live -= *samples;
                series.remove(prefix, *samples);
            });
        }
    }

    /// Lets all series go.
    pub(in crate::pipeline) fn release(&self, series: &mut SeriesGuard<'_>) {
        for block in self.layout.blocks() {
            let samples = block.family().samples();
            let prefixes = block.chunks().iter().flat_map(|chunk| chunk.iter());
            prefixes.for_each(|(_, prefix)| series.remove(prefix, samples));
        }
    }
}
