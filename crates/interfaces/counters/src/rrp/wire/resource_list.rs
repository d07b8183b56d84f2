use wire::{DecodeError, DecodeResult, ReadCursor, ensure_size};

/// `CM_RESOURCE_LIST` of wdm.h, the bytes of a `REG_RESOURCE_LIST`: the memory in it. Other resources are skipped.
///
/// The list holds full descriptors, one for each bus; each holds a `CM_PARTIAL_RESOURCE_LIST` of partial descriptors.
/// Structures are packed to 4 bytes. A partial descriptor ends in a union, whose largest member has two pointers on
/// 32-bit hosts less: it has 20 bytes on 64-bit hosts and 16 on 32-bit ones. A list does not say which.
#[doc(alias = "CM_RESOURCE_LIST")]
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ResourceList {
    /// The ranges of memory, in the list's order.
    pub memory: Vec<MemoryRange>,
}

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    pub start: u64,
    pub length_bytes: u64,
}

impl ResourceList {
    const NAME: &'static str = "CM_RESOURCE_LIST";
    const FULL_DESCRIPTOR_SIZE: usize = 4 /* InterfaceType */ + 4 /* BusNumber */;
    const PARTIAL_LIST_SIZE: usize = 2 /* Version */ + 2 /* Revision */ + 4 /* Count */;
    const PARTIAL_DESCRIPTOR_SIZE: usize =
        1 /* Type */ + 1 /* ShareDisposition */ + 2 /* Flags */ + 16 /* u */;
    const PARTIAL_DESCRIPTOR_SIZE_32: usize = Self::PARTIAL_DESCRIPTOR_SIZE - 4;

    /// Reads the list. Bytes after it are not looked at.
    ///
    /// # Errors
    /// When it is cut off, or a range has flags that say no size.
    pub fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let decoded = Self::decode_with(bytes, Self::PARTIAL_DESCRIPTOR_SIZE);
        // What fits by the larger size cannot be meant by the smaller one: there would be bytes after the list.
        decoded.or_else(|error| Self::decode_with(bytes, Self::PARTIAL_DESCRIPTOR_SIZE_32).map_err(|_| error))
    }

    fn decode_with(bytes: &[u8], descriptor_size: usize) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(bytes);
        let mut memory = Vec::new();
        ensure_size!(in: src, name: Self::NAME, size: 4);
        for _ in 0..src.read_u32() {
            let head = Self::FULL_DESCRIPTOR_SIZE + Self::PARTIAL_LIST_SIZE;
            ensure_size!(in: src, name: Self::NAME, size: head);
            let (_interface_type, _bus_number, _version) = (src.read_u32(), src.read_u32(), src.read_u32());
            for _ in 0..src.read_u32() {
                let offset = src.pos();
                let mut descriptor = src.take_cursor(Self::NAME, "PartialDescriptors", descriptor_size)?;
                let kind = descriptor.read_u8();
                let _share_disposition = descriptor.read_u8();
                let flags = descriptor.read_u16();
                match kind {
                    TYPE_MEMORY | TYPE_MEMORY_LARGE => {
                        let (start, length) = (descriptor.read_u64(), descriptor.read_u32());
                        let length_bytes = u64::from(length) << unit_bits(kind, flags, offset)?;
                        memory.push(MemoryRange { start, length_bytes });
                    }
                    TYPE_DEVICE_SPECIFIC => {
                        let size = usize::try_from(descriptor.read_u32()).unwrap_or(usize::MAX);
                        src.skip(Self::NAME, "DeviceSpecificData", size)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(Self { memory })
    }

    /// The size of all memory, or `None` where that is beyond 64 bits.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory.iter().try_fold(0_u64, |sum, range| sum.checked_add(range.length_bytes))
    }
}

/// By how many bits the length of a range is shifted.
fn unit_bits(kind: u8, flags: u16, offset: usize) -> DecodeResult<u32> {
    if kind == TYPE_MEMORY {
        return Ok(0);
    }
    match flags & LARGE {
        LARGE_40 => Ok(8),
        LARGE_48 => Ok(16),
        LARGE_64 => Ok(32),
        _ => Err(DecodeError::invalid_field(
            ResourceList::NAME,
            "Flags",
            offset,
            "they do not say the unit of a large range",
        )),
    }
}

/// What documents call `CmResourceTypeMemory`.
const TYPE_MEMORY: u8 = 3;
/// `CmResourceTypeDeviceSpecific`: data of the size that it says follow.
const TYPE_DEVICE_SPECIFIC: u8 = 5;
/// What documents call `CmResourceTypeMemoryLarge`.
const TYPE_MEMORY_LARGE: u8 = 7;
/// What documents call `CM_RESOURCE_MEMORY_LARGE`.
const LARGE: u16 = 0x0e00;
/// `CM_RESOURCE_MEMORY_LARGE_40`: units of 256 bytes.
const LARGE_40: u16 = 0x0200;
/// `CM_RESOURCE_MEMORY_LARGE_48`: units of 64 kibibytes.
const LARGE_48: u16 = 0x0400;
/// `CM_RESOURCE_MEMORY_LARGE_64`: units of 4 gibibytes.
const LARGE_64: u16 = 0x0800;
