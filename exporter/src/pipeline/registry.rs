//! Families and series of one store: taken in once, known by number afterwards.

use std::collections::HashMap;
use std::sync::Arc;

use plugin_host::sink::{self, FamilyDef, SeriesDef};

use super::labels::PrefixWriter;
use super::limits::Refusal;
use super::naming::Nameable;
use super::scope::{Scope, SeriesGuard};
use crate::model::{Block, Family, Kind, Layout, Roster, ValueKind, Values};

/// What is registered in one store.
#[derive(Debug)]
pub(super) struct Registry {
    prefixes: PrefixWriter,
    /// INVARIANT: one for each block of `layout`, in the same order; the plugin's family id is the index.
    families: Vec<Registered>,
    names: HashMap<String, u32>,
    layout: Arc<Layout>,
    roster: Roster,
    /// The family of each series id.
    homes: Vec<u32>,
    /// Series ids that may be given out again.
    free: Vec<u32>,
    /// Ids given out again since the last collection ended: what a snapshot has under them is another series'.
    reused: Vec<u32>,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Registered {
    sample_name: String,
    value: ValueKind,
    /// What the plugin called it, so that registering it again is seen for what it is.
    identity: String,
}

impl Registry {
    pub(super) fn new(scope: &Scope) -> Self {
        Self {
            prefixes: PrefixWriter::new(&scope.target),
            families: Vec::new(),
            names: HashMap::new(),
            layout: Arc::default(),
            roster: Roster::default(),
            homes: Vec::new(),
            free: Vec::new(),
            reused: Vec::new(),
            scratch: Vec::new(),
        }
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

    /// A collection ended: the layout goes into a snapshot as it is.
    pub(super) fn settle(&mut self) {
        self.reused.clear();
        if let Some(layout) = Arc::get_mut(&mut self.layout) {
            layout.trim();
        }
    }

    /// Takes a family in and answers its id; the same family again has the same id.
    pub(super) fn add_family(&mut self, scope: &Scope, def: &FamilyDef<'_>) -> Result<u32, Refusal> {
        let (kind, value) = (kind(def.kind)?, value_kind(def.value)?);
        let FamilyDef { namespace, object, item, part, unit, .. } = *def;
        let named = scope.profile.family_name(&Nameable { namespace, object, item, part, kind, unit });
        let identity = [namespace, object, item, part, unit].join("\0");
        if let Some(&id) = self.names.get(&named.name) {
            let known = &self.families[id as usize];
            let same = known.identity == identity && known.value == value;
            let same = same && self.layout.blocks()[id as usize].family().kind == kind;
            return if same { Ok(id) } else { Err(Refusal::FamilyCollision) };
        }
        if self.families.len() >= scope.limits.families_max {
            return Err(Refusal::FamilyLimit);
        }
        let help = help(def.help, def.origin, scope.limits.help_bytes_max);
        let family = Family { name: named.name, kind, unit: named.unit, help };
        let sample_name = family.sample_name();
        if sample_name.len() > scope.limits.name_bytes_max {
            return Err(Refusal::NameTooLong);
        }
        let family = scope.catalog.share(family).ok_or(Refusal::FamilyCollision)?;
        let id = u32::try_from(self.families.len()).map_err(|_| Refusal::FamilyLimit)?;
        self.names.insert(family.name.clone(), id);
        self.families.push(Registered { sample_name, value, identity });
        Arc::make_mut(&mut self.layout).add_family(family);
        Ok(id)
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
        if def.labels.len() > scope.limits.labels_max {
            return Err(Refusal::TooManyLabels);
        }
        let value_bytes_max = scope.limits.label_value_bytes_max;
        self.prefixes.write(&family.sample_name, def.labels, value_bytes_max, &mut self.scratch)?;
        let next = u32::try_from(self.homes.len()).map_err(|_| Refusal::SeriesLimit)?;
        series.admit(&self.scratch)?;

        let id = if let Some(id) = self.free.pop() {
            self.reused.push(id);
            self.homes[id as usize] = def.family;
            id
        } else {
            self.homes.push(def.family);
            next
        };
        self.roster.admit(id, family.value, def.start_time_unix_nanos);
        if let Some(building) = building {
            building.admit(id, family.value, def.start_time_unix_nanos);
        }
        Arc::make_mut(&mut self.layout).add_series(def.family as usize, id, &self.scratch);
        Ok(id)
    }

    /// Ends series.
    pub(super) fn retire(
        &mut self,
        series: &mut SeriesGuard<'_>,
        mut building: Option<&mut Values>,
        ids: &[u32],
    ) {
        let mut families: Vec<u32> = Vec::new();
        for &id in ids {
            if self.roster.retire(id) {
                self.free.push(id);
                families.push(self.homes[id as usize]);
                if let Some(building) = building.as_deref_mut() {
                    building.retire(id);
                }
            }
        }
        families.sort_unstable();
        families.dedup();
        if families.is_empty() {
            return;
        }
        let layout = Arc::make_mut(&mut self.layout);
        for family in families {
            layout.remove_series(
                family as usize,
                |id| !self.roster.lives(id),
                |prefix| series.remove(prefix),
            );
        }
    }

    /// Lets all series go.
    pub(super) fn release(&self, series: &mut SeriesGuard<'_>) {
        for chunk in self.layout.blocks().iter().flat_map(Block::chunks) {
            chunk.iter().for_each(|(_, prefix)| series.remove(prefix));
        }
    }
}

fn kind(kind: sink::Kind) -> Result<Kind, Refusal> {
    match kind {
        sink::Kind::Gauge => Ok(Kind::Gauge),
        sink::Kind::Counter => Ok(Kind::Counter),
        sink::Kind::Info => Ok(Kind::Info),
        sink::Kind::Unknown => Ok(Kind::Unknown),
        _ => Err(Refusal::Unsupported),
    }
}

fn value_kind(kind: sink::ValueKind) -> Result<ValueKind, Refusal> {
    match kind {
        sink::ValueKind::F64 => Ok(ValueKind::F64),
        sink::ValueKind::U64 => Ok(ValueKind::U64),
        sink::ValueKind::I64 => Ok(ValueKind::I64),
        _ => Err(Refusal::Unsupported),
    }
}

/// What stands on the HELP line: one line of words, with the original name behind it.
fn help(text: &str, origin: &str, bytes_max: usize) -> String {
    let mut help = one_line(text);
    if !help.is_empty() && !origin.is_empty() {
        help.push_str(if help.ends_with(['.', '!', '?']) { " " } else { ". " });
    }
    help.push_str(&one_line(origin));
    help.truncate(help.floor_char_boundary(bytes_max));
    help
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "\u{fffd}")
}
