//! Keys and values of a host's registry, and their changes while it runs.

use std::sync::Arc;
use std::time::Duration;

use counters::rrp::types::ValueType;
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};
use ssp::OsVersion;
use windows_sim::model::Clock;
use windows_sim::registry::RegistryValue;
use wire::{FileTime, Win32Error};

use crate::client::{Rpc, Smb};
use crate::host::{NOON, credentials, host, host_of, model};
use crate::performance_data::Registry;

const CURRENT_VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const SERVICES: &str = r"SYSTEM\CurrentControlSet\Services";

struct Machine {
    client: RegistryClient<Rpc>,
    root: Key,
}

impl Machine {
    async fn connect(host: &Arc<windows_sim::WindowsHost>) -> Self {
        let mut client = Rpc::registry(host, &credentials()).await.unwrap();
        let root = client.open_local_machine().await.unwrap();
        Self { client, root }
    }

    async fn open(&mut self, path: &str) -> Result<Key, Win32Error> {
        self.client.open_key(&self.root, path).await.map_err(|error| error.status().unwrap())
    }

    async fn value(&mut self, path: &str, name: &str) -> Result<RegistryValue, Win32Error> {
        let key = self.open(path).await?;
        let value = self.client.query_value(&key, name, &mut ValueRoom::new(4)).await;
        let value = value.map_err(|error| error.status().unwrap())?;
        self.client.close_key(key).await.unwrap();
        Ok(RegistryValue { value_type: value.value_type, bytes: value.bytes().to_vec() })
    }

    async fn last_write(&mut self, path: &str) -> FileTime {
        let key = self.open(path).await.unwrap();
        self.client.query_info_key(&key).await.unwrap().last_write_time
    }
}

#[tokio::test(start_paused = true)]
async fn a_logon_and_the_registry_tell_one_version() {
    let host = host();
    let mut smb = Smb::connect(&host);
    smb.log_on(&credentials()).await.unwrap();
    let OsVersion { major, minor, build } = smb.os_version.unwrap();
    let mut machine = Machine::connect(&host).await;
    let mut value = async |name| machine.value(CURRENT_VERSION, name).await.unwrap();
    assert_eq!(value("CurrentMajorVersionNumber").await, RegistryValue::dword(major.into()));
    assert_eq!(value("CurrentMinorVersionNumber").await, RegistryValue::dword(minor.into()));
    assert_eq!(value("CurrentBuild").await, RegistryValue::text(&build.to_string()));
}

#[tokio::test(start_paused = true)]
async fn a_host_says_what_it_is_and_what_it_is_called() {
    let mut machine = Machine::connect(&host()).await;
    for (path, name, value) in [
        (CURRENT_VERSION, "ProductName", RegistryValue::text("Windows Server 2022 Standard")),
        (CURRENT_VERSION, "currentbuildnumber", RegistryValue::text("20348")),
        (CURRENT_VERSION, "CurrentMajorVersionNumber", RegistryValue::dword(10)),
        (CURRENT_VERSION, "InstallationType", RegistryValue::text("Server")),
        (r"SYSTEM\CurrentControlSet\Services\Tcpip\Parameters", "Hostname", RegistryValue::text("web1")),
        (
            r"SYSTEM\CurrentControlSet\Services\Tcpip\Parameters",
            "Domain",
            RegistryValue::text("corp.example"),
        ),
        (
            r"SYSTEM\CurrentControlSet\Control\ComputerName\ActiveComputerName",
            "ComputerName",
            RegistryValue::text("WEB1"),
        ),
        (
            r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation",
            "Bias",
            RegistryValue::dword((-60_i32).cast_unsigned()),
        ),
        (r"HARDWARE\DESCRIPTION\System\CentralProcessor\3", "~MHz", RegistryValue::dword(3_000)),
        (
            r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management",
            "ExistingPageFiles",
            RegistryValue::texts(&[r"\??\C:\pagefile.sys"]),
        ),
    ] {
        assert_eq!(machine.value(path, name).await, Ok(value), r"{path}\{name}");
    }
    for (path, name) in
        [(CURRENT_VERSION, "Nothing"), (r"HARDWARE\DESCRIPTION\System\CentralProcessor\4", "~MHz")]
    {
        assert_eq!(machine.value(path, name).await, Err(Win32Error::ERROR_FILE_NOT_FOUND), r"{path}\{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_physical_memory_adds_up_to_what_the_host_has() {
    let mut machine = Machine::connect(&host()).await;
    let path = r"HARDWARE\RESOURCEMAP\System Resources\Physical Memory";
    let list = machine.value(path, ".Translated").await.unwrap();
    assert_eq!(list.value_type, ValueType::REG_RESOURCE_LIST);
    let (head, descriptors) = list.bytes.split_at(20);
    assert_eq!((head[0], usize::from(head[16])), (1, descriptors.len() / 20));
    let bytes = descriptors.chunks_exact(20).map(|descriptor| {
        let length = u64::from(u32::from_le_bytes(descriptor[12..16].try_into().unwrap()));
        match (descriptor[0], u16::from_le_bytes([descriptor[2], descriptor[3]])) {
            (3 /* CmResourceTypeMemory */, _) => length,
            (7 /* CmResourceTypeMemoryLarge */, 0x0200 /* CM_RESOURCE_MEMORY_LARGE_40 */) => length << 8,
            other => panic!("no memory: {other:?}"),
        }
    });
    assert_eq!(bytes.sum::<u64>(), 16 << 30);
}

#[tokio::test(start_paused = true)]
async fn services_are_enumerated_with_all_their_values() {
    let mut machine = Machine::connect(&host()).await;
    let key = machine.open(SERVICES).await.unwrap();
    let services = machine.client.sub_keys(&key).await.unwrap();
    assert!(services.len() >= 40 && services.iter().any(|name| name == "RemoteRegistry"), "{services:?}");
    let spooler = machine.client.open_key(&key, "Spooler").await.unwrap();
    let mut values = Vec::new();
    for index in 0.. {
        match machine.client.enum_value(&spooler, index, &mut ValueRoom::new(1)).await.unwrap() {
            Some((name, value)) => values.push((name, value.value_type, value.bytes().len())),
            None => break,
        }
    }
    let info = machine.client.query_info_key(&spooler).await.unwrap();
    let longest = values.iter().map(|(name, ..)| 2 * u32::try_from(name.len()).unwrap()).max();
    let largest = values.iter().map(|(.., bytes)| u32::try_from(*bytes).unwrap()).max();
    assert_eq!(info.values as usize, values.len());
    assert_eq!((Some(info.value_name_bytes_max), Some(info.value_bytes_max)), (longest, largest));
    let names: Vec<&str> = values.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["DisplayName", "ErrorControl", "ImagePath", "ObjectName", "Start", "Type"]);
    assert_eq!(values[2].1, ValueType::REG_EXPAND_SZ);
}

#[tokio::test(start_paused = true)]
async fn keys_and_values_change_while_the_host_runs() {
    let host = host();
    let mut machine = Machine::connect(&host).await;
    let path = r"SOFTWARE\Vendor\Product";
    assert_eq!(machine.value(path, "Build").await, Err(Win32Error::ERROR_FILE_NOT_FOUND));
    let later = FileTime(NOON.0 + 1);
    host.registry().set_value(path, "Build", RegistryValue::dword(7), later);
    assert_eq!(machine.value(r"software\vendor\PRODUCT", "build").await, Ok(RegistryValue::dword(7)));
    assert_eq!(machine.last_write(path).await, later);
    let key = machine.open(path).await.unwrap();
    assert!(host.registry().remove_key(path, later));
    let gone = machine.client.query_value(&key, "Build", &mut ValueRoom::new(4)).await.unwrap_err();
    assert_eq!(gone.status(), Some(Win32Error::ERROR_KEY_DELETED));
}

#[tokio::test(start_paused = true)]
async fn the_key_of_the_library_has_the_tables_and_says_when_they_were_written() {
    let clock = Clock::manual(NOON);
    let source = Arc::new(model(&clock));
    let host = host_of(Arc::clone(&source) as _);
    let mut machine = Machine::connect(&host).await;
    let perflib = format!(r"{CURRENT_VERSION}\Perflib");
    let (last_counter, written) =
        (machine.value(&perflib, "Last Counter").await.unwrap(), machine.last_write(&perflib).await);

    let mut data = Registry::connect(&host).await;
    let (table, names) = (
        machine.value(&format!(r"{perflib}\009"), "Counter").await.unwrap(),
        data.names("Counter 009").await,
    );
    assert_eq!(counters::perflib_v1::NameTable::decode(&table.bytes).len(), names.len());
    let last = names.iter().map(|(index, _)| index).max().unwrap();
    assert_eq!(last_counter, RegistryValue::dword(last));

    clock.advance(Duration::from_secs(60));
    source.shift_name_indexes(10);
    assert_eq!(machine.last_write(&perflib).await, FileTime(NOON.0 + 600_000_000));
    assert_ne!(machine.last_write(&perflib).await, written);
    assert_eq!(machine.value(&perflib, "Last Counter").await, Ok(RegistryValue::dword(last + 10)));
    assert_eq!(names.get(1850), Some("NUMA Node Memory"));
    assert_eq!(data.names("Counter 009").await.get(1860), Some("NUMA Node Memory"));
    let objects = crate::performance_data::objects(&data.query("1850 1860").await.unwrap());
    assert_eq!(objects.into_keys().collect::<Vec<_>>(), [1860]);
}
