//! Families and series of one store: taken in once, known by number afterwards.

use std::collections::HashMap;
use std::sync::Arc;

use plugin_contract::{FamilyDef, SeriesDef};

use super::Normalize;
use super::definition::{help, is_name, moved};
use super::labels::PrefixWriter;
use super::limits::Refusal;
use super::naming::{MappedMetric, Nameable, Naming};
use super::rules::{Plan, ends_in_suffix};
use super::scope::{Scope, SeriesGuard};
use crate::model::{Bounds, Factor, Family, Kind, Layout, Roster, Slots, ValueKind, Values};

/// The registered families and series of one store.
#[derive(Debug)]
pub(super) struct Registry {
    normalize: Arc<Normalize>,
    prefixes: PrefixWriter,
    /// By the plugin's family id.
    families: Vec<Registered>,
    names: HashMap<String, u32>,
    /// INVARIANT: one for each block of `layout`, in the same order.
    mappings: Vec<BlockMapping>,
    /// The blocks whose values are multiplied, in order.
    multiplied: Vec<(usize, Factor)>,
    layout: Arc<Layout>,
    roster: Roster,
    /// Room for the histograms of `roster`.
    slots: Slots,
    /// The block of each series id.
    block_of: Vec<u32>,
    live: usize,
    /// Series ids that may be given out again.
    free: Vec<u32>,
    /// Ids given out again since the last collection ended: what a snapshot has under them is another series'.
    reused: Vec<u32>,
    scratch: Vec<u8>,
    text: String,
}

/// A family as the plugin means it.
#[derive(Debug)]
struct Registered {
    /// What it is on the page.
    kind: Kind,
    /// What the plugin says that it is.
    source_kind: Kind,
    /// What the profile makes of it beside its name.
    metric: Option<Arc<MappedMetric>>,
    value: ValueKind,
    bounds: Bounds,
    /// What the plugin called it, so that registering it again is seen for what it is.
    identity: String,
    plan: Plan,
    place: Place,
}

impl Registered {
    /// Whether it is the base of a counter of this object.
    fn is_base_of(&self, namespace: &str, object: &str) -> bool {
        let mut parts = self.identity.split('\0');
        parts.next() == Some(namespace) && parts.next() == Some(object) && parts.nth(1) == Some("base")
    }
}

/// Where the series of a family go.
#[derive(Debug)]
enum Place {
    /// All to one block.
    One(u32),
    /// Rules give each its name: what the family would be without them, and the blocks by name so far.
    Many(Box<Family>, Option<Factor>, HashMap<String, u32>),
}

/// What is known of a block: series of one family on the page that come from one family of the plugin's.
#[derive(Debug)]
struct BlockMapping {
    /// The plugin's family id.
    family: u32,
    sample_name: String,
    /// As [`Family::samples`].
    samples: usize,
    /// Series times `samples`.
    live: usize,
}

impl Registry {
    pub(super) fn new(scope: &Scope, normalize: &Arc<Normalize>) -> Self {
        let utf8 = normalize.profile.is_utf8() && scope.profile.is_utf8();
        Self {
            normalize: Arc::clone(normalize),
            prefixes: PrefixWriter::new(&scope.target, utf8),
            families: Vec::new(),
            names: HashMap::new(),
            mappings: Vec::new(),
            multiplied: Vec::new(),
            layout: Arc::default(),
            roster: Roster::default(),
            slots: Slots::default(),
            block_of: Vec::new(),
            live: 0,
            free: Vec::new(),
            reused: Vec::new(),
            scratch: Vec::new(),
            text: String::new(),
        }
    }

    /// The plugin's id of the family of a block's series.
    pub(super) fn family_of_block(&self, block: usize) -> u32 {
        self.mappings[block].family
    }

    /// Whether a series is of the plugin's family with this id.
    pub(super) fn is_of_family(&self, id: u32, family: u32) -> bool {
        let block = self.block_of.get(id as usize).and_then(|&block| self.mappings.get(block as usize));
        block.is_some_and(|block| block.family == family)
    }

    pub(super) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    pub(super) fn roster(&self) -> &Roster {
        &self.roster
    }

    pub(super) fn reused(&self) -> &[u32] {
        &self.reused
    }

    /// What finds families and series takes about so many bytes.
    pub(super) fn index_bytes(&self) -> usize {
        let identities = self.families.iter().map(|family| family.identity.len());
        let names = self.names.keys().map(|name| name.len() + size_of::<String>());
        let families = self.families.capacity() * size_of::<Registered>();
        let numbers = self.mappings.capacity() + self.free.capacity() + self.reused.capacity();
        families
            + identities.chain(names).sum::<usize>()
            + numbers * size_of::<u32>()
            + self.roster.heap_bytes()
    }

    /// Multiplies what a collection brought where the profile says so.
    pub(super) fn multiply(&self, values: &mut Values) {
        for &(block, factor) in &self.multiplied {
            for chunk in self.layout.blocks()[block].chunks() {
                values.multiply(chunk.ids(), factor);
            }
        }
    }

    /// A collection ended: the layout goes into a snapshot as it is.
    pub(super) fn settle(&mut self) {
        self.reused.clear();
        if let Some(layout) = Arc::get_mut(&mut self.layout) {
            layout.trim();
        }
    }

    /// Takes a family in and answers its id; the same family again has the same id.
    pub(super) fn add_family(&mut self, scope: &Scope, def: &FamilyDef<'_>) -> Result<u32, Refusal> {
        let (kind, value, bounds) = (def.kind, def.value, Bounds::new(def.bounds));
        let FamilyDef { namespace, object, item, part, unit, display, .. } = *def;
        let normalize = Arc::clone(&self.normalize);
        let Normalize { profile, rules, limits } = &*normalize;
        let naming = profile.names(&Nameable { namespace, object, item, part, kind, unit });
        let identity = [namespace, object, item, part, unit].join("\0");
        let (named, metric) = match naming {
            Naming::Named(named) => (named, None),
            Naming::Mapped(metric) => (metric.family_name(unit), Some(metric)),
            Naming::Dropped => return Err(Refusal::DroppedByRule),
        };
        // A profile may make one metric of several families.
        let key = if metric.is_some() { format!("\0{identity}") } else { named.name.clone() };
        if let Some(&id) = self.names.get(&key) {
            let known = &self.families[id as usize];
            let same = known.identity == identity
                && (known.source_kind, known.value) == (kind, value)
                && known.bounds == bounds;
            // The names of both are made of what they divide by.
            let shares_base = part == "base" && known.is_base_of(namespace, object);
            return match same {
                true => Ok(id),
                false if shares_base => Err(Refusal::SharedBase),
                false => Err(Refusal::FamilyCollision),
            };
        }
        let source_kind = kind;
        let kind = metric.map_or(kind, |metric| metric.kind);
        let text = metric.map(|metric| metric.help.as_str()).filter(|help| !help.is_empty());
        let origin = if metric.is_some_and(|metric| metric.is_shared) { "" } else { def.origin };
        let (help, help_sentence_bytes) = help(text.unwrap_or(def.help), origin, limits.help_bytes_max);
        let family = Family {
            name: named.name,
            kind,
            unit: named.unit,
            help,
            help_sentence_bytes,
            counterset: object.to_owned(),
            counter: item.to_owned(),
            part: part.to_owned(),
            bounds: bounds.clone(),
            display: display.rule,
            base: display.base.to_owned(),
            otlp: metric.and_then(|metric| metric.otlp.clone()),
        };
        let plan = Plan::new(rules, &family.sample_name(), kind, self.prefixes.is_utf8())?;
        let plan = plan.ok_or(Refusal::DroppedByRule)?;
        if self.families.len() >= limits.families_max {
            return Err(Refusal::FamilyLimit);
        }
        let id = u32::try_from(self.families.len()).map_err(|_| Refusal::FamilyLimit)?;
        let factor = metric.and_then(|metric| metric.factor);
        let place = if plan.moves {
            Place::Many(Box::new(family), factor, HashMap::new())
        } else {
            Place::One(self.add_block(scope, id, &family, factor, &plan.name)?)
        };
        self.names.insert(key, id);
        let metric = metric.map(Arc::clone);
        self.families.push(Registered { kind, source_kind, metric, value, bounds, identity, plan, place });
        Ok(id)
    }

    /// A block for series of that name that come from the plugin's family `id`.
    fn add_block(
        &mut self,
        scope: &Scope,
        id: u32,
        origin: &Family,
        factor: Option<Factor>,
        sample_name: &str,
    ) -> Result<u32, Refusal> {
        let is_taken_name = origin.kind == Kind::Histogram && ends_in_suffix(sample_name);
        let family = if sample_name == origin.sample_name() {
            origin.clone()
        } else if !is_taken_name && is_name(sample_name, self.prefixes.is_utf8()) {
            moved(origin, sample_name)
        } else {
            return Err(Refusal::InvalidName);
        };
        let limits = &self.normalize.limits;
        if sample_name.len() > limits.name_bytes_max {
            return Err(Refusal::NameTooLong);
        }
        if self.mappings.len() >= limits.families_max {
            return Err(Refusal::FamilyLimit);
        }
        let family = scope.catalog.share(family).ok_or(Refusal::FamilyCollision)?;
        let block = u32::try_from(self.mappings.len()).map_err(|_| Refusal::FamilyLimit)?;
        let samples = family.samples();
        self.multiplied.extend(factor.map(|factor| (self.mappings.len(), factor)));
        self.mappings.push(BlockMapping {
            family: id,
            sample_name: sample_name.to_owned(),
            samples,
            live: 0,
        });
        Arc::make_mut(&mut self.layout).add_family(family);
        Ok(block)
    }

    /// Takes a series in and answers its id. `building` are the values of the collection that is under way.
    pub(super) fn add_series(
        &mut self,
        scope: &Scope,
        series: &mut SeriesGuard<'_>,
        building: Option<&mut Values>,
        def: &SeriesDef<'_>,
    ) -> Result<u32, Refusal> {
        let family = self.families.get(def.family as usize).ok_or(Refusal::UnknownFamily)?;
        let (kind, value, buckets) = (family.kind, family.value, family.bounds.len() + 1);
        let metric = family.metric.clone();
        let mapped = metric.as_ref().map(|metric| metric.labels.applied(def.labels)).transpose()?;
        let mapped: Option<Vec<(&str, &str)>> =
            mapped.as_ref().map(|labels| labels.iter().map(|(name, value)| (*name, &**value)).collect());
        let labels = mapped.as_deref().unwrap_or(def.labels);
        let block = match &family.place {
            Place::One(block) if family.plan.is_done() => {
                let block = *block;
                self.check_room(block)?;
                let sample_name = &self.mappings[block as usize].sample_name;
                self.prefixes.write(kind, sample_name, labels, &self.normalize.limits, &mut self.scratch)?;
                block
            }
            _ => {
                let block = self.apply_rules(scope, def.family, labels)?;
                self.check_room(block)?;
                block
            }
        };
        let next = u32::try_from(self.block_of.len()).map_err(|_| Refusal::SeriesLimit)?;
        let samples = self.mappings[block as usize].samples;
        series.admit(&self.scratch, samples)?;
        if value == ValueKind::Histogram {
            let id = self.free.last().copied().unwrap_or(next);
            if self.slots.take(&mut self.roster, id, buckets).is_none() {
                series.remove(&self.scratch, samples);
                return Err(Refusal::SeriesLimit);
            }
        }

        let id = if let Some(id) = self.free.pop() {
            self.reused.push(id);
            self.block_of[id as usize] = block;
            id
        } else {
            self.block_of.push(block);
            next
        };
        self.live += samples;
        self.mappings[block as usize].live += samples;
        self.roster.admit(id, value, def.start_time_unix_nanos);
        if let Some(building) = building {
            building.admit(id, value, def.start_time_unix_nanos);
            if value == ValueKind::Histogram {
                building.place_histogram(id, &self.roster);
            }
        }
        Arc::make_mut(&mut self.layout).add_series(block as usize, id, &self.scratch);
        Ok(id)
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
    fn apply_rules(&mut self, scope: &Scope, id: u32, labels: &[(&str, &str)]) -> Result<u32, Refusal> {
        let Registered { kind, plan, place, .. } = &self.families[id as usize];
        let mut ruled = self.prefixes.label_set(*kind, &plan.name, labels)?;
        if !plan.apply(&mut ruled, *kind, self.prefixes.is_utf8(), &mut self.text)? {
            return Err(Refusal::DroppedByRule);
        }
        self.prefixes.write_ruled(*kind, &mut ruled, &self.normalize.limits, &mut self.scratch)?;
        let (origin, factor, name) = match place {
            Place::One(block) => return Ok(*block),
            Place::Many(origin, factor, blocks) => match blocks.get(&*ruled.name) {
                Some(block) => return Ok(*block),
                None => (origin.clone(), *factor, ruled.name.into_owned()),
            },
        };
        let block = self.add_block(scope, id, &origin, factor, &name)?;
        if let Place::Many(_, _, blocks) = &mut self.families[id as usize].place {
            blocks.insert(name, block);
        }
        Ok(block)
    }

    /// Ends series.
    pub(super) fn retire(
        &mut self,
        series: &mut SeriesGuard<'_>,
        mut building: Option<&mut Values>,
        ids: &[u32],
    ) {
        let mut blocks: Vec<u32> = Vec::new();
        for &id in ids {
            if self.roster.retire(id) {
                self.free.push(id);
                let block = self.block_of[id as usize];
                self.slots.give_back(&mut self.roster, id);
                let BlockMapping { live, samples, .. } = &mut self.mappings[block as usize];
                *live -= *samples;
                self.live -= *samples;
                blocks.push(block);
                if let Some(building) = building.as_deref_mut() {
                    building.retire(id);
                }
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        if blocks.is_empty() {
            return;
        }
        let layout = Arc::make_mut(&mut self.layout);
        for block in blocks {
            let samples = self.mappings[block as usize].samples;
            let gone = |id| !self.roster.lives(id);
            layout.remove_series(block as usize, gone, |prefix| series.remove(prefix, samples));
        }
    }

    /// Lets all series go.
    pub(super) fn release(&self, series: &mut SeriesGuard<'_>) {
        for block in self.layout.blocks() {
            let samples = block.family().samples();
            let prefixes = block.chunks().iter().flat_map(|chunk| chunk.iter());
            prefixes.for_each(|(_, prefix)| series.remove(prefix, samples));
        }
    }
}
