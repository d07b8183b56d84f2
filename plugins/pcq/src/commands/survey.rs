//! What a host offers, as far as it tells.

use dcerpc::Channel;
use ms_dtyp::Guid;
use ms_pcq::perflibv2::PerflibV2Client;
use ms_pcq::types::{Attrib, CounterId, InstanceType, Lcid};
use ms_pcq::wire::{CounterRegInfo, CounterStrings, InstanceInfo};

use crate::catalog::told;

/// A counterset with all that is known of it.
#[derive(Clone, Debug)]
pub(super) struct Counterset {
    pub(super) guid: Guid,
    pub(super) name: Name,
    /// In the language that was asked for.
    pub(super) local_name: Option<String>,
    pub(super) help: String,
    pub(super) instance_type: InstanceType,
    pub(super) counters: Vec<Counter>,
}

/// A counter of a counterset.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) info: CounterRegInfo,
    pub(super) name: String,
    pub(super) local_name: Option<String>,
    pub(super) help: String,
}

/// What a counterset is called.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    /// Whether the host told it in English, so that it can be looked for by it.
    pub(super) is_english: bool,
}

impl Counterset {
    /// Whether a counter is there for the sake of others: a base, a clock, a number of things.
    pub(super) fn is_helper(&self, counter: &Counter) -> bool {
        let id = counter.info.counter_id;
        let is_base = counters::properties(counter.info.counter_type).is_some_and(|row| row.is_base);
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

type Result<T, C> = std::result::Result<T, ms_pcq::Error<<C as Channel>::Error>>;

/// The English name; where the host cannot tell it, the one in its own language; else one made of the GUID.
///
/// # Errors
/// When a call fails for a reason that is not the counterset's own.
pub(super) async fn name<C: Channel>(client: &mut PerflibV2Client<C>, guid: Guid) -> Result<Name, C> {
    if let Some(text) = told(client.english_counter_set_name(guid).await)? {
        return Ok(Name { text, is_english: true });
    }
    let own = told(client.counter_set_name(guid, Lcid::DEFAULT).await)?;
    Ok(Name { text: own.unwrap_or_else(|| format!("counterset_{guid}")), is_english: false })
}

/// The counterset with its counters; names in another language where `lcid` is given.
///
/// # Errors
/// When a call fails; a status or a reply that cannot be believed is the counterset's own.
pub(super) async fn counterset<C: Channel>(
    client: &mut PerflibV2Client<C>,
    guid: Guid,
    name: Name,
    lcid: Option<Lcid>,
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
    let mut help = told(client.counter_set_help(guid, Lcid::ENGLISH_US).await)?;
    if help.is_none() {
        help = told(client.counter_set_help(guid, Lcid::DEFAULT).await)?;
    }
    let (mut local_name, mut local_names) = (None, None);
    if let Some(lcid) = lcid {
        local_name = told(client.counter_set_name(guid, lcid).await)?;
        local_names = told(client.counter_names(guid, lcid).await)?;
    }
    let counters = registration.counters.into_iter().map(|info| {
        let id = info.counter_id;
        let name = text(names.as_ref(), id).unwrap_or_else(|| format!("counter_{}", id.0));
        let local_name = text(local_names.as_ref(), id);
        Counter { info, name, local_name, help: text(helps.as_ref(), id).unwrap_or_default() }
    });
    let counters = counters.collect();
    let instance_type = registration.info.instance_type;
    Ok(Counterset { guid, name, local_name, help: help.unwrap_or_default(), instance_type, counters })
}

fn text(strings: Option<&CounterStrings>, id: CounterId) -> Option<String> {
    strings.and_then(|strings| strings.text(id)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The instances that are there now; none where there can be only one.
///
/// # Errors
/// When the call fails.
pub(super) async fn instances<C: Channel>(
    client: &mut PerflibV2Client<C>,
    counterset: &Counterset,
) -> Result<Vec<InstanceInfo>, C> {
    if counterset.instance_type == InstanceType::SINGLE {
        return Ok(Vec::new());
    }
    // Where there are none, the answer is a status.
    let told = told(client.enumerate_counter_set_instances(counterset.guid).await)?;
    Ok(told.unwrap_or_default())
}
