//! The keys that a Windows Server 2022 has, as far as a monitoring program reads them.

use counters::rrp::types::ValueType;
use wire::FileTime;

use super::services::SERVICES;
use super::{Registry, RegistryValue, RegistryValue as V};
use crate::model::Hardware;

const CURRENT_VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const CONTROL: &str = r"SYSTEM\CurrentControlSet\Control";
const SERVICES_KEY: &str = r"SYSTEM\CurrentControlSet\Services";
const PROCESSORS: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor";
const PHYSICAL_MEMORY: &str = r"HARDWARE\RESOURCEMAP\System Resources\Physical Memory";

/// The domain of all hosts.
const DOMAIN: &str = "corp.example";
/// What `Processor Information` says, too.
const PROCESSOR_MHZ: u32 = 3_000;
/// The system was installed so long before the host was started.
const INSTALLED_DAYS_BEFORE: u64 = 200;

/// A registry with the keys of a host of this name.
pub(crate) fn install(name: &str, hardware: Hardware, boot: FileTime) -> Registry {
    let registry = Registry::new();
    let set = |path: &str, values: Vec<(&str, V)>| {
        registry.add_key(path, boot);
        values.into_iter().for_each(|(name, value)| registry.set_value(path, name, value, boot));
    };
    set(CURRENT_VERSION, version(boot));
    set(&format!(r"{CURRENT_VERSION}\Perflib"), vec![("Version", V::dword(0x0001_0001))]);
    set(&format!(r"{SERVICES_KEY}\Tcpip\Parameters"), network(name));
    let active = vec![("ComputerName", V::text(&netbios_name(name)))];
    set(&format!(r"{CONTROL}\ComputerName\ActiveComputerName"), active);
    set(&format!(r"{CONTROL}\TimeZoneInformation"), time_zone());
    set(&format!(r"{CONTROL}\Session Manager\Memory Management"), paging(hardware));
    set(PHYSICAL_MEMORY, vec![(".Translated", physical_memory(hardware.memory_bytes))]);
    for number in 0..hardware.processors {
        set(&format!(r"{PROCESSORS}\{number}"), processor());
    }
    for service in &SERVICES {
        set(&format!(r"{SERVICES_KEY}\{}", service.name), service.values());
    }
    registry
}

/// The name in the older form: upper case, 15 characters at most.
pub(crate) fn netbios_name(name: &str) -> String {
    name.to_uppercase().chars().take(15).collect()
}

fn version(boot: FileTime) -> Vec<(&'static str, V)> {
    let before = INSTALLED_DAYS_BEFORE * 86_400 * FileTime::INTERVALS_PER_SECOND;
    let installed = FileTime(boot.0.saturating_sub(before));
    let seconds = installed.0.saturating_sub(FileTime::UNIX_EPOCH.0) / FileTime::INTERVALS_PER_SECOND;
    vec![
        ("BuildLab", V::text("20348.fe_release.210507-1500")),
        ("CurrentBuild", V::text("20348")),
        ("CurrentBuildNumber", V::text("20348")),
        ("CurrentMajorVersionNumber", V::dword(10)),
        ("CurrentMinorVersionNumber", V::dword(0)),
        ("CurrentType", V::text("Multiprocessor Free")),
        ("CurrentVersion", V::text("6.3")),
        ("DisplayVersion", V::text("21H2")),
        ("EditionID", V::text("ServerStandard")),
        ("InstallationType", V::text("Server")),
        ("InstallDate", V::dword(u32::try_from(seconds).unwrap_or(u32::MAX))),
        ("InstallTime", V::qword(installed.0)),
        ("ProductName", V::text("Windows Server 2022 Standard")),
        ("RegisteredOrganization", V::text("")),
        ("ReleaseId", V::text("2009")),
        ("SystemRoot", V::text(r"C:\Windows")),
        ("UBR", V::dword(2_762)),
    ]
}

fn network(name: &str) -> Vec<(&'static str, V)> {
    vec![
        ("DataBasePath", V::expandable(r"%SystemRoot%\System32\drivers\etc")),
        ("Domain", V::text(DOMAIN)),
        ("Hostname", V::text(name)),
        ("NV Domain", V::text(DOMAIN)),
        ("NV Hostname", V::text(name)),
        ("SearchList", V::text("")),
    ]
}

/// An hour east of Greenwich, in winter time. Numbers are minutes; those below zero are their two's complement.
fn time_zone() -> Vec<(&'static str, V)> {
    let minutes = |minutes: i32| V::dword(minutes.cast_unsigned());
    vec![
        ("ActiveTimeBias", minutes(-60)),
        ("Bias", minutes(-60)),
        ("DaylightBias", minutes(-60)),
        ("DaylightName", V::text("@tzres.dll,-321")),
        ("DynamicDaylightTimeDisabled", V::dword(0)),
        ("StandardBias", minutes(0)),
        ("StandardName", V::text("@tzres.dll,-322")),
        ("TimeZoneKeyName", V::text("W. Europe Standard Time")),
    ]
}

fn paging(hardware: Hardware) -> Vec<(&'static str, V)> {
    let mib = hardware.page_file_bytes >> 20;
    vec![
        ("ClearPageFileAtShutdown", V::dword(0)),
        ("ExistingPageFiles", V::texts(&[r"\??\C:\pagefile.sys"])),
        ("PagingFiles", V::texts(&[&format!(r"c:\pagefile.sys {mib} {mib}")])),
    ]
}

fn processor() -> Vec<(&'static str, V)> {
    vec![
        ("~MHz", V::dword(PROCESSOR_MHZ)),
        ("Identifier", V::text("Intel64 Family 6 Model 106 Stepping 6")),
        ("ProcessorNameString", V::text("Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz")),
        ("VendorIdentifier", V::text("GenuineIntel")),
    ]
}

// Where a host's physical memory is, as its hardware tells the registry.

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
fn physical_memory(bytes: u64) -> RegistryValue {
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
