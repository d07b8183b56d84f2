use core::fmt;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, Win32Error,
    WriteCursor, ensure_size,
};

use crate::pcq::types::{CounterId, InstanceId};
use crate::pcq::wire::{WideStr, check_count, checked_size, padded, size_field};

/// [MS-PCQ] 2.2.4.6 `_PERF_COUNTER_IDENTIFIER` and the instance name that follows it: which values a query is
/// to fetch.
#[doc(alias = "PERF_COUNTER_IDENTIFIER")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterIdentifier {
    pub counter_set_guid: Guid,
    /// How adding or removing went; a client writes 0.
    pub status: Win32Error,
    /// The counter, or [`CounterId::ALL`].
    pub counter_id: CounterId,
    /// The instance's number, or [`InstanceId::ANY`].
    pub instance_id: InstanceId,
    /// Which block of the data this becomes; the server's, a client writes 0.
    pub index: u32,
    /// The instance's name or a pattern of `*` and `?`; `None` where the counterset has one instance.
    pub instance_name: Option<String>,
}

impl CounterIdentifier {
    /// Bytes on the wire before the name.
    pub const FIXED_PART_SIZE: usize = Guid::FIXED_PART_SIZE /* CounterSetGuid */
        + 4 /* Status */
        + 4 /* Size */
        + 4 /* CounterId */
        + 4 /* InstanceId */
        + 4 /* Index */
        + 4 /* Reserved */;
    const NAME: &'static str = "PERF_COUNTER_IDENTIFIER";

    /// All counters of all instances of a counterset whose instances have names.
    #[must_use]
    pub fn all_instances(counter_set_guid: Guid) -> Self {
        Self { instance_name: Some("*".to_owned()), ..Self::single_instance(counter_set_guid) }
    }

    /// All counters of a counterset that has one instance.
    #[must_use]
    pub const fn single_instance(counter_set_guid: Guid) -> Self {
        Self {
            counter_set_guid,
            status: Win32Error::ERROR_SUCCESS,
            counter_id: CounterId::ALL,
            instance_id: InstanceId::ANY,
            index: 0,
            instance_name: None,
        }
    }

    /// Reads the whole of `bytes`, at most `identifiers_max`.
    ///
    /// # Errors
    /// When a size lies or there are more.
    pub fn decode_list(bytes: &[u8], identifiers_max: u32) -> DecodeResult<Vec<Self>> {
        let src = &mut ReadCursor::new(bytes);
        let mut identifiers = Vec::new();
        while !src.is_empty() {
            check_count(Self::NAME, src.pos(), identifiers.len(), identifiers_max)?;
            identifiers.push(Self::decode(src)?);
        }
        Ok(identifiers)
    }

    /// Writes one after the other.
    ///
    /// # Errors
    /// When a name is longer than 32 bits can count, or holds a NUL.
    pub fn encode_list(identifiers: &[Self]) -> EncodeResult<Vec<u8>> {
        let mut bytes = Vec::with_capacity(identifiers.iter().map(Encode::size).sum());
        identifiers.iter().try_for_each(|identifier| wire::encode_into(identifier, &mut bytes))?;
        Ok(bytes)
    }

    /// Overwrites status and index of the identifier at the beginning of `bytes`, which was decoded before.
    pub(crate) fn patch_result(bytes: &mut [u8], status: Win32Error, index: u32) {
        let status_at = Guid::FIXED_PART_SIZE;
        let index_at = status_at + 4 /* Status */ + 4 /* Size */ + 4 /* CounterId */ + 4 /* InstanceId */;
        bytes[status_at..status_at + 4].copy_from_slice(&status.0.to_le_bytes());
        bytes[index_at..index_at + 4].copy_from_slice(&index.to_le_bytes());
    }

    fn name_size(&self) -> usize {
        self.instance_name.as_deref().map_or(0, |name| wire::utf16_len_bytes(name) + 2 /* NUL */)
    }
}

impl Encode for CounterIdentifier {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let size = size_field(Self::NAME, "Size", self.size())?;
        self.counter_set_guid.encode(dst)?;
        dst.write_u32(self.status.0);
        dst.write_u32(size);
        dst.write_u32(self.counter_id.0);
        dst.write_u32(self.instance_id.0);
        dst.write_u32(self.index);
        dst.write_u32(0); // Reserved
        if let Some(name) = &self.instance_name {
            if name.contains('\0') {
                return Err(EncodeError::new(Self::NAME, "instance name", "holds a NUL"));
            }
            dst.write_slice(&wire::encode_utf16(name));
            dst.write_u16(0);
        }
        dst.write_zeros(self.size() - Self::FIXED_PART_SIZE - self.name_size());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        padded(Self::FIXED_PART_SIZE + self.name_size())
    }
}

impl<'de> Decode<'de> for CounterIdentifier {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let available = src.len();
        let counter_set_guid = Guid::decode(src)?;
        let status = Win32Error(src.read_u32());
        let size_at = src.pos();
        let size =
            checked_size((Self::NAME, "Size"), size_at, src.read_u32(), Self::FIXED_PART_SIZE, available)?;
        let counter_id = CounterId(src.read_u32());
        let instance_id = InstanceId(src.read_u32());
        let index = src.read_u32();
        let _reserved = src.read_u32();
        let name = src.read_slice(size - Self::FIXED_PART_SIZE);
        let instance_name = if name.is_empty() {
            None
        } else {
            let reason = "the instance name does not end with a NUL";
            let text = WideStr::until_nul(name).ok_or(DecodeError::invalid_field(
                Self::NAME,
                "Size",
                size_at,
                reason,
            ))?;
            Some(text.to_string())
        };
        Ok(Self { counter_set_guid, status, counter_id, instance_id, index, instance_name })
    }
}

impl fmt::Display for CounterIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counterset {}", self.counter_set_guid)?;
        match self.counter_id {
            CounterId::ALL => f.write_str(" all counters")?,
            CounterId(id) => write!(f, " counter {id}")?,
        }
        match &self.instance_name {
            Some(name) => write!(f, " of {name}"),
            None => Ok(()),
        }
    }
}
