use std::borrow::Cow;

use crate::ndr::{Conformant, NdrDecode, NdrEncode, Reserved};
use wire::{EncodeError, Guid};

use super::ComVersion;

/// Extents of one call: far above the two that Windows sends (error information, and the properties of a context).
pub const EXTENTS_MAX: u32 = 64;

/// [MS-DCOM] 2.2.13.3 `ORPCTHIS`: what comes before the parameters of each request to an object.
#[doc(alias = "ORPCTHIS")]
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct OrpcThis<'stub> {
    /// The version that client and server agreed on.
    pub version: ComVersion,
    /// Zero in calls of objects.
    pub flags: u32,
    pub reserved1: Reserved<u32>,
    /// The causality: one for all calls that are made while one is executed.
    pub cid: Guid,
    /// Data beside the parameters.
    pub extensions: Option<Box<OrpcExtentArray<'stub>>>,
}

/// [MS-DCOM] 2.2.13.4 `ORPCTHAT`: what comes before the parameters of each response of an object.
#[doc(alias = "ORPCTHAT")]
#[derive(Clone, Debug, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct OrpcThat<'stub> {
    pub flags: u32,
    /// Data beside the parameters, such as error information.
    pub extensions: Option<Box<OrpcExtentArray<'stub>>>,
}

/// `ORPC_EXTENT_ARRAY` of [MS-DCOM] 2.2.13.2.
#[doc(alias = "ORPC_EXTENT_ARRAY")]
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct OrpcExtentArray<'stub> {
    /// How many extents there are.
    #[ndr(range = 0..=EXTENTS_MAX)]
    pub size: u32,
    pub reserved: Reserved<u32>,
    /// The extents, and a NULL pointer where their number is odd.
    #[ndr(size_is = even(size))]
    pub extent: Option<Box<Conformant<Option<Box<OrpcExtent<'stub>>>>>>,
}

/// [MS-DCOM] 2.2.13.1 `ORPC_EXTENT`: data of a format that has a GUID.
///
/// What is decoded borrows the bytes from the stub.
#[doc(alias = "ORPC_EXTENT")]
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct OrpcExtent<'stub> {
    pub id: Guid,
    /// Bytes of `data` without padding.
    pub size: u32,
    /// The data, and padding up to a multiple of 8 bytes: [`OrpcExtent::payload`].
    #[ndr(conformant, size_is = padded(size))]
    pub data: Cow<'stub, [u8]>,
}

impl OrpcThis<'_> {
    /// A header without extents.
    #[must_use]
    pub const fn new(version: ComVersion, cid: Guid) -> Self {
        Self { version, flags: 0, reserved1: Reserved::NEW, cid, extensions: None }
    }
}

impl<'stub> OrpcThis<'stub> {
    /// The data of the extent with this id.
    #[must_use]
    pub fn extent(&self, id: Guid) -> Option<&[u8]> {
        find(self.extensions.as_deref()?, id)
    }
}

impl<'stub> OrpcThat<'stub> {
    /// A header with these extents.
    ///
    /// # Errors
    /// When there are more than [`EXTENTS_MAX`].
    pub fn with_extents(extents: Vec<OrpcExtent<'stub>>) -> Result<Self, EncodeError> {
        Ok(Self { flags: 0, extensions: Some(Box::new(OrpcExtentArray::new(extents)?)) })
    }

    /// The data of the extent with this id.
    #[must_use]
    pub fn extent(&self, id: Guid) -> Option<&[u8]> {
        find(self.extensions.as_deref()?, id)
    }
}

impl<'stub> OrpcExtentArray<'stub> {
    /// An array of extents.
    ///
    /// # Errors
    /// When there are more than [`EXTENTS_MAX`].
    pub fn new(extents: Vec<OrpcExtent<'stub>>) -> Result<Self, EncodeError> {
        let size = u32::try_from(extents.len()).ok().filter(|&size| size <= EXTENTS_MAX);
        let size = size
            .ok_or_else(|| EncodeError::new("ORPC_EXTENT_ARRAY", "size", "is above the limit of extents"))?;
        let mut pointers: Vec<_> = extents.into_iter().map(|extent| Some(Box::new(extent))).collect();
        if pointers.len() % 2 == 1 {
            pointers.push(None);
        }
        Ok(Self { size, reserved: Reserved::NEW, extent: Some(Box::new(Conformant(pointers))) })
    }

    /// The extents that are there.
    pub fn iter(&self) -> impl Iterator<Item = &OrpcExtent<'stub>> {
        self.extent.iter().flat_map(|array| array.0.iter().flatten().map(Box::as_ref))
    }
}

impl<'stub> OrpcExtent<'stub> {
    /// An extent with these data.
    ///
    /// # Errors
    /// When they are longer than 32 bits can count.
    pub fn new(id: Guid, data: &[u8]) -> Result<Self, EncodeError> {
        let size = u32::try_from(data.len())
            .map_err(|_| EncodeError::new("ORPC_EXTENT", "size", "is above 32 bits"))?;
        let mut data = data.to_vec();
        data.resize(data.len().next_multiple_of(8), 0);
        Ok(Self { id, size, data: Cow::Owned(data) })
    }

    /// The data without padding.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        self.data.get(..size).unwrap_or(&self.data)
    }
}

fn find<'a>(extensions: &'a OrpcExtentArray<'_>, id: Guid) -> Option<&'a [u8]> {
    extensions.iter().find(|extent| extent.id == id).map(OrpcExtent::payload)
}

/// `(size + 1) & ~1`
const fn even(size: u32) -> u64 {
    (size as u64).next_multiple_of(2)
}

/// `(size + 7) & ~7`
const fn padded(size: u32) -> u64 {
    (size as u64).next_multiple_of(8)
}
