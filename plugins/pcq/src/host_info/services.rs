//! The services of a host, of which the registry knows the configuration and not the state.
//!
//! This takes some calls for each key below `Services`, so it goes on over several collections.

use std::collections::BTreeMap;

use counters::rrp::winreg::{Key, RegistryValue};

use super::fact::{Fact, Found, Sample, Unread};
use super::reader::{Lost, Read, Reader, bounded};

/// A search for services, which goes on where it stopped.
#[derive(Debug)]
pub(crate) struct ServiceScan {
    services_max: usize,
    next_index: u32,
    /// By name: keys that come and go meanwhile may be listed twice.
    found: BTreeMap<String, Service>,
}

#[derive(Debug)]
struct Service {
    display_name: String,
    start_mode: &'static str,
    account: String,
}

impl ServiceScan {
    pub(crate) fn new(services_max: u32) -> Self {
        let services_max = usize::try_from(services_max).unwrap_or(usize::MAX);
        Self { services_max, next_index: 0, found: BTreeMap::new() }
    }

    /// Goes on until the reader's time is up; `None` if there is more.
    pub(crate) async fn go_on(&mut self, reader: &mut Reader<'_>) -> Result<Option<Found>, Lost> {
        let services = match reader.key(SERVICES).await? {
            Ok(services) => services,
            Err(why) => return Ok(Some(self.finish(Some(why)))),
        };
        let mut ended = None;
        while ended.is_none() && !reader.is_time_up() {
            ended = self.step(reader, &services).await?;
        }
        reader.close(services).await?;
        Ok(ended.map(|why| self.finish(why)))
    }

    /// Reads the next key. At the end, returns why there may be more.
    async fn step(
        &mut self,
        reader: &mut Reader<'_>,
        services: &Key,
    ) -> Result<Option<Option<Unread>>, Lost> {
        if self.next_index >= KEYS_MAX {
            return Ok(Some(Some(Unread::LimitExceeded)));
        }
        let name = match reader.sub_key_name(services, self.next_index).await? {
            Ok(Some(name)) => name,
            Ok(None) => return Ok(Some(None)),
            Err(why) => return Ok(Some(Some(why))),
        };
        if let Ok(key) = reader.sub_key(services, &name).await? {
            if let Ok(Some(service)) = service(reader, &key).await? {
                if self.found.len() >= self.services_max {
                    reader.close(key).await?;
                    return Ok(Some(Some(Unread::LimitExceeded)));
                }
                self.found.insert(name, service);
            }
            reader.close(key).await?;
        }
        self.next_index += 1;
        Ok(None)
    }

    fn finish(&mut self, why: Option<Unread>) -> Found {
        let samples = std::mem::take(&mut self.found).into_iter().map(|(name, service)| {
            let Service { display_name, start_mode, account } = service;
            let labels = vec![
                ("name", bounded(&name)),
                ("display_name", display_name),
                ("start_mode", start_mode.to_owned()),
                ("run_as", account),
            ];
            Sample::info(Fact::Service, labels)
        });
        Found {
            samples: samples.collect(),
            missing: why.map(|why| (Fact::Service, why)).into_iter().collect(),
        }
    }
}

/// Reads a key; `None` if it is a driver or no service.
async fn service(reader: &mut Reader<'_>, key: &Key) -> Read<Option<Service>> {
    let service_type = match reader.value(key, "Type", RegistryValue::number).await? {
        Ok(service_type) => service_type,
        Err(Unread::NotFound) => return Ok(Ok(None)),
        Err(why) => return Ok(Err(why)),
    };
    if service_type & WIN32 == 0 {
        return Ok(Ok(None));
    }
    let start = match reader.value(key, "Start", RegistryValue::number).await? {
        Ok(start) => start,
        Err(why) => return Ok(Err(why)),
    };
    let Some(start_mode) = usize::try_from(start).ok().and_then(|start| START_MODES.get(start).copied())
    else {
        return Ok(Err(Unread::Malformed));
    };
    let display_name = reader.optional_text(key, "DisplayName").await?.unwrap_or_default();
    // `@file,-number`: the text is in a file of the host.
    let display_name = if display_name.starts_with('@') { String::new() } else { display_name };
    let account = reader.optional_text(key, "ObjectName").await?.unwrap_or_default();
    Ok(Ok(Some(Service { display_name, start_mode, account })))
}

const SERVICES: &str = r"SYSTEM\CurrentControlSet\Services";
/// `SERVICE_WIN32`: programs, not drivers.
const WIN32: u32 = 0x30;
/// By `SERVICE_BOOT_START`, `SERVICE_SYSTEM_START`, and so on.
const START_MODES: [&str; 5] = ["boot", "system", "auto", "manual", "disabled"];
/// Keys below `Services`; a large host has some 1,000.
const KEYS_MAX: u32 = 1 << 13;
