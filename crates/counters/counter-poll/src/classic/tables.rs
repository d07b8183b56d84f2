//! The tables of names of a host, read when something has to be found or named, and not kept: they take megabytes.

use counters::pcq::types::Lcid;
use counters::perflib_v1::{NameKind, NameTable};
use counters::rrp::Error;
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};
use wire::FileTime;

use crate::registration::HostChannel;

/// The texts of a host's objects and counters.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) names: NameTable,
    pub(super) helps: NameTable,
    /// Names in the language of the settings.
    pub(super) local_names: Option<NameTable>,
}

impl Tables {
    /// Reads the tables. What is not English may be missing.
    pub(crate) async fn read<C: HostChannel>(
        client: &mut RegistryClient<C>,
        key: &Key,
        language: Option<Lcid>,
    ) -> Result<Self, Error<C::Error>> {
        let names = table(client, key, &NameKind::Counter.value_name(ENGLISH)).await?;
        let helps = optional(table(client, key, &NameKind::Help.value_name(ENGLISH)).await)?;
        let local_names = match language {
            Some(language) if primary(language) != ENGLISH => {
                let name = NameKind::Counter.value_name(primary(language));
                optional(table(client, key, &name).await).map(Some)?
            }
            _ => None,
        };
        Ok(Self { names, helps: helps.unwrap_or_default(), local_names: local_names.flatten() })
    }
}

/// When the host's table of English names was written last; nothing where the host does not say.
pub(super) async fn last_write_time<C: HostChannel>(
    client: &mut RegistryClient<C>,
) -> Result<Option<FileTime>, Error<C::Error>> {
    let Some(root) = optional(client.open_local_machine().await)? else { return Ok(None) };
    let written = match optional(client.open_key(&root, NAMES_KEY).await)? {
        Some(key) => {
            let info = optional(client.query_info_key(&key).await)?;
            client.close_key(key).await?;
            info.map(|info| info.last_write_time)
        }
        None => None,
    };
    client.close_key(root).await?;
    Ok(written.filter(|time| *time != FileTime::default()))
}

async fn table<C: HostChannel>(
    client: &mut RegistryClient<C>,
    key: &Key,
    name: &str,
) -> Result<NameTable, Error<C::Error>> {
    let mut room = ValueRoom::new(TABLE_ROOM_BYTES);
    let value = client.query_value(key, name, &mut room).await?;
    Ok(NameTable::decode(value.bytes()))
}

/// Nothing where the host refuses, and the error where it fails.
fn optional<T, E: std::error::Error + 'static>(answer: Result<T, Error<E>>) -> Result<Option<T>, Error<E>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Error::Rpc(rpc::Error::Status { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The primary language of a locale ([MS-LCID] 2.1): its low ten bits.
fn primary(language: Lcid) -> u16 {
    // The mask leaves what fits.
    (language.0 & 0x3ff) as u16
}

/// The primary language English.
const ENGLISH: u16 = 9;
/// The key that holds the English tables, below `HKEY_LOCAL_MACHINE`.
const NAMES_KEY: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib\009";
/// A plain server's table of names takes 100 to 200 KiB.
const TABLE_ROOM_BYTES: u32 = 256 << 10;
