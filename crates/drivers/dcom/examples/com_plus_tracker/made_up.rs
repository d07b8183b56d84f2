//! Figures, names and extents that mean nothing and differ from each other.

use com::comt::{ApplicationIdentifier, ComponentData, ContainerData, ContainerStatistics, Tracked};
use rpc::orpc::{OrpcExtent, OrpcExtentArray};
use wire::{EncodeError, Guid};

/// Of no byte, and of numbers that need padding.
const EXTENT_DATA: [&[u8]; 3] = [b"", b"seven b", b"fourteen bytes"];

pub(crate) fn guid(number: u32) -> Guid {
    Guid::from_u128(0xf0e0_d0c0_b0a0_9080_7060_5040_3020_1000 + u128::from(number))
}

/// Up to three extents, of which every other number has a NULL pointer after them; none in each fourth call.
pub(crate) fn extents(call: u32) -> Result<Option<Box<OrpcExtentArray<'static>>>, EncodeError> {
    let extent = |(number, data)| OrpcExtent::new(guid(0x40 + number), data);
    let extents = (0..call % 4).zip(EXTENT_DATA).map(extent).collect::<Result<Vec<_>, _>>()?;
    if extents.is_empty() { Ok(None) } else { OrpcExtentArray::new(extents).map(Box::new).map(Some) }
}

pub(crate) fn container(element: u32) -> ContainerData {
    let mut application = ApplicationIdentifier::new(guid(element));
    // It means nothing, but is sent.
    application.0[39] = 0xfffe;
    ContainerData {
        legacy_id: figure(element, 1),
        application,
        process_id: figure(element, 2),
        statistics: ContainerStatistics {
            calls: figure(element, 3),
            instances: figure(element, 4),
            components: figure(element, 5),
            calls_per_second: figure(element, 6),
        },
    }
}

pub(crate) fn component(clsid: Guid, element: u32) -> ComponentData {
    let tracked = |field| Tracked(figure(element, field));
    ComponentData {
        clsid,
        total_references: tracked(1),
        bound_references: tracked(2),
        pooled_instances: tracked(3),
        instances_in_call: tracked(4),
        response_time_ms: tracked(5),
        calls_completed: tracked(6),
        calls_failed: tracked(7),
    }
}

/// Some are those that are not tracked.
fn figure(element: u32, field: u32) -> u32 {
    let is_tracked = !element.wrapping_add(field).is_multiple_of(4);
    if is_tracked { 0x8000_0000 ^ element.wrapping_mul(16).wrapping_add(field) } else { u32::MAX }
}
