//! Providers of events that are installed on a host.

use ms_pla::ValueMapType;
use ms_pla::xml::{TraceDataProvider, ValueMap, ValueMapItem};
use wire::Guid;

/// The provider of the kernel's events.
pub const KERNEL: Guid = Guid::from_u128(0x9e814aad_3204_11d2_9a82_006008a86939);
/// A provider of ours, which exists nowhere else.
pub const ORDERS: Guid = Guid::from_u128(0x0a74ef1c_41a4_4e06_83ae_dc74fb1cdda0);

/// The processes that are providers: their provider, their program, and their process identifier.
pub const PROCESSES: [(Guid, &str, u32); 2] = [(KERNEL, "System", 4), (ORDERS, "orders.exe", 2480)];

/// The security descriptor of a provider for which none was set, in SDDL.
pub const SECURITY: &str = "O:BAG:BAD:(A;;0x1800;;;WD)(A;;0x120fff;;;SY)(A;;0x120fff;;;BA)";

/// All of them, each with the levels and keywords that it knows.
#[must_use]
pub fn known() -> Vec<TraceDataProvider> {
    let levels = [("win:Error", 2), ("win:Warning", 3), ("win:Informational", 4)];
    vec![
        provider(
            "Windows Kernel Trace",
            KERNEL,
            ValueMap::default(),
            map(ValueMapType::FLAG, &[("process", 1), ("thread", 2), ("disk", 0x100)], &["process", "disk"]),
        ),
        provider(
            "Orders-Service",
            ORDERS,
            map(ValueMapType::INDEX, &levels, &["win:Informational"]),
            map(ValueMapType::FLAG, &[("orders", 0x1), ("payments", 0x8000_0000_0000_0000)], &["orders"]),
        ),
    ]
}

fn provider(name: &str, guid: Guid, level: ValueMap, keywords: ValueMap) -> TraceDataProvider {
    TraceDataProvider {
        display_name: Some(name.to_owned()),
        is_filter_enabled: Some(false),
        filter_type: Some(0),
        level: Some(level),
        keywords_any: Some(keywords),
        guid: Some(guid),
        ..TraceDataProvider::default()
    }
}

fn map(kind: ValueMapType, items: &[(&str, u64)], enabled: &[&str]) -> ValueMap {
    let item = |&(key, value): &(&str, u64)| ValueMapItem {
        key: Some(key.to_owned()),
        is_enabled: Some(enabled.contains(&key)),
        value: Some(format!("{value:#x}")),
        ..ValueMapItem::default()
    };
    let chosen = items.iter().filter(|(key, _)| enabled.contains(key)).fold(0, |all, (_, value)| all | value);
    ValueMap {
        kind: Some(kind),
        value: Some(format!("{chosen:#x}")),
        items: items.iter().map(item).collect(),
        ..ValueMap::default()
    }
}
