//! Classic counter objects: those of version 1 providers, which Windows serves by its registry (`HKEY_PERFORMANCE_DATA`).
//!
//! A `ClassicPoller` asks for what no version 2 counterset is. It finds objects by their English names in the host's
//! table, asks for them by their indexes in one call, and never for all objects: the host would call every provider.
//! A reply brings the definitions of its counters with it, so that names are needed only for what is new.

mod poller;
mod questions;
mod survey;
mod watched;

use std::collections::HashMap;
use std::error::Error as StdError;

use counter_types::same_name;
use counters::pcq::types::{CounterId, InstanceType, Lcid};
use counters::pcq::wire::CounterRegInfo;
use counters::perflib_v1::{CounterDefinition, Instances, NameKind, NameTable, ObjectType};
use counters::rrp::Error;
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};
use wire::{DecodeError, FileTime};

pub(crate) use self::poller::ClassicPoller;
pub use self::questions::Questions;
pub use self::survey::{Reach, Survey, explain, names, survey};
pub(crate) use self::survey::{close, described, indexes, is_known};
pub(crate) use self::watched::objects_of;

use super::Which;
use super::registration::HostChannel;
use crate::missing::Missing;
use crate::reading::id_of;
use crate::registration::Counter;
use crate::{Counterset, Provider, Wanted};

/// Why there are no values of classic objects.
#[derive(Debug)]
pub enum ClassicError<E: StdError + 'static> {
    Call(counters::rrp::Error<E>),
    /// A reply is no performance data.
    Malformed(DecodeError),
}

impl<E: StdError + 'static> From<counters::rrp::Error<E>> for ClassicError<E> {
    fn from(error: counters::rrp::Error<E>) -> Self {
        Self::Call(error)
    }
}

impl<E: StdError + 'static> ClassicError<E> {
    /// Whether a call got no answer in time over `C`.
    pub fn is_timeout<C: HostChannel<Error = E>>(&self) -> bool {
        matches!(self, Self::Call(counters::rrp::Error::Rpc(rpc::Error::Call { source, .. })) if C::is_timeout(source))
    }
}

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) wanted: &'a [Wanted],
    /// Which of them no version 2 counterset is.
    pub(crate) unmet: &'a [Unmet],
    /// Names of the version 2 countersets that are watched: patterns match no classic object of such a name.
    pub(crate) watched_names: &'a [String],
}

/// Something that is wanted and may be a classic object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unmet {
    /// Its place among all that is wanted.
    pub(crate) wanted: usize,
    /// Of a choice, how many names come before that of the version 2 counterset that the host has.
    pub(crate) names_max: usize,
}

/// What the replies of a collection showed.
#[derive(Debug)]
pub(crate) struct ClassicSeen<U> {
    /// Objects of which there are no values.
    pub(crate) missing: Vec<Missing<U>>,
    /// Of each object that is watched, in order, whether its values were sent.
    pub(crate) covered: Vec<bool>,
}

/// The counterset that `object` is, with names from the host's tables. Its counters' identifiers are their places.
fn counterset_of(object: &ObjectType<'_>, name: &str, tables: &Tables) -> Counterset {
    let definitions: Vec<CounterDefinition> = object.counters().collect();
    let instance_type = match object.instances() {
        Instances::Single(_) => InstanceType::SINGLE,
        Instances::Many(_) | Instances::Unasked => InstanceType::MULTIPLE,
    };
    let local = |index| tables.local_names.as_ref().and_then(|names| text(names, index));
    let counters = definitions.iter().enumerate().map(|(place, definition)| Counter {
        info: info_of(place, definition, definitions.get(place + 1)),
        name: text(&tables.names, definition.name_index)
            .unwrap_or_else(|| format!("counter_{}", definition.name_index)),
        local_name: local(definition.name_index),
        help: text(&tables.helps, definition.help_index).unwrap_or_default(),
    });
    Counterset {
        provider: Provider::V1(object.name_index),
        name: name.to_owned(),
        local_name: local(object.name_index),
        instance_type,
        is_type_inferred: false,
        counters: counters.collect(),
    }
}

/// What a counter is divided by comes right after it (winperf.h on `PERF_AVERAGE_BASE` and its like).
fn info_of(place: usize, definition: &CounterDefinition, next: Option<&CounterDefinition>) -> CounterRegInfo {
    let row = counter_types::properties(definition.counter_type);
    let is_base = |next: &&CounterDefinition| {
        counter_types::properties(next.counter_type).is_some_and(|row| row.is_base)
    };
    let base = next.filter(is_base).map_or(CounterId::NONE, |_| id_of(place + 1));
    let needs = row.map(|row| row.needs).unwrap_or_default();
    CounterRegInfo {
        detail_level: definition.detail_level,
        default_scale: definition.default_scale,
        base_counter_id: if needs.base { base } else { CounterId::NONE },
        multi_id: if needs.multi { base } else { CounterId::NONE },
        ..CounterRegInfo::new(id_of(place), definition.counter_type)
    }
}

fn text(table: &NameTable, index: u32) -> Option<String> {
    table.get(index).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

// Which indexes of a host's table of names may be objects that are wanted.

/// An index whose name is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    index: u32,
    /// Its name, as the host writes it.
    name: String,
    /// Which of the wanted ones it is.
    wanted: usize,
    /// Of a choice, the place of its name among the names.
    rank: usize,
    /// Whether the host has one that comes before it.
    is_beaten: bool,
}

/// All indexes whose names are wanted, in the order in which they are wanted.
fn candidates(search: Search<'_>, names: &NameTable) -> Vec<Candidate> {
    let mut found = Vec::new();
    for &Unmet { wanted, names_max } in search.unmet {
        let Some(settings) = search.wanted.get(wanted) else { continue };
        let rank_of = |name: &str| match &settings.which {
            Which::Name(wanted) => same_name(name, wanted).then_some(0),
            Which::FirstOf(names) => names.iter().take(names_max).position(|wanted| same_name(name, wanted)),
            Which::Matching(pattern) => {
                let is_watched = || search.watched_names.iter().any(|other| same_name(other, name));
                (pattern.matches(name) && !is_watched()).then_some(0)
            }
            Which::Guid(_) => None,
        };
        let matching = names.iter().filter_map(|(index, name)| Some((index, name, rank_of(name)?)));
        let mut of_this: Vec<Candidate> = matching
            .map(|(index, name, rank)| Candidate {
                index,
                name: name.to_owned(),
                wanted,
                rank,
                is_beaten: false,
            })
            .collect();
        of_this.sort_unstable_by_key(|candidate| (candidate.rank, candidate.index));
        of_this.truncate(CANDIDATES_MAX);
        found.append(&mut of_this);
    }
    found
}

/// Of a choice the first object that `is_there` counts, and the others do not.
fn choose(candidates: &mut [Candidate], is_there: impl Fn(u32) -> bool) {
    let mut best: HashMap<usize, usize> = HashMap::new();
    for one in candidates.iter().filter(|one| is_there(one.index)) {
        let rank = best.entry(one.wanted).or_insert(one.rank);
        *rank = one.rank.min(*rank);
    }
    for one in candidates {
        one.is_beaten = best.get(&one.wanted).is_some_and(|best| one.rank > *best);
    }
}

/// Names that one entry may match. A pattern that matches counters, too, would ask for hundreds of indexes that are no
/// objects, and Windows calls providers for each that it does not know.
const CANDIDATES_MAX: usize = 64;

// The tables of names of a host, read when something has to be found or named, and not kept: they take megabytes.

/// The texts of a host's objects and counters.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) names: NameTable,
    helps: NameTable,
    /// Names in the language of the settings.
    local_names: Option<NameTable>,
}

impl Tables {
    /// Reads the tables. What is not English may be missing.
    pub(crate) async fn read<C: HostChannel>(
        client: &mut RegistryClient<C>,
        key: &Key,
        language: Option<Lcid>,
    ) -> Result<Self, Error<C::Error>> {
        let names = table(client, key, &NameKind::Counter.value_name(ENGLISH)).await?;
        let helps = optional(table(client, key, &NameKind::Help.value_name(ENGLISH)).await)?;
        let local_names = match language {
            Some(language) if primary(language) != ENGLISH => {
                let name = NameKind::Counter.value_name(primary(language));
                optional(table(client, key, &name).await).map(Some)?
            }
            _ => None,
        };
        Ok(Self { names, helps: helps.unwrap_or_default(), local_names: local_names.flatten() })
    }
}

/// When the host's table of English names was written last; nothing where the host does not say.
async fn last_write_time<C: HostChannel>(
    client: &mut RegistryClient<C>,
) -> Result<Option<FileTime>, Error<C::Error>> {
    let Some(root) = optional(client.open_local_machine().await)? else { return Ok(None) };
    let written = match optional(client.open_key(&root, NAMES_KEY).await)? {
        Some(key) => {
            let info = optional(client.query_info_key(&key).await)?;
            client.close_key(key).await?;
            info.map(|info| info.last_write_time)
        }
        None => None,
    };
    client.close_key(root).await?;
    Ok(written.filter(|time| *time != FileTime::default()))
}

async fn table<C: HostChannel>(
    client: &mut RegistryClient<C>,
    key: &Key,
    name: &str,
) -> Result<NameTable, Error<C::Error>> {
    let mut room = ValueRoom::new(TABLE_ROOM_BYTES);
    let value = client.query_value(key, name, &mut room).await?;
    Ok(NameTable::decode(value.bytes()))
}

/// Nothing where the host refuses, and the error where it fails.
fn optional<T, E: std::error::Error + 'static>(answer: Result<T, Error<E>>) -> Result<Option<T>, Error<E>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Error::Rpc(rpc::Error::Status { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The primary language of a locale ([MS-LCID] 2.1): its low ten bits.
fn primary(language: Lcid) -> u16 {
    // The mask leaves what fits.
    (language.0 & 0x3ff) as u16
}

/// The primary language English.
const ENGLISH: u16 = 9;
/// The key that holds the English tables, below `HKEY_LOCAL_MACHINE`.
const NAMES_KEY: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib\009";
/// A plain server's table of names takes 100 to 200 KiB.
const TABLE_ROOM_BYTES: u32 = 256 << 10;
