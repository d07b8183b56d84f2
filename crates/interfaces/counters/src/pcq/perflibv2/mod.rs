//! [MS-PCQ] 3.1.4.1, the interface `PerflibV2`: its [`methods`] and both sides of it.

mod client;
pub mod methods;
mod server;

use core::fmt;

use rpc::ndr::{NdrDecode, NdrEncode};
use wire::{Decode, DecodeResult, EncodeError, EncodeResult, Guid, ReadCursor};

pub use self::client::{CounterData, Limits, PerflibV2Client, Query};
pub use self::server::{PerflibV2Service, dispatch};
pub use rpc::CallInfo;

use super::types::{CounterId, InstanceId, Lcid, RequestCode};
use super::wire::{CounterIdentifier, CounterRegInfo, CounterSetRegistration, CounterStrings, WideStr};

/// [MS-PCQ] 3.1.4.1.7 `dwAdd`: what `PerflibV2ValidateCounters` does with the identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
#[ndr(wire = u32)]
pub enum Change {
    /// Add them to the query.
    Add,
    /// Remove them from it.
    Remove,
}

/// Any number but zero adds.
impl TryFrom<u32> for Change {
    type Error = &'static str;

    fn try_from(add: u32) -> Result<Self, &'static str> {
        Ok(if add == 0 { Self::Remove } else { Self::Add })
    }
}

impl TryFrom<&Change> for u32 {
    type Error = EncodeError;

    fn try_from(change: &Change) -> Result<Self, EncodeError> {
        Ok(Self::from(*change == Change::Add))
    }
}

/// [MS-PCQ] 3.1.4.1.2: what to tell about a counterset; `RequestCode` and `RequestLCID` in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegistrationRequest {
    /// The counterset and all of its counters: [`RegistrationInfo::CounterSet`].
    CounterSet,
    Counter(CounterId),
    /// The counterset's name: [`RegistrationInfo::Text`].
    CounterSetName(Lcid),
    /// The counterset's explain text: [`RegistrationInfo::Text`].
    CounterSetHelp(Lcid),
    /// The counters' names: [`RegistrationInfo::Strings`].
    CounterNames(Lcid),
    /// The counters' explain texts: [`RegistrationInfo::Strings`].
    CounterHelps(Lcid),
    /// The provider's name: [`RegistrationInfo::Text`].
    ProviderName,
    /// The provider's GUID: [`RegistrationInfo::ProviderGuid`].
    ProviderGuid,
    /// The counterset's English name: [`RegistrationInfo::Text`].
    EnglishCounterSetName,
    /// The counters' English names: [`RegistrationInfo::Strings`].
    EnglishCounterNames,
}

impl RegistrationRequest {
    /// What the two parameters ask for; `None` for a code outside of 1 to 10.
    #[must_use]
    pub const fn from_wire(code: RequestCode, lcid: u32) -> Option<Self> {
        Some(match code {
            RequestCode::COUNTERSET => Self::CounterSet,
            RequestCode::COUNTER => Self::Counter(CounterId(lcid)),
            RequestCode::COUNTERSET_NAME => Self::CounterSetName(Lcid(lcid)),
            RequestCode::COUNTERSET_HELP => Self::CounterSetHelp(Lcid(lcid)),
            RequestCode::COUNTER_NAMES => Self::CounterNames(Lcid(lcid)),
            RequestCode::COUNTER_HELPS => Self::CounterHelps(Lcid(lcid)),
            RequestCode::PROVIDER_NAME => Self::ProviderName,
            RequestCode::PROVIDER_GUID => Self::ProviderGuid,
            RequestCode::ENGLISH_COUNTERSET_NAME => Self::EnglishCounterSetName,
            RequestCode::ENGLISH_COUNTER_NAMES => Self::EnglishCounterNames,
            _ => return None,
        })
    }

    #[must_use]
    pub const fn to_wire(self) -> (RequestCode, u32) {
        match self {
            Self::CounterSet => (RequestCode::COUNTERSET, 0),
            Self::Counter(id) => (RequestCode::COUNTER, id.0),
            Self::CounterSetName(lcid) => (RequestCode::COUNTERSET_NAME, lcid.0),
            Self::CounterSetHelp(lcid) => (RequestCode::COUNTERSET_HELP, lcid.0),
            Self::CounterNames(lcid) => (RequestCode::COUNTER_NAMES, lcid.0),
            Self::CounterHelps(lcid) => (RequestCode::COUNTER_HELPS, lcid.0),
            Self::ProviderName => (RequestCode::PROVIDER_NAME, 0),
            Self::ProviderGuid => (RequestCode::PROVIDER_GUID, 0),
            Self::EnglishCounterSetName => (RequestCode::ENGLISH_COUNTERSET_NAME, 0),
            Self::EnglishCounterNames => (RequestCode::ENGLISH_COUNTER_NAMES, 0),
        }
    }
}

/// [MS-PCQ] 3.1.4.1.2: what a [`RegistrationRequest`] is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistrationInfo {
    /// A counterset and its counters.
    CounterSet(CounterSetRegistration),
    Counter(CounterRegInfo),
    /// A name or an explain text.
    Text(String),
    /// Names or explain texts of counters.
    Strings(CounterStrings),
    ProviderGuid(Guid),
    /// Bytes as they are, for a server that answers otherwise than the document says.
    Raw(Vec<u8>),
}

impl RegistrationInfo {
    /// Writes the method's buffer.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    pub fn encode(&self) -> EncodeResult<Vec<u8>> {
        match self {
            Self::CounterSet(registration) => wire::encode_vec(registration),
            Self::Counter(counter) => wire::encode_vec(counter),
            Self::Text(text) => {
                let mut bytes = wire::encode_utf16(text);
                bytes.extend_from_slice(&[0, 0]);
                Ok(bytes)
            }
            Self::Strings(strings) => wire::encode_vec(strings),
            Self::ProviderGuid(guid) => wire::encode_vec(guid),
            Self::Raw(bytes) => Ok(bytes.clone()),
        }
    }
}

/// Reads the text that request codes 3, 4, 7 and 9 are answered with. One without a NUL ends with the buffer.
fn decode_text(bytes: &[u8]) -> String {
    WideStr::until_nul_or_end(bytes).to_string()
}

/// Reads the GUID that request code 8 is answered with.
fn decode_guid(bytes: &[u8]) -> DecodeResult<Guid> {
    Guid::decode(&mut ReadCursor::new(bytes))
}

// Which block of a reply belongs to which counterset.

/// Which block of the data belongs to which identifier of a query.
///
/// A block names neither its counterset nor its counter. `PerflibV2QueryCounterInfo` says by `Index` where the block of
/// each identifier is; the answer of `PerflibV2ValidateCounters` does not, and the order in which identifiers were
/// added means nothing. What cannot be told for certain belongs to no identifier here: a value under the name of
/// another counterset is worse than none.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BlockMapping {
    /// By index of the block: which of the identifiers.
    identifiers: Vec<Option<usize>>,
    problems: Vec<(usize, MappingProblem)>,
}

/// Why no block belongs to an identifier for certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingProblem {
    /// The server does not list it, or lists several that match it.
    NotListed,
    /// The server gives another one the same index.
    SharedIndex(u32),
    /// The server's indexes do not number its blocks.
    NoPlaces(u32),
}

/// [MS-PCQ] 3.1.4.1.6: the data have one block for each identifier. Here they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCountMismatch {
    /// Blocks in the data.
    pub blocks: u32,
    /// Identifiers in the query.
    pub identifiers: usize,
}

impl BlockMapping {
    /// For a query of one identifier, whose block is the only one.
    #[must_use]
    pub fn single() -> Self {
        Self { identifiers: vec![Some(0)], problems: Vec::new() }
    }

    /// For a query to which `added` were added, and of which the server says that it is `listed`.
    #[must_use]
    pub fn new(added: &[CounterIdentifier], listed: &[CounterIdentifier]) -> Self {
        let mut mapping = Self { identifiers: vec![None; listed.len()], problems: Vec::new() };
        let beyond =
            listed.iter().map(|one| one.index).find(|index| place_of(*index, listed.len()).is_none());
        for (which, identifier) in added.iter().enumerate() {
            let found = only(listed, |one| is_same(one, identifier))
                .filter(|_| only(added, |one| is_same(one, identifier)).is_some())
                .or_else(|| only_of_its_counterset(identifier, added, listed));
            let index = match (found, beyond) {
                (None, _) => Err(MappingProblem::NotListed),
                (_, Some(index)) => Err(MappingProblem::NoPlaces(index)),
                (Some(found), None) => match only(listed, |one| one.index == found.index) {
                    Some(found) => Ok(found.index),
                    None => Err(MappingProblem::SharedIndex(found.index)),
                },
            };
            let place = index.map(|index| place_of(index, listed.len()));
            match place {
                Ok(Some(place)) => mapping.identifiers[place] = Some(which),
                Ok(None) => {}
                Err(problem) => mapping.problems.push((which, problem)),
            }
        }
        mapping
    }

    /// The identifier that a block belongs to, or `None` if that is not certain.
    #[must_use]
    pub fn identifier_of(&self, block: u32) -> Option<usize> {
        self.identifiers.get(usize::try_from(block).ok()?).copied().flatten()
    }

    /// The identifiers to which no block belongs for certain.
    #[must_use]
    pub fn problems(&self) -> &[(usize, MappingProblem)] {
        &self.problems
    }

    /// Whether no block belongs to any identifier.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.identifiers.iter().all(Option::is_none)
    }

    /// Whether data with this many blocks fit the query: a missing block shifts the others.
    ///
    /// # Errors
    /// With both numbers, when they differ.
    pub fn check_count(&self, blocks: u32) -> Result<(), BlockCountMismatch> {
        let identifiers = self.identifiers.len();
        if usize::try_from(blocks) == Ok(identifiers) {
            Ok(())
        } else {
            Err(BlockCountMismatch { blocks, identifiers })
        }
    }
}

/// The only one of which it holds.
fn only(all: &[CounterIdentifier], holds: impl Fn(&CounterIdentifier) -> bool) -> Option<&CounterIdentifier> {
    let mut found = all.iter().filter(|one| holds(one));
    found.next().filter(|_| found.next().is_none())
}

/// Whether two identifiers mean the same. What is asked for without a name is instance 0 or any, as documents have it.
fn is_same(one: &CounterIdentifier, other: &CounterIdentifier) -> bool {
    one.counter_set_guid == other.counter_set_guid
        && one.counter_id == other.counter_id
        && is_same_instance(one, other)
}

fn is_same_instance(one: &CounterIdentifier, other: &CounterIdentifier) -> bool {
    let own = one.instance_name.as_deref().unwrap_or_default();
    let theirs = other.instance_name.as_deref().unwrap_or_default();
    let has_same_name =
        own.chars().flat_map(char::to_lowercase).eq(theirs.chars().flat_map(char::to_lowercase));
    let is_any = |id: InstanceId| id == InstanceId::ANY || id == InstanceId(0);
    let is_same_id = one.instance_id == other.instance_id
        || own.is_empty() && is_any(one.instance_id) && is_any(other.instance_id);
    has_same_name && is_same_id
}

/// A server may write an identifier differently. A counterset that occurs once on both sides is matched anyway.
fn only_of_its_counterset<'a>(
    identifier: &CounterIdentifier,
    added: &[CounterIdentifier],
    listed: &'a [CounterIdentifier],
) -> Option<&'a CounterIdentifier> {
    let is_of_it = |one: &CounterIdentifier| one.counter_set_guid == identifier.counter_set_guid;
    only(added, is_of_it).and_then(|_| only(listed, is_of_it))
}

fn place_of(index: u32, blocks: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|place| *place < blocks)
}

impl fmt::Display for MappingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListed => f.write_str("the host does not say where in its data the values are"),
            Self::SharedIndex(index) => {
                write!(f, "the host says that these values and others are at place {index} of its data")
            }
            Self::NoPlaces(index) => write!(f, "the host counts the places in its data up to {index}"),
        }?;
        f.write_str("; values that cannot be told apart are not shown")
    }
}

impl fmt::Display for BlockCountMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, identifiers } = self;
        write!(
            f,
            "the data have {blocks} blocks where {identifiers} were asked for; values that cannot be told apart are \
             not shown"
        )
    }
}
