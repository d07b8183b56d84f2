//! Families and series of one store: taken in once, known by number afterwards.

mod series;

use std::collections::HashMap;
use std::sync::Arc;

use plugin_abi::FamilyDef;

use super::labels::PrefixWriter;
use super::limits::Refusal;
use super::naming::{Nameable, Naming};
use super::rules::{Plan, ends_in_suffix, family_of};
use super::scope::Scope;
use super::{FamilyPlan, Normalize};
use crate::model::{Bounds, Factor, Family, Kind, Layout, Roster, Slots, Values, clean_name, is_legacy_name};

/// The registered families and series of one store.
#[derive(Debug)]
pub(super) struct Registry {
    normalize: Arc<Normalize>,
    prefixes: PrefixWriter,
    /// By the plugin's family id.
    families: Vec<Registered>,
    /// Their ids in the order of their keys.
    by_key: Vec<u32>,
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

/// A family of the plugin's.
#[derive(Debug)]
struct Registered {
    plan: Arc<FamilyPlan>,
    /// INVARIANT: one for each name of `plan`.
    places: Box<[Place]>,
}

/// Where the series of a family go.
#[derive(Debug)]
enum Place {
    /// All to one block.
    One(u32),
    /// Rules give each its name.
    Many(Box<Moving>),
}

#[derive(Debug)]
struct Moving {
    /// What the family would be without rules.
    origin: Family,
    factor: Option<Factor>,
    /// By name, so far.
    blocks: HashMap<String, u32>,
}

/// What is known of a block: series of one family on the page that come from one family of the plugin's.
#[derive(Debug)]
struct BlockMapping {
    /// The plugin's family id.
    family: u32,
    samples: usize,
    live: usize,
}

impl Registry {
    pub(super) fn new(scope: &Scope, normalize: &Arc<Normalize>) -> Self {
        let utf8 = normalize.profile.is_utf8() && scope.profile.is_utf8();
        Self {
            normalize: Arc::clone(normalize),
            prefixes: PrefixWriter::new(&scope.target, utf8),
            families: Vec::new(),
            by_key: Vec::new(),
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

    /// The start times that a collection brought hold for those after it.
    pub(super) fn keep_start_times(&mut self, collected: &Values) {
        self.roster.keep_start_times(collected);
    }

    pub(super) fn reused(&self) -> &[u32] {
        &self.reused
    }

    /// What finds families and series takes about so many bytes.
    pub(super) fn index_bytes(&self) -> usize {
        let places = self.families.iter().map(|family| family.places.len());
        let families = self.families.capacity() * size_of::<Registered>();
        let blocks = self.mappings.capacity() * size_of::<BlockMapping>();
        let numbers =
            self.by_key.capacity() + self.block_of.capacity() + self.free.capacity() + self.reused.capacity();
        families
            + places.sum::<usize>() * size_of::<Place>()
            + blocks
            + numbers * size_of::<u32>()
            + self.roster.heap_bytes()
    }

    /// Multiplies what a collection brought where the profile says so.
    pub(super) fn multiply(&self, values: &mut Values) {
        for &(block, factor) in &self.multiplied {
            let family = &self.families[self.mappings[block].family as usize];
            let chunks = self.layout.blocks()[block].chunks();
            if family.places.len() == 1 {
                chunks.iter().for_each(|chunk| values.multiply(chunk.ids(), factor));
            } else {
                // Once, whatever number of names a value has.
                let ids = chunks.iter().flat_map(|chunk| chunk.ids());
                ids.filter(|&&id| self.block_of[id as usize] as usize == block)
                    .for_each(|&id| values.multiply(&[id], factor));
            }
        }
    }

    /// A collection ended: the layout goes into a snapshot as it is.
    pub(super) fn settle(&mut self) {
        self.reused.clear();
        self.families.shrink_to_fit();
        self.by_key.shrink_to_fit();
        self.mappings.shrink_to_fit();
        self.block_of.shrink_to_fit();
        self.roster.shrink();
        if let Some(layout) = Arc::get_mut(&mut self.layout) {
            layout.trim();
        }
    }

    /// Takes a family in and answers its id; the same family again has the same id.
    pub(super) fn add_family(&mut self, scope: &Scope, def: &FamilyDef<'_>) -> Result<u32, Refusal> {
        let (kind, value, bounds) = (def.kind, def.value, Bounds::new(def.bounds));
        let FamilyDef { namespace, object, item, part, unit, display, .. } = *def;
        let normalize = Arc::clone(&self.normalize);
        let Normalize { profile, limits, .. } = &*normalize;
        let naming = profile.names(&Nameable { namespace, object, item, part, kind, unit });
        let identity = [namespace, object, item, part, unit].join("\0");
        let (named, metric) = match naming {
            Naming::Named(named) => (named, None),
            Naming::Mapped(metric) => (metric.family_name(unit), Some(metric)),
            Naming::Dropped => return Err(Refusal::DroppedByRule),
        };
        // A profile may make one metric of several families.
        let key = if metric.is_some() { format!("\0{identity}") } else { named.name.clone() };
        let found = self.by_key.binary_search_by(|&id| self.plan(id).key.as_str().cmp(&key));
        if let Ok(found) = found {
            let id = self.by_key[found];
            let known = self.plan(id);
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
        let kind = metric.as_ref().map_or(kind, |metric| metric.kind);
        let text = metric.as_ref().map(|metric| metric.help.as_str()).filter(|help| !help.is_empty());
        let origin = if metric.as_ref().is_some_and(|metric| metric.is_shared) { "" } else { def.origin };
        let (help, help_sentence_bytes) = help(text.unwrap_or(def.help), origin, limits.help_bytes_max);
        let family = Family {
            name: named.name,
            kind,
            unit: named.unit,
            help,
            help_sentence_bytes,
            namespace: namespace.to_owned(),
            counterset: object.to_owned(),
            counter: item.to_owned(),
            part: part.to_owned(),
            bounds: bounds.clone(),
            display: display.rule,
            base: display.base.to_owned(),
            otlp: metric.as_ref().and_then(|metric| metric.otlp.clone()),
        };
        if self.families.len() >= limits.families_max {
            return Err(Refusal::FamilyLimit);
        }
        let id = u32::try_from(self.families.len()).map_err(|_| Refusal::FamilyLimit)?;
        let others = metric.as_ref().map_or(&[][..], |metric| &metric.also).iter();
        let others = others.map(|name| moved(&family, name)).collect::<Vec<_>>();
        let factor = metric.as_ref().and_then(|metric| metric.factor);
        let blocks = self.mappings.len();
        let placed = self.place_names(scope, id, std::iter::once(family).chain(others), factor);
        // All of its names or none.
        let (names, places) = placed.inspect_err(|_| self.remove_blocks_from(blocks))?;
        if names.is_empty() {
            return Err(Refusal::DroppedByRule);
        }
        let plan = FamilyPlan { key, kind, source_kind, metric, value, bounds, identity, names };
        let plan = scope.catalog.share_plan(plan);
        self.families.push(Registered { plan, places: places.into() });
        self.by_key.insert(found.unwrap_or_else(|place| place), id);
        Ok(id)
    }

    /// Plans the names that the plugin's family `id` has, and adds blocks for those that rules do not change.
    fn place_names(
        &mut self,
        scope: &Scope,
        id: u32,
        families: impl Iterator<Item = Family>,
        factor: Option<Factor>,
    ) -> Result<(Vec<Plan>, Vec<Place>), Refusal> {
        let (mut names, mut places) = (Vec::with_capacity(1), Vec::with_capacity(1));
        for family in families {
            let rules = &self.normalize.rules;
            let plan = Plan::new(rules, &family.sample_name(), family.kind, self.prefixes.is_utf8())?;
            let Some(plan) = plan else { continue };
            let place = if plan.moves {
                Place::Many(Box::new(Moving { origin: family, factor, blocks: HashMap::new() }))
            } else {
                Place::One(self.add_block(scope, id, &family, factor, &plan.name)?)
            };
            names.push(plan);
            places.push(place);
        }
        Ok((names, places))
    }

    /// Removes the last blocks, which have no series yet: their family was refused.
    fn remove_blocks_from(&mut self, first: usize) {
        if first < self.mappings.len() {
            self.mappings.truncate(first);
            self.multiplied.retain(|&(block, _)| block < first);
            Arc::make_mut(&mut self.layout).remove_families_from(first);
        }
    }

    fn plan(&self, family: u32) -> &FamilyPlan {
        &self.families[family as usize].plan
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
        self.mappings.push(BlockMapping { family: id, samples, live: 0 });
        Arc::make_mut(&mut self.layout).add_family(family);
        Ok(block)
    }

    /// The blocks of families with these ids, which are in order.
    pub(super) fn blocks_of(&self, families: &[u32]) -> Vec<u32> {
        let blocks = self.mappings.iter().zip(0..);
        let blocks = blocks.filter(|(mapping, _)| families.binary_search(&mapping.family).is_ok());
        blocks.map(|(_, block)| block).collect()
    }
}

// Converts a plugin's family to the model.

/// A family under another name.
fn moved(origin: &Family, sample_name: &str) -> Family {
    let (name, kind) = family_of(sample_name, origin.kind);
    let keeps_unit = !origin.unit.is_empty() && name.ends_with(&format!("_{}", origin.unit));
    let unit = if keeps_unit && kind != Kind::Info { origin.unit.clone() } else { String::new() };
    Family { name: name.to_owned(), kind, unit, otlp: None, ..origin.clone() }
}

/// Whether a metric may have that name.
pub(super) fn is_name(name: &str, utf8: bool) -> bool {
    is_legacy_name(name) || (utf8 && !name.is_empty() && clean_name(name) == name)
}

/// What is on the HELP line: one line of words, with the original name after it; and the length of the words.
pub(super) fn help(text: &str, origin: &str, bytes_max: usize) -> (String, usize) {
    let mut help = one_line(text);
    if !help.is_empty() && !origin.is_empty() {
        help.push_str(if help.ends_with(['.', '!', '?']) { " " } else { ". " });
    }
    let sentence_bytes = help.len();
    help.push_str(&one_line(origin));
    help.truncate(help.floor_char_boundary(bytes_max));
    let sentence_bytes = sentence_bytes.min(help.len());
    (help, sentence_bytes)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "\u{fffd}")
}
