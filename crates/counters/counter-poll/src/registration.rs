//! What a host has registered of one counterset: its name, its counters, their texts.
//!
//! Real hosts lack resources now and then and answer with any status ([MS-PCQ] <4>), with a name that is empty, or with
//! nothing that can be believed. Each answer costs what it was about and no more, and another request code mostly says
//! the same.

use std::collections::HashMap;
use std::time::Duration;

use counters::pcq::perflibv2::PerflibV2Client;
use counters::pcq::types::{CounterId, InstanceType, Lcid};
use counters::pcq::wire::{CounterRegInfo, CounterStrings};
use dcerpc::Channel;
use rpc::Error as Rpc;
use wire::{Guid, Win32Error};

/// A counter of a counterset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// As it is registered.
    pub info: CounterRegInfo,
    pub name: String,
    /// Its name in another language, where one was asked for.
    pub local_name: Option<String>,
    /// Its explain text; empty where the host has none.
    pub help: String,
}

/// What a counterset is called.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name, for people.
    pub text: String,
    /// Whether the host gave it in English, so that it can be looked for by it.
    pub is_english: bool,
    /// Why the host gave no name at all.
    pub trouble: Option<Trouble>,
}

/// Why an answer about one counterset is of no use.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The host answered with this status.
    Refused(Win32Error),
    /// The host failed over it.
    Failed(String),
    /// It cannot be believed.
    Malformed(String),
}

/// In which languages texts are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Languages {
    /// Names beside the English ones.
    pub local: Option<Lcid>,
    /// Explain texts, before the host's own language.
    pub help: Lcid,
}

/// What is registered of a counterset, but for its English name.
#[derive(Debug)]
pub struct Registration {
    /// Its name in another language, where one was asked for.
    pub local_name: Option<String>,
    /// How many instances it may have.
    pub instance_type: InstanceType,
    /// Whether the host did not tell the instance type, so that it may be another one.
    pub is_type_inferred: bool,
    /// Its counters, in the order of registration.
    pub counters: Vec<Counter>,
}

/// Counters of countersets that have to be asked for one by one, as far as that went. What a deadline cut off goes on
/// in the next collection.
pub type Pieces = HashMap<Guid, Vec<CounterRegInfo>>;

/// What is the host's own trouble ends everything; a counterset's own is a value.
pub type Answer<T> = Result<T, Trouble>;

impl Name {
    /// Of a counterset whose name is not known.
    pub fn unknown(guid: Guid, trouble: Trouble) -> Self {
        Self { text: format!("counterset_{guid}"), is_english: false, trouble: Some(trouble) }
    }
}

/// Tells an answer about one counterset from a failure of the host or the connection.
pub fn own<C: HostChannel, T>(answer: Result<T, Error<C>>) -> Result<Answer<T>, Error<C>> {
    match answer {
        Ok(value) => Ok(Ok(value)),
        Err(counters::pcq::Error::Rpc(rpc::Error::Status { status, .. })) => {
            Ok(Err(Trouble::Refused(status)))
        }
        Err(error) if !concerns_one_call::<C>(&error) => Err(error),
        Err(error @ counters::pcq::Error::Rpc(rpc::Error::Call { .. })) => {
            Ok(Err(Trouble::Failed(error.to_string())))
        }
        Err(error) => Ok(Err(Trouble::Malformed(error.to_string()))),
    }
}

/// The English name; where the host cannot tell it, the one in its own language; else one made of the GUID.
///
/// # Errors
/// When a call fails for a reason that is not the counterset's own.
pub async fn read_name<C: HostChannel>(client: &mut Client<C>, guid: Guid) -> Result<Name, Error<C>> {
    let english = own::<C, _>(client.english_counter_set_name(guid).await)?;
    if let Some(text) = english.as_ref().ok().and_then(|text| usable(text)) {
        return Ok(Name { text, is_english: true, trouble: None });
    }
    let local = own::<C, _>(client.counter_set_name(guid, Lcid::DEFAULT).await)?;
    if let Some(text) = local.ok().and_then(|text| usable(&text)) {
        return Ok(Name { text, is_english: false, trouble: None });
    }
    let trouble = english.err().unwrap_or_else(|| Trouble::Malformed("its name is empty".to_owned()));
    Ok(Name::unknown(guid, trouble))
}

/// The counters with their texts.
///
/// # Errors
/// As [`read_name`].
pub async fn read<C: HostChannel>(
    client: &mut Client<C>,
    guid: Guid,
    languages: Languages,
    pieces: &mut Pieces,
) -> Result<Answer<Registration>, Error<C>> {
    let registered = own::<C, _>(client.counter_set_registration(guid).await)?;
    let registered = match registered {
        Err(trouble) if trouble.is_absence() => return Ok(Err(trouble)),
        registered => registered,
    };
    let names = read_names(client, guid).await?;
    let (infos, instance_type, is_type_inferred) = match registered {
        Ok(registered) => (registered.counters, registered.info.instance_type, false),
        Err(trouble) => match read_pieces(client, guid, names.as_ref(), pieces).await? {
            Some(infos) => (infos, infer_instance_type(client, guid).await?, true),
            None => return Ok(Err(trouble)),
        },
    };
    let mut helps = own::<C, _>(client.counter_helps(guid, languages.help).await)?.ok();
    if helps.is_none() {
        helps = own::<C, _>(client.counter_helps(guid, Lcid::DEFAULT).await)?.ok();
    }
    let (local_name, local_names) = match languages.local {
        Some(language) => (
            own::<C, _>(client.counter_set_name(guid, language).await)?.ok().and_then(|text| usable(&text)),
            own::<C, _>(client.counter_names(guid, language).await)?.ok(),
        ),
        None => (None, None),
    };
    let [names, helps, local_names] = [&names, &helps, &local_names].map(|strings| texts(strings.as_ref()));
    let text = |texts: &HashMap<CounterId, &str>, id| texts.get(&id).map(|text| (*text).to_owned());
    let counters = infos.into_iter().map(|info| {
        let id = info.counter_id;
        let name = text(&names, id).unwrap_or_else(|| format!("counter_{}", id.0));
        let help = text(&helps, id).unwrap_or_default();
        Counter { info, name, local_name: text(&local_names, id), help }
    });
    let counters = counters.collect();
    pieces.remove(&guid);
    Ok(Ok(Registration { local_name, instance_type, is_type_inferred, counters }))
}

async fn read_names<C: HostChannel>(
    client: &mut Client<C>,
    guid: Guid,
) -> Result<Option<CounterStrings>, Error<C>> {
    match own::<C, _>(client.english_counter_names(guid).await)? {
        Ok(names) => Ok(Some(names)),
        Err(_trouble) => Ok(own::<C, _>(client.counter_names(guid, Lcid::DEFAULT).await)?.ok()),
    }
}

/// The counters one by one, where the host does not tell them together: request code 1 fails over resources that code 2
/// has no use for ([MS-PCQ] <4>). Their ids are those that have names.
async fn read_pieces<C: HostChannel>(
    client: &mut Client<C>,
    guid: Guid,
    names: Option<&CounterStrings>,
    pieces: &mut Pieces,
) -> Result<Option<Vec<CounterRegInfo>>, Error<C>> {
    let Some(names) = names else { return Ok(None) };
    let mut ids: Vec<CounterId> = Vec::new();
    for (id, _) in names.entries.iter().take(PIECES_MAX) {
        if !ids.contains(id) {
            ids.push(*id);
        }
    }
    for id in &ids {
        let known = pieces.get(&guid).is_some_and(|known| known.iter().any(|info| info.counter_id == *id));
        if !known
            && let Ok(info) = own::<C, _>(client.counter_registration(guid, *id).await)?
            && info.counter_id == *id
        {
            pieces.entry(guid).or_default().push(info);
        }
    }
    let found = pieces.get(&guid).map(|known| {
        let of = |id: &CounterId| known.iter().find(|info| info.counter_id == *id).copied();
        ids.iter().filter_map(of).collect()
    });
    Ok(found)
}

/// Whether instances have names, by those that are there now; names are what most countersets have.
async fn infer_instance_type<C: HostChannel>(
    client: &mut Client<C>,
    guid: Guid,
) -> Result<InstanceType, Error<C>> {
    let there = own::<C, _>(client.enumerate_counter_set_instances(guid).await)?;
    Ok(match there {
        Ok(instances) if instances.len() == 1 && instances[0].name.is_empty() => InstanceType::SINGLE,
        _ => InstanceType::MULTIPLE,
    })
}

impl Trouble {
    /// Whether the counterset is not there, or its provider does not run: other request codes say the same.
    pub const fn is_absence(&self) -> bool {
        matches!(self, Self::Refused(Win32Error::ERROR_WMI_GUID_NOT_FOUND))
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(status) => write!(f, "{status}"),
            Self::Failed(reason) | Self::Malformed(reason) => f.write_str(reason),
        }
    }
}

/// A text that says something.
pub fn usable(text: &str) -> Option<String> {
    Some(text).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// The text of each counter, the first one where an id occurs twice. An empty one is none.
fn texts(strings: Option<&CounterStrings>) -> HashMap<CounterId, &str> {
    let entries = strings.map_or(&[][..], |strings| &strings.entries).iter().rev();
    let mut texts: HashMap<CounterId, &str> =
        entries.map(|(id, text)| (*id, text.as_deref().unwrap_or_default())).collect();
    texts.retain(|_, text| !text.is_empty());
    texts
}

/// Counters that are asked for one by one; each takes a call.
const PIECES_MAX: usize = 1024;

/// The calls of PerflibV2 to one host, with what a poller has to know of time and of errors: how the host is reached is
/// the caller's.
pub trait HostChannel: Channel {
    /// What is left for the calls that follow.
    fn time_left(&self) -> Duration;

    /// How long the slowest answer took so far.
    fn slowest_answer(&self) -> Duration;

    /// From now on each call takes so long at most; with nothing, as long as there is time.
    fn limit_calls(&mut self, call_max: Option<Duration>);

    /// Whether the call got no answer in time.
    fn is_timeout(error: &Self::Error) -> bool;

    /// Whether the error, such as a fault, is about one call alone, so that others may succeed over the same channel.
    fn concerns_one_call(error: &Self::Error) -> bool;
}

/// A client of PerflibV2 over `C`.
pub type Client<C> = PerflibV2Client<C>;

/// Why a method of PerflibV2 over `C` failed.
pub type Error<C> = counters::pcq::Error<<C as Channel>::Error>;

/// Whether an error is about what one call asked for alone, so that calls for other things may succeed over the same
/// channel: a status, an answer that cannot be believed or is too large, or a fault.
pub(crate) fn concerns_one_call<C: HostChannel>(error: &Error<C>) -> bool {
    match error {
        counters::pcq::Error::Rpc(Rpc::Call { source, .. }) => C::concerns_one_call(source),
        counters::pcq::Error::Rpc(Rpc::Status { .. } | Rpc::Stub { .. })
        | counters::pcq::Error::Buffer { .. }
        | counters::pcq::Error::LimitExceeded { .. }
        | counters::pcq::Error::Unsettled { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_blanks_says_no_more_than_an_empty_one() {
        assert_eq!(["", " ", "\t \u{a0}"].map(usable), [const { None }; 3]);
        assert_eq!(usable(" Omega").as_deref(), Some(" Omega"));
    }

    #[test]
    fn a_counter_whose_name_is_empty_has_none() {
        let (named, empty, gone) = (CounterId(1), CounterId(2), CounterId(3));
        let entries = vec![(named, Some("Clouds".to_owned())), (empty, Some(String::new())), (gone, None)];
        let strings = CounterStrings { entries };
        let texts = texts(Some(&strings));
        let found = [named, empty, gone, CounterId(4)].map(|id| texts.get(&id).copied());
        assert_eq!(found, [Some("Clouds"), None, None, None]);
    }
}
