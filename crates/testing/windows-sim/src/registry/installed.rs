//! The keys that a Windows Server 2022 has, as far as a monitoring program reads them.

use wire::FileTime;

use super::memory_map::physical_memory;
use super::services::SERVICES;
use super::{Registry, RegistryValue as V};
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
