//! What a host offers, in English: countersets by name, their counters, names and explain texts.
//!
//! Registrations rarely change while a host runs, so the catalog outlives connections. It is filled step by
//! step: what a deadline cut off goes on in the next collection.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use dcerpc::Channel;
use ms_dtyp::{Guid, Win32Error};
use ms_pcq::perflibv2::PerflibV2Client;
use ms_pcq::types::{CounterId, InstanceType, Lcid};
use ms_pcq::wire::{CounterRegInfo, CounterStrings};
use plugin_sdk::Failure;

use crate::config::{Which, same_name};

/// The countersets that were looked at so far.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// All countersets of the host, once they were enumerated.
    guids: Vec<Guid>,
    /// Why the host may have more than those.
    unlisted: Option<Failure>,
    names: HashMap<Guid, Name>,
    countersets: HashMap<Guid, Arc<Counterset>>,
    /// The language in which names are told beside English.
    language: Option<Lcid>,
}

/// What a counterset is called.
#[derive(Debug)]
struct Name {
    text: String,
    /// Whether the host told it in English; where it did not, it may do so the next time.
    is_english: bool,
}

/// What became of the search for a counterset.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// Here it is.
    Found(Arc<Counterset>),
    /// The host has it, under this name, and does not tell what is in it: its provider may not be running.
    Refused(String, Win32Error),
    /// What the host tells of the one with this name cannot be believed.
    Malformed(String, String),
}

/// A counterset whose registration was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counterset {
    /// Its identifier.
    pub(crate) guid: Guid,
    /// Its English name, as the host writes it.
    pub(crate) name: String,
    /// Its name in the language that the settings ask for.
    pub(crate) local_name: Option<String>,
    /// How many instances it may have.
    pub(crate) instance_type: InstanceType,
    /// Its counters, in the order of registration.
    pub(crate) counters: Vec<Counter>,
}

/// A counter of a counterset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// As it is registered.
    pub(crate) info: CounterRegInfo,
    /// Its English name.
    pub(crate) name: String,
    /// Its name in the language that the settings ask for.
    pub(crate) local_name: Option<String>,
    /// Its explain text; empty where the host has none.
    pub(crate) help: String,
}

type Result<T, C> = std::result::Result<T, ms_pcq::Error<<C as Channel>::Error>>;

impl Catalog {
    /// Whether it is known which countersets the host has.
    pub(crate) const fn is_enumerated(&self) -> bool {
        !self.guids.is_empty()
    }

    /// These countersets are there, and others may be where `unlisted` says why. Answers whether that is news.
    pub(crate) fn enumerated(&mut self, guids: Vec<Guid>, unlisted: Option<Failure>) -> bool {
        let differs = guids != self.guids;
        self.guids = guids;
        self.unlisted = unlisted;
        differs
    }

    /// Why the host may have countersets that it did not list.
    pub(crate) const fn unlisted(&self) -> Option<&Failure> {
        self.unlisted.as_ref()
    }

    /// The countersets that are meant: one or none by name or identifier, any number by a pattern.
    ///
    /// # Errors
    /// When a call fails for a reason that is not the counterset's own.
    pub(crate) async fn find<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        which: &Which,
    ) -> Result<Vec<Lookup>, C> {
        let mut found = Vec::new();
        for guid in self.guids_of(client, which).await? {
            found.push(self.look_up(client, guid).await?);
        }
        Ok(found)
    }

    /// The English names of countersets that are known so far.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.guids.iter().filter_map(|guid| self.names.get(guid)).map(|name| name.text.as_str())
    }

    /// Forgets which countersets the host has, but not what is known of each: software may have been installed.
    pub(crate) fn forget_enumeration(&mut self) {
        self.guids.clear();
        self.names.retain(|_, name| name.is_english);
    }

    /// Forgets what is in a counterset: its provider was exchanged.
    pub(crate) fn forget(&mut self, guid: Guid) {
        self.countersets.remove(&guid);
    }

    /// Names in this language are told from now on.
    pub(crate) fn speak(&mut self, language: Option<Lcid>) {
        if language != self.language {
            self.language = language;
            self.countersets.clear();
        }
    }

    async fn look_up<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        guid: Guid,
    ) -> Result<Lookup, C> {
        if let Some(known) = self.countersets.get(&guid) {
            return Ok(Lookup::Found(Arc::clone(known)));
        }
        let name = match self.names.entry(guid) {
            Entry::Occupied(known) => known.get().text.clone(),
            Entry::Vacant(place) => place.insert(read_name(client, guid).await?).text.clone(),
        };
        match read_counterset(client, guid, name.clone(), self.language).await {
            Ok(counterset) => {
                let counterset = Arc::new(counterset);
                self.countersets.insert(guid, Arc::clone(&counterset));
                Ok(Lookup::Found(counterset))
            }
            Err(ms_pcq::Error::Status { status, .. }) => Ok(Lookup::Refused(name, status)),
            Err(error @ (ms_pcq::Error::Buffer { .. } | ms_pcq::Error::Stub { .. })) => {
                Ok(Lookup::Malformed(name, error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// Asks for one name after the other until the wanted ones have come.
    async fn guids_of<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        which: &Which,
    ) -> Result<Vec<Guid>, C> {
        let is_meant = |name: &Name| match which {
            Which::Name(wanted) => same_name(&name.text, wanted),
            Which::Matching(pattern) => pattern.matches(&name.text),
            Which::Guid(_) => false,
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
            let name = read_name(client, guid).await?;
            let meant = is_meant(&name);
            self.names.insert(guid, name);
            if meant {
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
pub(crate) const WELL_KNOWN: [Guid; 8] = [
    Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36), // Processor Information
    Guid::from_u128(0x52bc5412_dac2_449c_8bc2_96443888fe6b), // Thermal Zone Information
    Guid::from_u128(0x978c167d_4764_4d9c_9824_14747351dc81), // GPU Engine
    Guid::from_u128(0xbe2139c7_ab81_424d_b107_d87f7c9322ac), // GPU Adapter Memory
    Guid::from_u128(0xf802502b_77b4_4713_81b3_3be05759da5d), // GPU Process Memory
    Guid::from_u128(0x227419d5_f6d8_4fb7_85d6_2cac1725e4a9), // GPU Local Adapter Memory
    Guid::from_u128(0xf9ed01f5_8f3e_4956_973f_9f05bc96f489), // GPU Non Local Adapter Memory
    Guid::from_u128(0xf596750d_b109_4247_a62f_dea47a46e505), // FileSystem Disk Activity
];

/// The English name; where the host cannot tell it, the one in its own language; else one made of the GUID.
async fn read_name<C: Channel>(client: &mut PerflibV2Client<C>, guid: Guid) -> Result<Name, C> {
    if let Some(text) = told(client.english_counter_set_name(guid).await)? {
        return Ok(Name { text, is_english: true });
    }
    let own = told(client.counter_set_name(guid, Lcid::DEFAULT).await)?;
    Ok(Name { text: own.unwrap_or_else(|| format!("counterset_{guid}")), is_english: false })
}

async fn read_counterset<C: Channel>(
    client: &mut PerflibV2Client<C>,
    guid: Guid,
    name: String,
    language: Option<Lcid>,
) -> Result<Counterset, C> {
    let registration = client.counter_set_registration(guid).await?;
    let mut names = told(client.english_counter_names(guid).await)?;
    if names.is_none() {
        names = told(client.counter_names(guid, Lcid::DEFAULT).await)?;
    }
    let mut helps = told(client.counter_helps(guid, language.unwrap_or(Lcid::ENGLISH_US)).await)?;
    if helps.is_none() {
        helps = told(client.counter_helps(guid, Lcid::DEFAULT).await)?;
    }
    let (local_name, local_names) = match language {
        Some(language) => (
            told(client.counter_set_name(guid, language).await)?,
            told(client.counter_names(guid, language).await)?,
        ),
        None => (None, None),
    };
    let text = |strings: &Option<CounterStrings>, id: CounterId| {
        let text = strings.as_ref().and_then(|strings| strings.text(id));
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let counters = registration.counters.into_iter().map(|info| {
        let id = info.counter_id;
        let name = text(&names, id).unwrap_or_else(|| format!("counter_{}", id.0));
        let help = text(&helps, id).unwrap_or_default();
        Counter { info, name, local_name: text(&local_names, id), help }
    });
    let counters = counters.collect();
    Ok(Counterset { guid, name, local_name, instance_type: registration.info.instance_type, counters })
}

/// What a call answered, or nothing where the host answered with a status: real hosts lack resources now and then, with
/// any status ([MS-PCQ] <4>). A call that failed altogether stays an error.
pub(crate) fn told<T, E>(
    answer: std::result::Result<T, ms_pcq::Error<E>>,
) -> std::result::Result<Option<T>, ms_pcq::Error<E>>
where
    E: std::error::Error + 'static,
{
    match answer {
        Ok(told) => Ok(Some(told)),
        Err(ms_pcq::Error::Status { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
