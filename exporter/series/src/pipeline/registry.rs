//! Families and series of one store: taken in once, known by number afterwards.

use std::collections::HashMap;
use std::sync::Arc;

use plugin_contract::{FamilyDef, SeriesDef};

use super::Normalize;
use super::definition::{help, is_name, moved};
use super::labels::PrefixWriter;
use super::limits::Refusal;
use super::naming::Nameable;
use super::rules::Plan;
use super::scope::{Scope, SeriesGuard};
use crate::model::{Block, Family, Kind, Layout, Roster, ValueKind, Values};

/// What is registered in one store.
#[derive(Debug)]
pub(super) struct Registry {
    normalize: Arc<Normalize>,
    prefixes: PrefixWriter,
    /// By the plugin's family id.
    families: Vec<Registered>,
    names: HashMap<String, u32>,
    /// INVARIANT: one for each block of `layout`, in the same order.
    homes: Vec<Home>,
    layout: Arc<Layout>,
    roster: Roster,
    /// The home of each series id.
    home_of: Vec<u32>,
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
    kind: Kind,
    value: ValueKind,
    /// What the plugin called it, so that registering it again is seen for what it is.
    identity: String,
    plan: Plan,
    place: Place,
}

/// Where the series of a family go.
#[derive(Debug)]
enum Place {
    /// All to one home.
    One(u32),
    /// Rules give each its name: what the family would be without them, and the homes by name so far.
    Many(Box<Family>, HashMap<String, u32>),
}

/// What is known of a block: series of one family on the page that come from one family of the plugin's.
#[derive(Debug)]
struct Home {
    /// The plugin's family id.
    family: u32,
    sample_name: String,
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
            homes: Vec::new(),
            layout: Arc::default(),
            roster: Roster::default(),
            home_of: Vec::new(),
            live: 0,
            free: Vec::new(),
            reused: Vec::new(),
            scratch: Vec::new(),
            text: String::new(),
        }
    }

    /// The plugin's id of the family of a block's series.
    pub(super) fn family_of_block(&self, block: usize) -> u32 {
        self.homes[block].family
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
        let numbers = self.homes.capacity() + self.free.capacity() + self.reused.capacity();
        families
            + identities.chain(names).sum::<usize>()
            + numbers * size_of::<u32>()
            + self.roster.heap_bytes()
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
        let (kind, value) = (def.kind, def.value);
        let FamilyDef { namespace, object, item, part, unit, display, .. } = *def;
        let normalize = Arc::clone(&self.normalize);
        let Normalize { profile, rules, limits } = &*normalize;
        let named = profile.family_name(&Nameable { namespace, object, item, part, kind, unit });
        let identity = [namespace, object, item, part, unit].join("\0");
        if let Some(&id) = self.names.get(&named.name) {
            let known = &self.families[id as usize];
            let same = known.identity == identity && known.value == value && known.kind == kind;
            return if same { Ok(id) } else { Err(Refusal::FamilyCollision) };
        }
        let (help, help_sentence_bytes) = help(def.help, def.origin, limits.help_bytes_max);
        let family = Family {
            name: named.name,
            kind,
            unit: named.unit,
            help,
            help_sentence_bytes,
            counterset: object.to_owned(),
            counter: item.to_owned(),
            part: part.to_owned(),
            display: display.rule,
            base: display.base.to_owned(),
        };
        let plan = Plan::new(rules, &family.sample_name(), kind, self.prefixes.is_utf8())?;
        let plan = plan.ok_or(Refusal::DroppedByRule)?;
        if self.families.len() >= limits.families_max {
            return Err(Refusal::FamilyLimit);
        }
        let id = u32::try_from(self.families.len()).map_err(|_| Refusal::FamilyLimit)?;
        let name = family.name.clone();
        let place = if plan.moves {
            Place::Many(Box::new(family), HashMap::new())
        } else {
            Place::One(self.add_home(scope, id, &family, &plan.name)?)
        };
        self.names.insert(name, id);
        self.families.push(Registered { kind, value, identity, plan, place });
        Ok(id)
    }

    /// A block for series of that name that come from the plugin's family `id`.
    fn add_home(
        &mut self,
        scope: &Scope,
        id: u32,
        origin: &Family,
        sample_name: &str,
    ) -> Result<u32, Refusal> {
        let family = if sample_name == origin.sample_name() {
            origin.clone()
        } else if is_name(sample_name, self.prefixes.is_utf8()) {
            moved(origin, sample_name)
        } else {
            return Err(Refusal::InvalidName);
        };
        let limits = &self.normalize.limits;
        if sample_name.len() > limits.name_bytes_max {
            return Err(Refusal::NameTooLong);
        }
        if self.homes.len() >= limits.families_max {
            return Err(Refusal::FamilyLimit);
        }
        let family = scope.catalog.share(family).ok_or(Refusal::FamilyCollision)?;
        let home = u32::try_from(self.homes.len()).map_err(|_| Refusal::FamilyLimit)?;
        self.homes.push(Home { family: id, sample_name: sample_name.to_owned(), live: 0 });
        Arc::make_mut(&mut self.layout).add_family(family);
        Ok(home)
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
        let value = family.value;
        let home = match &family.place {
            Place::One(home) if family.plan.is_done() => {
                let home = *home;
                self.check_room(home)?;
                let sample_name = &self.homes[home as usize].sample_name;
                self.prefixes.write(sample_name, def.labels, &self.normalize.limits, &mut self.scratch)?;
                home
            }
            _ => {
                let home = self.apply_rules(scope, def)?;
                self.check_room(home)?;
                home
            }
        };
        let next = u32::try_from(self.home_of.len()).map_err(|_| Refusal::SeriesLimit)?;
        series.admit(&self.scratch)?;

        let id = if let Some(id) = self.free.pop() {
            self.reused.push(id);
            self.home_of[id as usize] = home;
            id
        } else {
            self.home_of.push(home);
            next
        };
        self.live += 1;
        self.homes[home as usize].live += 1;
        self.roster.admit(id, value, def.start_time_unix_nanos);
        if let Some(building) = building {
            building.admit(id, value, def.start_time_unix_nanos);
        }
        Arc::make_mut(&mut self.layout).add_series(home as usize, id, &self.scratch);
        Ok(id)
    }

    /// Whether one more series may live in a home.
    fn check_room(&self, home: u32) -> Result<(), Refusal> {
        let limits = &self.normalize.limits;
        let is_full = self.live >= limits.instance_series_max
            || self.homes[home as usize].live >= limits.family_series_max;
        if is_full { Err(Refusal::SeriesLimit) } else { Ok(()) }
    }

    /// Writes the prefix that the rules give a series, and answers its home.
    fn apply_rules(&mut self, scope: &Scope, def: &SeriesDef<'_>) -> Result<u32, Refusal> {
        let Registered { kind, plan, place, .. } = &self.families[def.family as usize];
        let mut ruled = self.prefixes.label_set(&plan.name, def.labels)?;
        if !plan.apply(&mut ruled, *kind, self.prefixes.is_utf8(), &mut self.text)? {
            return Err(Refusal::DroppedByRule);
        }
        self.prefixes.write_ruled(&mut ruled, &self.normalize.limits, &mut self.scratch)?;
        let (origin, name) = match place {
            Place::One(home) => return Ok(*home),
            Place::Many(origin, homes) => match homes.get(&*ruled.name) {
                Some(home) => return Ok(*home),
                None => (origin.clone(), ruled.name.into_owned()),
            },
        };
        let home = self.add_home(scope, def.family, &origin, &name)?;
        if let Place::Many(_, homes) = &mut self.families[def.family as usize].place {
            homes.insert(name, home);
        }
        Ok(home)
    }

    /// Ends series.
    pub(super) fn retire(
        &mut self,
        series: &mut SeriesGuard<'_>,
        mut building: Option<&mut Values>,
        ids: &[u32],
    ) {
        let mut homes: Vec<u32> = Vec::new();
        for &id in ids {
            if self.roster.retire(id) {
                self.free.push(id);
                let home = self.home_of[id as usize];
                self.homes[home as usize].live -= 1;
                self.live -= 1;
                homes.push(home);
                if let Some(building) = building.as_deref_mut() {
                    building.retire(id);
                }
            }
        }
        homes.sort_unstable();
        homes.dedup();
        if homes.is_empty() {
            return;
        }
        let layout = Arc::make_mut(&mut self.layout);
        for home in homes {
            layout.remove_series(home as usize, |id| !self.roster.lives(id), |prefix| series.remove(prefix));
        }
    }

    /// Lets all series go.
    pub(super) fn release(&self, series: &mut SeriesGuard<'_>) {
        for chunk in self.layout.blocks().iter().flat_map(Block::chunks) {
            chunk.iter().for_each(|(_, prefix)| series.remove(prefix));
        }
    }
}
