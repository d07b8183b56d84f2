//! What a host offers, as far as it tells.

use counters::pcq::types::{Attrib, CounterId, InstanceType, Lcid};
use counters::pcq::wire::{CounterRegInfo, InstanceInfo};
use wire::Guid;

use crate::Provider;
use crate::poller::labels::numbers_of;
use crate::reading::Numbers;
use crate::registration::{
    self, Answer, Client, Counter, Error, HostChannel, Languages, Name, Pieces, Registration, own,
};

/// A counterset with all that is known of it.
#[derive(Clone, Debug)]
pub struct Counterset {
    /// Which kind of provider gives it, and what the host knows it by.
    pub provider: Provider,
    pub name: Name,
    /// Its name in the language that was asked for.
    pub local_name: Option<String>,
    /// Its explain text; empty where the host has none.
    pub help: String,
    /// How many instances it may have.
    pub instance_type: InstanceType,
    /// Its counters, in the order of registration.
    pub counters: Vec<Counter>,
}

impl Counterset {
    /// The places of the counters whose values number the instances, where there are some. Instances have their whole names.
    pub(crate) fn numbers(&self) -> Option<Numbers> {
        let numbers = numbers_of(self.provider, &self.name.text, &self.counters);
        numbers.map(|numbers| Numbers { names_owner: false, ..numbers })
    }

    /// Whether a counter is there for the sake of others: a base, a clock, a number of things.
    pub fn is_helper(&self, counter: &Counter) -> bool {
        let id = counter.info.counter_id;
        let is_base = counter_types::properties(counter.info.counter_type).is_some_and(|row| row.is_base);
        is_base
            || counter.info.attrib.contains(Attrib::NO_DISPLAYABLE)
            || self.counters.iter().any(|other| {
                let CounterRegInfo { counter_id, perf_time_id, perf_freq_id, multi_id, .. } = other.info;
                counter_id != id
                    && id != CounterId::NONE
                    && [perf_time_id, perf_freq_id, multi_id].contains(&id)
            })
    }
}

/// The counterset with its counters; names in another language where `lcid` is given.
///
/// # Errors
/// When a call fails for a reason that is not the counterset's own.
pub async fn counterset<C: HostChannel>(
    client: &mut Client<C>,
    guid: Guid,
    name: Name,
    lcid: Option<Lcid>,
) -> Result<Answer<Counterset>, Error<C>> {
    let languages = Languages { local: lcid, help: Lcid::ENGLISH_US };
    // A command goes on for as long as it takes, so that there is nothing to go on with later.
    let read = registration::read(client, guid, languages, &mut Pieces::new()).await?;
    let registered = match read {
        Ok(registered) => registered,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let mut help = own::<C, _>(client.counter_set_help(guid, Lcid::ENGLISH_US).await)?.ok();
    if help.is_none() {
        help = own::<C, _>(client.counter_set_help(guid, Lcid::DEFAULT).await)?.ok();
    }
    let help = help.unwrap_or_default();
    let Registration { local_name, instance_type, counters, .. } = registered;
    let provider = Provider::V2(guid);
    Ok(Ok(Counterset { provider, name, local_name, help, instance_type, counters }))
}

/// The instances of a version 2 counterset that are there now; none where there can be only one.
///
/// # Errors
/// When the call fails.
pub async fn instances<C: HostChannel>(
    client: &mut Client<C>,
    counterset: &Counterset,
) -> Result<Vec<InstanceInfo>, Error<C>> {
    if counterset.instance_type == InstanceType::SINGLE {
        return Ok(Vec::new());
    }
    let Some(guid) = counterset.provider.guid() else { return Ok(Vec::new()) };
    // Where there are none, the answer is a status.
    Ok(own::<C, _>(client.enumerate_counter_set_instances(guid).await)?.unwrap_or_default())
}
