//! [MS-PCQ] 3.1.4.1, the interface `PerflibV2`: its [`methods`] and both sides of it.

mod client;
mod mapping;
pub mod methods;
mod server;

use rpc::ndr::{NdrDecode, NdrEncode};
use wire::{Decode, DecodeResult, EncodeError, EncodeResult, Guid, ReadCursor};

pub use self::client::{CounterData, Limits, PerflibV2Client, Query};
pub use self::mapping::{BlockCountMismatch, BlockMapping, MappingProblem};
pub use self::server::{PerflibV2Service, dispatch};
pub use rpc::CallInfo;

use super::types::{CounterId, Lcid, RequestCode};
use super::wire::{CounterRegInfo, CounterSetRegistration, CounterStrings, WideStr};

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
