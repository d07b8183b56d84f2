//! The facts in the registry, in groups that share a key.

use counters::rrp::winreg::{Key, RegistryValue};
use counters::rrp::wire::InvalidValue;

use super::fact::{Fact, Found, Sample, Unread, Value};
use super::reader::{Lost, Read, Reader, bounded, optional};

/// Facts that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Os,
    Name,
    Memory,
    Processors,
    TimeZone,
    PagingFiles,
}

impl Group {
    pub(crate) const ALL: [Self; 6] =
        [Self::Os, Self::Name, Self::Memory, Self::Processors, Self::TimeZone, Self::PagingFiles];

    pub(crate) const fn facts(self) -> &'static [Fact] {
        match self {
            Self::Os => &[Fact::Os, Fact::OsInstallTime],
            Self::Name => &[Fact::Name],
            Self::Memory => &[Fact::PhysicalMemory],
            Self::Processors => &[Fact::LogicalProcessors, Fact::Processor, Fact::ProcessorFrequency],
            Self::TimeZone => &[Fact::TimeZone, Fact::TimeZoneOffset],
            Self::PagingFiles => &[Fact::PagingFile],
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Os => r"SOFTWARE\Microsoft\Windows NT\CurrentVersion",
            Self::Name => r"SYSTEM\CurrentControlSet\Services\Tcpip\Parameters",
            Self::Memory => r"HARDWARE\RESOURCEMAP\System Resources\Physical Memory",
            Self::Processors => r"HARDWARE\DESCRIPTION\System\CentralProcessor",
            Self::TimeZone => r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation",
            Self::PagingFiles => r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management",
        }
    }

    pub(crate) async fn read(self, reader: &mut Reader<'_>) -> Result<Found, Lost> {
        let mut found = Found::default();
        match reader.key(self.path()).await? {
            Ok(key) => {
                self.read_key(reader, &key, &mut found).await?;
                reader.close(key).await?;
            }
            Err(why) => found.missing.extend(self.facts().iter().map(|fact| (*fact, why))),
        }
        Ok(found)
    }

    async fn read_key(self, reader: &mut Reader<'_>, key: &Key, found: &mut Found) -> Result<(), Lost> {
        match self {
            Self::Os => {
                found.add(Fact::Os, os(reader, key).await?);
                let installed = reader.value(key, "InstallDate", RegistryValue::number).await?;
                found.add(Fact::OsInstallTime, number(Fact::OsInstallTime, installed));
            }
            Self::Name => found.add(Fact::Name, name(reader, key).await?),
            Self::Memory => {
                let bytes = reader.value(key, ".Translated", memory_bytes).await?;
                // A host without memory does not run.
                let bytes = bytes.and_then(|bytes| bytes.filter(|bytes| *bytes > 0).ok_or(Unread::Malformed));
                found.add(Fact::PhysicalMemory, bytes.map(|bytes| plain(Fact::PhysicalMemory, bytes)));
            }
            Self::Processors => processors(reader, key, found).await?,
            Self::TimeZone => {
                let name = reader.text(key, "TimeZoneKeyName").await?;
                let info = name.map(|name| Sample::info(Fact::TimeZone, vec![("time_zone", name)]));
                found.add(Fact::TimeZone, info);
                let west = reader.value(key, "ActiveTimeBias", RegistryValue::number).await?;
                found.add(Fact::TimeZoneOffset, west.and_then(time_zone_offset));
            }
            Self::PagingFiles => match reader.value(key, "PagingFiles", RegistryValue::texts).await? {
                Ok(files) => {
                    found.samples.extend(files.iter().take(FILES_MAX).filter_map(|file| paging_file(file)));
                }
                Err(why) => found.missing.push((Fact::PagingFile, why)),
            },
        }
        Ok(())
    }
}

async fn os(reader: &mut Reader<'_>, key: &Key) -> Read<Sample> {
    let product = reader.text(key, "ProductName").await?;
    let build = reader.text(key, "CurrentBuildNumber").await?;
    let installation = reader.optional_text(key, "InstallationType").await?;
    let version = reader.optional_text(key, "CurrentVersion").await?;
    let mut numbers = [const { None }; 3];
    for (number, name) in
        numbers.iter_mut().zip(["CurrentMajorVersionNumber", "CurrentMinorVersionNumber", "UBR"])
    {
        match optional(reader.value(key, name, RegistryValue::number).await?) {
            Ok(value) => *number = value.map(|value| value.to_string()),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(os_info(product, build, installation, version, numbers))
}

fn os_info(
    product: Result<String, Unread>,
    build: Result<String, Unread>,
    installation: Result<String, Unread>,
    version: Result<String, Unread>,
    [major, minor, revision]: [Option<String>; 3],
) -> Result<Sample, Unread> {
    let (product, build, installation, version) = (product?, build?, installation?, version?);
    // Before Windows 10 there was only this one, which has not changed since.
    let (old_major, old_minor) = version.split_once('.').unwrap_or((&version, ""));
    let major = major.unwrap_or_else(|| old_major.to_owned());
    let minor = minor.unwrap_or_else(|| old_minor.to_owned());
    // The registry of Windows 11 calls it Windows 10.
    let is_windows_11 = build.parse::<u32>().is_ok_and(|build| build >= WINDOWS_11_BUILD);
    let product = match product.strip_prefix("Windows 10") {
        Some(edition) if is_windows_11 => format!("Windows 11{edition}"),
        _ => product,
    };
    let labels = vec![
        ("product", product),
        ("version", format!("{major}.{minor}.{build}")),
        ("major_version", major),
        ("minor_version", minor),
        ("build_number", build),
        ("revision", revision.unwrap_or_default()),
        ("installation_type", installation),
    ];
    Ok(Sample::info(Fact::Os, labels))
}

async fn name(reader: &mut Reader<'_>, key: &Key) -> Read<Sample> {
    let hostname = reader.text(key, "Hostname").await?;
    let domain = reader.optional_text(key, "Domain").await?;
    Ok(hostname.and_then(|hostname| {
        let domain = domain?;
        let fqdn = if domain.is_empty() { hostname.clone() } else { format!("{hostname}.{domain}") };
        Ok(Sample::info(Fact::Name, vec![("hostname", hostname), ("domain", domain), ("fqdn", fqdn)]))
    }))
}

fn memory_bytes(value: &RegistryValue) -> Result<Option<u64>, InvalidValue> {
    Ok(value.resource_list()?.memory_bytes())
}

/// All processors of a host have the same name and frequency, so only the first one is read.
async fn processors(reader: &mut Reader<'_>, key: &Key, found: &mut Found) -> Result<(), Lost> {
    found.add(Fact::LogicalProcessors, number(Fact::LogicalProcessors, reader.count_sub_keys(key).await?));
    let first = match reader.sub_key(key, "0").await? {
        Ok(first) => first,
        Err(why) => {
            found.missing.extend([(Fact::Processor, why), (Fact::ProcessorFrequency, why)]);
            return Ok(());
        }
    };
    let name = reader.text(&first, "ProcessorNameString").await?;
    let vendor = reader.optional_text(&first, "VendorIdentifier").await?;
    let megahertz = reader.value(&first, "~MHz", RegistryValue::number).await?;
    reader.close(first).await?;
    let info =
        name.and_then(|name| Ok(Sample::info(Fact::Processor, vec![("name", name), ("vendor", vendor?)])));
    found.add(Fact::Processor, info);
    let hertz = megahertz.map(|megahertz| plain(Fact::ProcessorFrequency, u64::from(megahertz) * 1_000_000));
    found.add(Fact::ProcessorFrequency, hertz);
    Ok(())
}

/// The registry has minutes to the west.
fn time_zone_offset(minutes_west: u32) -> Result<Sample, Unread> {
    let minutes_west = minutes_west.cast_signed();
    if minutes_west.unsigned_abs() > MINUTES_OF_A_DAY {
        return Err(Unread::Malformed);
    }
    Ok(Sample::plain(Fact::TimeZoneOffset, Value::I64(-60 * i64::from(minutes_west))))
}

/// `C:\pagefile.sys 1024 4096`: a file with its sizes at first and at most, in mebibytes. Windows chooses sizes of zero,
/// and those that are not there.
fn paging_file(entry: &str) -> Option<Sample> {
    let (rest, max) = entry.trim().rsplit_once(' ')?;
    let (file, initial) = rest.trim_end().rsplit_once(' ')?;
    let (_initial, max) = (initial.parse::<u32>().ok()?, max.parse::<u32>().ok()?);
    let labels = vec![("file", bounded(file.trim()))];
    (max > 0).then_some(Sample { fact: Fact::PagingFile, labels, value: Value::U64(u64::from(max) << 20) })
}

fn plain(fact: Fact, value: u64) -> Sample {
    Sample::plain(fact, Value::U64(value))
}

fn number(fact: Fact, value: Result<u32, Unread>) -> Result<Sample, Unread> {
    value.map(|value| plain(fact, value.into()))
}

const WINDOWS_11_BUILD: u32 = 22_000;
const MINUTES_OF_A_DAY: u32 = 24 * 60;
/// Windows has at most so many.
const FILES_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(sample: Sample) -> Vec<String> {
        sample.labels.into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn a_version_is_told_by_the_registries_of_old_and_new_systems() {
        let text = |text: &str| Ok(text.to_owned());
        let info = |product, build, version, numbers: [Option<u32>; 3]| {
            let numbers = numbers.map(|number| number.map(|number: u32| number.to_string()));
            labels(os_info(text(product), text(build), text("Client"), text(version), numbers).unwrap())
        };
        assert_eq!(
            info("Windows 8.1 Pro", "9600", "6.3", [None; 3]),
            ["Windows 8.1 Pro", "6.3.9600", "6", "3", "9600", "", "Client"]
        );
        assert_eq!(
            info("Windows 10 Pro", "22631", "6.3", [Some(10), Some(0), Some(4_317)]),
            ["Windows 11 Pro", "10.0.22631", "10", "0", "22631", "4317", "Client"]
        );
        assert_eq!(info("Windows 10 Pro", "19045", "6.3", [Some(10), Some(0), None])[0], "Windows 10 Pro");
    }

    #[test]
    fn a_paging_file_has_a_maximum_unless_windows_chooses_it() {
        let sample = paging_file(r"d:\page files\pagefile.sys 1024 4096").unwrap();
        assert_eq!(sample.value, Value::U64(4 << 30));
        assert_eq!(labels(sample), [r"d:\page files\pagefile.sys"]);
        for entry in [r"c:\pagefile.sys 0 0", r"?:\pagefile.sys", r"c:\pagefile.sys", "", "1 2", r"c:\p 1 -1"]
        {
            assert_eq!(paging_file(entry), None, "{entry}");
        }
    }
}
