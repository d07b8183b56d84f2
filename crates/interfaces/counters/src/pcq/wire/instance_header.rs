use core::fmt;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor,
    ensure_size,
};

use crate::pcq::types::InstanceId;
use crate::pcq::wire::{WideStr, check_count, checked_size, padded, size_field};

/// [MS-PCQ] 2.2.4.5 `_PERF_INSTANCE_HEADER` and the name that follows it: one instance of a counterset, borrowed.
///
/// What is written is an [`InstanceInfo`].
#[doc(alias = "PERF_INSTANCE_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    pub instance_id: InstanceId,
    pub name: WideStr<'a>,
}

impl Instance<'_> {
    /// Bytes on the wire before the name.
    pub const FIXED_PART_SIZE: usize = 4 /* Size */ + 4 /* InstanceId */;
    pub(crate) const NAME: &'static str = "PERF_INSTANCE_HEADER";
}

impl<'de> Decode<'de> for Instance<'de> {
    #[inline]
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (size_at, available) = (src.pos(), src.len());
        let size =
            checked_size((Self::NAME, "Size"), size_at, src.read_u32(), Self::FIXED_PART_SIZE, available)?;
        let instance_id = InstanceId(src.read_u32());
        let name = src.read_slice(size - Self::FIXED_PART_SIZE);
        let name = if name.is_empty() {
            WideStr::default()
        } else {
            let reason = "the instance name does not end with a NUL";
            WideStr::until_nul(name).ok_or(DecodeError::invalid_field(Self::NAME, "Size", size_at, reason))?
        };
        Ok(Self { instance_id, name })
    }
}

impl fmt::Display for Instance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instance {} #{}", self.name, self.instance_id.0)
    }
}

/// [MS-PCQ] 2.2.4.5 `_PERF_INSTANCE_HEADER` and the name that follows it, owned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstanceInfo {
    pub instance_id: InstanceId,
    /// Its name; empty where the counterset has one instance.
    pub name: String,
}

impl InstanceInfo {
    /// Reads the buffer of `PerflibV2EnumerateCounterSetInstances`, at most `instances_max`.
    ///
    /// # Errors
    /// When a size lies or there are more.
    pub fn decode_list(bytes: &[u8], instances_max: u32) -> DecodeResult<Vec<Self>> {
        let src = &mut ReadCursor::new(bytes);
        let mut instances = Vec::new();
        while !src.is_empty() {
            check_count(Instance::NAME, src.pos(), instances.len(), instances_max)?;
            let Instance { instance_id, name } = Instance::decode(src)?;
            instances.push(Self { instance_id, name: name.to_string() });
        }
        Ok(instances)
    }

    /// Writes the buffer of `PerflibV2EnumerateCounterSetInstances`.
    ///
    /// # Errors
    /// When a name is longer than 32 bits can count, or holds a NUL.
    pub fn encode_list(instances: &[Self]) -> EncodeResult<Vec<u8>> {
        let mut bytes = Vec::with_capacity(instances.iter().map(Encode::size).sum());
        instances.iter().try_for_each(|instance| wire::encode_into(instance, &mut bytes))?;
        Ok(bytes)
    }
}

impl Encode for InstanceInfo {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        if self.name.contains('\0') {
            return Err(EncodeError::new(Instance::NAME, "instance name", "holds a NUL"));
        }
        let start = dst.pos();
        dst.write_u32(size_field(Instance::NAME, "Size", self.size())?);
        dst.write_u32(self.instance_id.0);
        for unit in self.name.encode_utf16() {
            dst.write_u16(unit);
        }
        dst.write_zeros(start + self.size() - dst.pos());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Instance::NAME
    }

    fn size(&self) -> usize {
        padded(Instance::FIXED_PART_SIZE + wire::utf16_len_bytes(&self.name) + 2 /* NUL */)
    }
}
