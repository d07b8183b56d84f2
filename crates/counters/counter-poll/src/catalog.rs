//! What a host offers, in English: countersets by name, their counters, names and explain texts.
//!
//! Registrations rarely change while a host runs, so the catalog outlives connections. It is filled step by
//! step: what a deadline cut off goes on in the next collection.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use counter_types::{NamePattern, same_name};
use counters::pcq::types::{InstanceType, Lcid};
use parking_lot::Mutex;
use wire::Guid;

use crate::registration::{self, Client, Counter, Error, HostChannel, Languages, Name, Pieces, Trouble};
use crate::stalls::Stalls;

/// The countersets that were looked at so far.
#[derive(Debug, Default)]
pub struct Catalog {
    /// All countersets of the host, once they were enumerated.
    guids: Vec<Guid>,
    names: HashMap<Guid, Name>,
    countersets: HashMap<Guid, Arc<Counterset>>,
    /// Of countersets whose counters are asked for one by one.
    pieces: Pieces,
    /// The language in which names are given beside English.
    language: Option<Lcid>,
    stalls: Stalls<Guid>,
}

/// What countersets are found by.
#[derive(Clone, Debug)]
pub enum Which {
    /// The one with this name.
    Name(String),
    /// All whose names match.
    Matching(NamePattern),
    /// The one with this identifier.
    Guid(Guid),
    /// The first of these names that the host has.
    FirstOf(Vec<String>),
}

impl Which {
    /// Whether more than one may be meant.
    pub const fn is_pattern(&self) -> bool {
        matches!(self, Self::Matching(_))
    }

    /// Whether what is found may be another one although what was found is still there.
    pub(crate) const fn may_change(&self) -> bool {
        matches!(self, Self::Matching(_) | Self::FirstOf(_))
    }
}

/// Countersets whose names the host did not tell: the wanted one may be among them.
#[derive(Clone, Debug)]
pub struct Nameless {
    pub count: usize,
    /// The first of them.
    pub guid: Guid,
    pub trouble: Trouble,
}

/// What became of the search for a counterset.
#[derive(Debug)]
pub enum Lookup {
    Found(Arc<Counterset>),
    /// The host has it, under this name, and what it tells of it is of no use: its provider may not be running.
    Unusable(String, Trouble),
}

/// Which interface of the host gives a counterset, and what the host knows it by there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Version 2, of which PerflibV2 tells: by its GUID.
    V2(Guid),
    /// Version 1, of which the registry tells: by the index of its name.
    V1(u32),
}

/// A counterset whose registration was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterset {
    /// Its provider, with what the host knows it by.
    pub provider: Provider,
    /// Its English name, as the host writes it.
    pub name: String,
    /// Its name in the language that the settings ask for.
    pub local_name: Option<String>,
    /// How many instances it may have.
    pub instance_type: InstanceType,
    /// Whether the host did not tell the instance type, so that it may be another one.
    pub is_type_inferred: bool,
    /// Its counters, in the order of registration.
    pub counters: Vec<Counter>,
}

impl Provider {
    /// The GUID of a version 2 counterset.
    #[must_use]
    pub const fn guid(self) -> Option<Guid> {
        match self {
            Self::V2(guid) => Some(guid),
            Self::V1(_) => None,
        }
    }

    /// The index of a classic object.
    #[must_use]
    pub const fn object(self) -> Option<u32> {
        match self {
            Self::V1(index) => Some(index),
            Self::V2(_) => None,
        }
    }
}

impl Catalog {
    /// Whether it is known which countersets the host has.
    pub const fn is_enumerated(&self) -> bool {
        !self.guids.is_empty()
    }

    /// These countersets are there. Returns whether others were before.
    pub fn enumerated(&mut self, guids: Vec<Guid>) -> bool {
        let differs = guids != self.guids;
        self.guids = guids;
        differs
    }

    /// The countersets that are meant: one or none by name or identifier, any number by a pattern. A choice is found by
    /// `find_first`.
    ///
    /// # Errors
    /// When a call fails for a reason that is not the counterset's own.
    pub async fn find<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        which: &Which,
    ) -> Result<Vec<Lookup>, Error<C>> {
        let mut found = Vec::new();
        for guid in self.guids_of(client, which).await? {
            found.push(self.look_up(client, guid).await?);
        }
        Ok(found)
    }

    /// The first of these names that the host has in version 2, with its place among them.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(crate) async fn find_first<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        names: &[String],
    ) -> Result<Option<(usize, Lookup)>, Error<C>> {
        for (place, name) in names.iter().enumerate() {
            let lookup = self.find(client, &Which::Name(name.clone())).await?.into_iter().next();
            let is_there = |lookup: &Lookup| match lookup {
                Lookup::Found(_) => true,
                Lookup::Unusable(_, trouble) => !trouble.is_absence(),
            };
            if let Some(lookup) = lookup.filter(is_there) {
                return Ok(Some((place, lookup)));
            }
        }
        Ok(None)
    }

    /// The English names of countersets that are known so far.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.guids.iter().filter_map(|guid| self.names.get(guid)).map(|name| name.text.as_str())
    }

    /// Countersets that are there and whose names the host did not tell.
    pub fn nameless(&self) -> Option<Nameless> {
        let trouble_of = |guid: &Guid| self.names.get(guid)?.trouble.as_ref();
        let all = self.guids.iter().filter_map(|guid| Some((*guid, trouble_of(guid)?)));
        let mut there = all.filter(|(_, trouble)| !trouble.is_absence());
        let (guid, trouble) = there.next()?;
        Some(Nameless { count: 1 + there.count(), guid, trouble: trouble.clone() })
    }

    /// Forgets which countersets the host has, but not what is known of each: software may have been installed.
    pub fn forget_enumeration(&mut self) {
        self.guids.clear();
        self.names.retain(|_, name| name.is_english);
    }

    /// Forgets names that the host did not tell, so that they are asked for again.
    pub fn forget_nameless(&mut self) {
        self.names.retain(|_, name| name.trouble.is_none());
    }

    /// Forgets what is in a counterset: its provider was exchanged.
    pub fn forget(&mut self, guid: Guid) {
        self.countersets.remove(&guid);
    }

    pub const fn begin(&mut self, now: Duration) {
        self.stalls.begin(now);
    }

    /// Forgets which countersets did not answer.
    pub(crate) fn forget_stalls(&mut self) {
        self.stalls.forget();
    }

    /// How many countersets did not answer in this collection.
    pub const fn stalls_met(&self) -> u32 {
        self.stalls.met()
    }

    /// Names are given in this language from now on.
    pub fn speak(&mut self, language: Option<Lcid>) {
        if language != self.language {
            self.language = language;
            self.countersets.clear();
        }
    }

    async fn look_up<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        guid: Guid,
    ) -> Result<Lookup, Error<C>> {
        if let Some(known) = self.countersets.get(&guid) {
            return Ok(Lookup::Found(Arc::clone(known)));
        }
        let known = self.names.get(&guid).map(|name| name.text.clone());
        let name = match known {
            Some(name) => name,
            None => self.read_name(client, guid).await?,
        };
        if let Some(trouble) = self.stalls.trouble(guid) {
            return Ok(Lookup::Unusable(name, trouble));
        }
        let help = self.language.unwrap_or(Lcid::ENGLISH_US);
        let languages = Languages { local: self.language, help };
        let read = registration::read(client, guid, languages, &mut self.pieces).await;
        self.stalls.note(guid, client, &read);
        let registered = match read? {
            Ok(registered) => registered,
            Err(trouble) => return Ok(Lookup::Unusable(name, trouble)),
        };
        let registration::Registration { local_name, instance_type, is_type_inferred, counters } = registered;
        let provider = Provider::V2(guid);
        let counterset = Counterset { provider, name, local_name, instance_type, is_type_inferred, counters };
        let counterset = counterset.shared();
        self.countersets.insert(guid, Arc::clone(&counterset));
        Ok(Lookup::Found(counterset))
    }

    /// Asks for the name of a counterset.
    async fn read_name<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        guid: Guid,
    ) -> Result<String, Error<C>> {
        let name = match self.stalls.trouble(guid) {
            Some(trouble) => Name::unknown(guid, trouble),
            None => {
                let name = registration::read_name(client, guid).await;
                self.stalls.note(guid, client, &name);
                name?
            }
        };
        let text = name.text.clone();
        self.names.insert(guid, name);
        Ok(text)
    }

    /// Asks for one name after the other until the wanted ones have come.
    async fn guids_of<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        which: &Which,
    ) -> Result<Vec<Guid>, Error<C>> {
        let is_meant = |name: &Name| match which {
            Which::Name(wanted) => same_name(&name.text, wanted),
            Which::Matching(pattern) => pattern.matches(&name.text),
            // Those are found name by name.
            Which::Guid(_) | Which::FirstOf(_) => false,
        };
        if let Which::Guid(guid) = which {
            return Ok(vec![*guid]);
        }
        let is_known = |guid: &&Guid| self.names.get(guid).is_some_and(is_meant);
        let mut found: Vec<Guid> = self.guids.iter().filter(is_known).copied().collect();
        if !found.is_empty() && !which.is_pattern() {
            found.truncate(1);
            return Ok(found);
        }
        let is_new = |guid: &&Guid| !self.names.contains_key(guid);
        for guid in self.guids.iter().filter(is_new).copied().collect::<Vec<_>>() {
            self.read_name(client, guid).await?;
            if self.names.get(&guid).is_some_and(is_meant) {
                found.push(guid);
                if !which.is_pattern() {
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// Countersets whose identifiers are public: what can be found on a host that cannot say which ones it has.
pub const WELL_KNOWN: [Guid; 8] = [
    Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36), // Processor Information
    Guid::from_u128(0x52bc5412_dac2_449c_8bc2_96443888fe6b), // Thermal Zone Information
    Guid::from_u128(0x978c167d_4764_4d9c_9824_14747351dc81), // GPU Engine
    Guid::from_u128(0xbe2139c7_ab81_424d_b107_d87f7c9322ac), // GPU Adapter Memory
    Guid::from_u128(0xf802502b_77b4_4713_81b3_3be05759da5d), // GPU Process Memory
    Guid::from_u128(0x227419d5_f6d8_4fb7_85d6_2cac1725e4a9), // GPU Local Adapter Memory
    Guid::from_u128(0xf9ed01f5_8f3e_4956_973f_9f05bc96f489), // GPU Non Local Adapter Memory
    Guid::from_u128(0xf596750d_b109_4247_a62f_dea47a46e505), // FileSystem Disk Activity
];

// Countersets that many hosts have are kept once in the process.
//
// Hosts with the same version of Windows register the same countersets, with the same names and explain texts: some
// 30 KiB for each host.

/// Those that live, by what their hosts know them by and their names. Hosts may mean different things by that.
type Known = HashMap<(Provider, String), Vec<Weak<Counterset>>>;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

impl Counterset {
    /// The same, kept with others that are the same.
    pub(crate) fn shared(self) -> Arc<Self> {
        let mut known = KNOWN.lock();
        let known = known.get_or_insert_default();
        if known.len() >= known.capacity() {
            known.retain(|_, alike| alike.iter().any(|one| one.strong_count() > 0));
        }
        let alike = known.entry((self.provider, self.name.clone())).or_default();
        alike.retain(|one| one.strong_count() > 0);
        let same = alike.iter().filter_map(Weak::upgrade).find(|one| **one == self);
        same.unwrap_or_else(|| {
            let counterset = Arc::new(self);
            alike.push(Arc::downgrade(&counterset));
            counterset
        })
    }
}

#[cfg(test)]
mod tests {
    use counters::pcq::types::InstanceType;

    use super::*;

    fn counterset(index: u32, is_type_inferred: bool) -> Counterset {
        Counterset {
            provider: Provider::V1(index),
            name: "Shared".to_owned(),
            local_name: None,
            instance_type: InstanceType::SINGLE,
            is_type_inferred,
            counters: Vec::new(),
        }
    }

    #[test]
    fn the_same_counterset_is_kept_once_and_different_ones_apart() {
        let one = counterset(7, false).shared();
        assert!(Arc::ptr_eq(&one, &counterset(7, false).shared()));
        let inferred = counterset(7, true).shared();
        assert!(inferred.is_type_inferred && !one.is_type_inferred);
        assert_eq!(counterset(8, false).shared().provider, Provider::V1(8));
        assert!(Arc::ptr_eq(&inferred, &counterset(7, true).shared()));
    }

    #[test]
    fn what_nobody_has_any_more_is_not_kept() {
        let gone = Arc::downgrade(&counterset(9, false).shared());
        assert!(gone.upgrade().is_none());
    }
}
