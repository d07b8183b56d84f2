//! What a host offers, in English: countersets by name, their counters, names and explain texts.
//!
//! Registrations do not change while a host runs, so the catalog outlives connections. It is filled step by
//! step: what a deadline cut off goes on in the next collection.

use std::collections::HashMap;

use dcerpc::Channel;
use ms_dtyp::{Guid, Win32Error};
use ms_pcq::perflibv2::PerflibV2Client;
use ms_pcq::types::{CounterId, InstanceType, Lcid};
use ms_pcq::wire::{CounterRegInfo, CounterStrings};

use crate::config::same_name;

/// The countersets that were looked at so far.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// All countersets of the host, once they were enumerated.
    guids: Vec<Guid>,
    names: HashMap<Guid, Name>,
    countersets: HashMap<Guid, Counterset>,
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
pub(crate) enum Lookup<'a> {
    /// Here it is.
    Found(&'a Counterset),
    /// The host has none of that name.
    Unknown,
    /// The host has it and does not tell what is in it: its provider may not be running.
    Refused(Win32Error),
    /// What the host tells of it cannot be believed.
    Malformed(String),
}

/// A counterset whose registration was read.
#[derive(Clone, Debug)]
pub(crate) struct Counterset {
    /// Its identifier.
    pub(crate) guid: Guid,
    /// Its English name, as the host writes it.
    pub(crate) name: String,
    /// How many instances it may have.
    pub(crate) instance_type: InstanceType,
    /// Its counters, in the order of registration.
    pub(crate) counters: Vec<Counter>,
}

/// A counter of a counterset.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// As it is registered.
    pub(crate) info: CounterRegInfo,
    /// Its English name.
    pub(crate) name: String,
    /// Its explain text; empty where the host has none.
    pub(crate) help: String,
}

type Result<T, C> = std::result::Result<T, ms_pcq::Error<<C as Channel>::Error>>;

impl Catalog {
    /// The counterset with the English name `name`.
    ///
    /// # Errors
    /// When a call fails for a reason that is not the counterset's own.
    pub(crate) async fn find<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        name: &str,
    ) -> Result<Lookup<'_>, C> {
        let Some(guid) = self.guid_of(client, name).await? else { return Ok(Lookup::Unknown) };
        if !self.countersets.contains_key(&guid) {
            let name = self.names.get(&guid).map(|name| name.text.clone()).unwrap_or_default();
            match read_counterset(client, guid, name).await {
                Ok(counterset) => {
                    self.countersets.insert(guid, counterset);
                }
                Err(ms_pcq::Error::Status { status, .. }) => return Ok(Lookup::Refused(status)),
                Err(error @ (ms_pcq::Error::Buffer { .. } | ms_pcq::Error::Stub { .. })) => {
                    return Ok(Lookup::Malformed(error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.countersets.get(&guid).map_or(Lookup::Unknown, Lookup::Found))
    }

    /// Forgets which countersets the host has, but not what is known of each: software may have been installed.
    pub(crate) fn forget_enumeration(&mut self) {
        self.guids.clear();
        self.names.retain(|_, name| name.is_english);
    }

    /// Asks for one name after the other until the wanted one has come.
    async fn guid_of<C: Channel>(
        &mut self,
        client: &mut PerflibV2Client<C>,
        wanted: &str,
    ) -> Result<Option<Guid>, C> {
        if self.guids.is_empty() {
            self.guids = client.enumerate_counter_set().await?;
        }
        let known = |guid: &&Guid| self.names.get(guid).is_some_and(|name| same_name(&name.text, wanted));
        if let Some(guid) = self.guids.iter().find(known) {
            return Ok(Some(*guid));
        }
        for guid in
            self.guids.iter().filter(|guid| !self.names.contains_key(guid)).copied().collect::<Vec<_>>()
        {
            let name = read_name(client, guid).await?;
            let found = same_name(&name.text, wanted);
            self.names.insert(guid, name);
            if found {
                return Ok(Some(guid));
            }
        }
        Ok(None)
    }
}

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
) -> Result<Counterset, C> {
    let registration = client.counter_set_registration(guid).await?;
    let mut names = told(client.english_counter_names(guid).await)?;
    if names.is_none() {
        names = told(client.counter_names(guid, Lcid::DEFAULT).await)?;
    }
    let mut helps = told(client.counter_helps(guid, Lcid::ENGLISH_US).await)?;
    if helps.is_none() {
        helps = told(client.counter_helps(guid, Lcid::DEFAULT).await)?;
    }
    let text = |strings: &Option<CounterStrings>, id: CounterId| {
        let text = strings.as_ref().and_then(|strings| strings.text(id));
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let counters = registration.counters.into_iter().map(|info| {
        let name = text(&names, info.counter_id).unwrap_or_else(|| format!("counter_{}", info.counter_id.0));
        Counter { info, name, help: text(&helps, info.counter_id).unwrap_or_default() }
    });
    let counters = counters.collect();
    Ok(Counterset { guid, name, instance_type: registration.info.instance_type, counters })
}

/// A text, or nothing where the host answered with a status: real hosts lack resources now and then, with any
/// status ([MS-PCQ] <4>). A call that failed altogether stays an error.
fn told<T, E>(
    answer: std::result::Result<T, ms_pcq::Error<E>>,
) -> std::result::Result<Option<T>, ms_pcq::Error<E>>
where
    E: std::error::Error + 'static,
{
    match answer {
        Ok(text) => Ok(Some(text)),
        Err(ms_pcq::Error::Status { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
