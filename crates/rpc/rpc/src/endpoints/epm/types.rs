//! The words of the protocol.

use crate::SyntaxId;
use crate::ndr::{FixedString, NdrDecode, NdrEncode};
use wire::{DecodeError, DecodeResult, EncodeError, EncodeResult, Guid, decode, encode_vec, open_enum};

use crate::endpoints::epm::wire::Tower;

/// C706 appendix O `ept_max_annotation_size`: bytes of an annotation, with its NUL.
pub const ANNOTATION_BYTES_MAX: usize = 64;

/// [MS-RPCE] 2.2.1.2.2: bytes of a tower.
pub const TOWER_BYTES_MAX: u32 = 2000;

/// [MS-RPCE] 2.2.1.2.4: entries that one call asks for.
pub const ENTRIES_MAX: u32 = 500;

open_enum! {
    /// C706 appendix O: which entries a lookup is about.
    #[derive(NdrDecode, NdrEncode)]
    pub struct InquiryType(u32) {
        RPC_C_EP_ALL_ELTS = 0,
        /// Those of an interface.
        RPC_C_EP_MATCH_BY_IF = 1,
        /// Those of an object.
        RPC_C_EP_MATCH_BY_OBJ = 2,
        /// Those of an interface and an object.
        RPC_C_EP_MATCH_BY_BOTH = 3,
    }
}

open_enum! {
    /// C706 appendix O: which versions of an interface a lookup is about.
    #[derive(NdrDecode, NdrEncode)]
    pub struct VersionOption(u32) {
        RPC_C_VERS_ALL = 1,
        /// Those that serve a client of the version that is named.
        RPC_C_VERS_COMPATIBLE = 2,
        /// The one that is named.
        RPC_C_VERS_EXACT = 3,
        /// Those with the major version that is named.
        RPC_C_VERS_MAJOR_ONLY = 4,
        /// Those up to the one that is named.
        RPC_C_VERS_UPTO = 5,
    }
}

impl VersionOption {
    /// Whether an interface of the version of `found` is meant by one who names `wanted`. `None` for an option that is none.
    #[must_use]
    pub fn selects(self, wanted: &SyntaxId, found: &SyntaxId) -> Option<bool> {
        let versions = [wanted, found].map(|id| (id.version_major, id.version_minor));
        let [(wanted_major, _), (found_major, _)] = versions;
        Some(match self {
            Self::RPC_C_VERS_ALL => true,
            Self::RPC_C_VERS_COMPATIBLE => wanted_major == found_major && versions[0] <= versions[1],
            Self::RPC_C_VERS_EXACT => versions[0] == versions[1],
            Self::RPC_C_VERS_MAJOR_ONLY => wanted_major == found_major,
            Self::RPC_C_VERS_UPTO => versions[1] <= versions[0],
            _ => return None,
        })
    }
}

/// C706 appendix O `twr_t`: a tower as a parameter. What its bytes mean is a [`Tower`].
#[doc(alias = "twr_t")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct Twr {
    /// How many bytes there are.
    #[ndr(range = 0..=TOWER_BYTES_MAX)]
    pub tower_length: u32,
    #[ndr(conformant, size_is = tower_length)]
    pub tower_octet_string: Vec<u8>,
}

impl Twr {
    /// The parameter for a tower.
    ///
    /// # Errors
    /// When the tower cannot be written, or is longer than [`TOWER_BYTES_MAX`].
    pub fn new(tower: &Tower) -> EncodeResult<Self> {
        let tower_octet_string = encode_vec(tower)?;
        match u32::try_from(tower_octet_string.len()) {
            Ok(tower_length @ ..=TOWER_BYTES_MAX) => Ok(Self { tower_length, tower_octet_string }),
            _ => Err(EncodeError::new("twr_t", "tower_length", "is above 2000")),
        }
    }

    /// What the bytes mean.
    ///
    /// # Errors
    /// When they are no tower.
    pub fn tower(&self) -> DecodeResult<Tower> {
        decode(&self.tower_octet_string)
    }
}

/// C706 appendix O `ept_entry_t`: an entry of the map as a parameter.
#[doc(alias = "ept_entry_t")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct EptEntry {
    /// The object behind the endpoint; [`Guid::NULL`] for none in particular.
    pub object: Guid,
    pub tower: Option<Box<Twr>>,
    /// What the program says of itself.
    pub annotation: FixedString<ANNOTATION_BYTES_MAX>,
}

/// An entry of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The object behind the endpoint, if it is for one in particular.
    pub object: Option<Guid>,
    pub tower: Tower,
    /// What the program says of itself, for people; often nothing.
    pub annotation: String,
}

impl TryFrom<EptEntry> for Entry {
    type Error = DecodeError;

    fn try_from(entry: EptEntry) -> DecodeResult<Self> {
        let EptEntry { object, tower, annotation } = entry;
        let tower = tower.ok_or_else(|| DecodeError::invalid_field("ept_entry_t", "tower", 0, "is NULL"))?;
        let object = Some(object).filter(|object| *object != Guid::NULL);
        Ok(Self { object, tower: tower.tower()?, annotation: annotation.0 })
    }
}

impl TryFrom<&Entry> for EptEntry {
    type Error = EncodeError;

    fn try_from(entry: &Entry) -> EncodeResult<Self> {
        Ok(Self {
            object: entry.object.unwrap_or(Guid::NULL),
            tower: Some(Box::new(Twr::new(&entry.tower)?)),
            annotation: FixedString(entry.annotation.clone()),
        })
    }
}
