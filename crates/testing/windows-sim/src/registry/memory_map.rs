//! Where a host's physical memory is, as its hardware tells the registry.

use counters::rrp::types::ValueType;

use super::RegistryValue;

/// `CmResourceTypeMemory` of wdm.h: the length has 32 bits.
const MEMORY: u8 = 3;
/// `CmResourceTypeMemoryLarge`: the length is in units that the flags say.
const MEMORY_LARGE: u8 = 7;
/// `CM_RESOURCE_MEMORY_LARGE_40`: units of 256 bytes.
const LARGE_40: u16 = 0x0200;
/// `CM_RESOURCE_MEMORY_LARGE_48`: units of 64 kibibytes.
const LARGE_48: u16 = 0x0400;
/// Bytes of a union of a `CM_PARTIAL_RESOURCE_DESCRIPTOR` of a 64-bit host.
const UNION_SIZE: usize = 16;

/// Below a mebibyte, where the firmware is; the next part begins at a mebibyte.
const LOW: u64 = 636 << 10;
const LOW_START: u64 = 0x1000;
const MIDDLE_START: u64 = 1 << 20;
/// Memory from here to 4 GiB is devices'.
const MIDDLE_END: u64 = 3 << 30;
const HIGH_START: u64 = 4 << 30;

/// A `CM_RESOURCE_LIST` of wdm.h whose memory adds up to `bytes`.
pub(super) fn physical_memory(bytes: u64) -> RegistryValue {
    let low = bytes.min(LOW);
    let middle = (bytes - low).min(MIDDLE_END - MIDDLE_START);
    let parts = [(LOW_START, low), (MIDDLE_START, middle), (HIGH_START, bytes - low - middle)];
    let parts: Vec<_> = parts.into_iter().filter(|(_, length)| *length > 0).collect();
    let mut list = Vec::new();
    list.extend(1_u32.to_le_bytes() /* Count of full descriptors */);
    list.extend(0_u32.to_le_bytes() /* InterfaceType: internal */);
    list.extend(0_u32.to_le_bytes() /* BusNumber */);
    list.extend(1_u16.to_le_bytes() /* Version */);
    list.extend(1_u16.to_le_bytes() /* Revision */);
    list.extend(u32::try_from(parts.len()).unwrap_or(u32::MAX).to_le_bytes() /* Count */);
    for (start, length) in parts {
        descriptor(&mut list, start, length);
    }
    RegistryValue { value_type: ValueType::REG_RESOURCE_LIST, bytes: list }
}

/// `CM_PARTIAL_RESOURCE_DESCRIPTOR`. Its length is rounded down to its unit.
fn descriptor(list: &mut Vec<u8>, start: u64, length: u64) {
    let small = |length: u64| u32::try_from(length).ok();
    let (kind, flags, length) = small(length)
        .map(|length| (MEMORY, 0, length))
        .or_else(|| small(length >> 8).map(|length| (MEMORY_LARGE, LARGE_40, length)))
        .unwrap_or((MEMORY_LARGE, LARGE_48, small(length >> 16).unwrap_or(u32::MAX)));
    list.extend([kind, 1 /* ShareDisposition: of this device alone */]);
    list.extend(flags.to_le_bytes());
    let union_end = list.len() + UNION_SIZE;
    list.extend(start.to_le_bytes());
    list.extend(length.to_le_bytes());
    list.resize(union_end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(list: &[u8]) -> u64 {
        let descriptors = list[20..].chunks_exact(20);
        let length = |at: &[u8]| u64::from(u32::from_le_bytes(at[12..16].try_into().unwrap()));
        let shift = |at: &[u8]| match (at[0], u16::from_le_bytes([at[2], at[3]])) {
            (MEMORY, 0) => 0,
            (MEMORY_LARGE, LARGE_40) => 8,
            (MEMORY_LARGE, LARGE_48) => 16,
            other => panic!("no memory: {other:?}"),
        };
        descriptors.map(|at| length(at) << shift(at)).sum()
    }

    #[test]
    fn the_parts_add_up_to_the_memory_however_much_there_is() {
        for bytes in [512 << 20, 2 << 30, 16 << 30, 6 << 40] {
            let kept = if bytes > 1 << 40 { 0xffff } else { 0xff };
            let found = total(&physical_memory(bytes).bytes);
            assert!(found <= bytes && bytes - found <= kept, "{found} of {bytes}");
        }
        assert_eq!(total(&physical_memory(16 << 30).bytes), 16 << 30);
    }
}
