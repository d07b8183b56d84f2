use dcerpc::Channel;
use rpc::Message;
use wire::{Guid, Win32Error};

use crate::rrp::Error;
use crate::rrp::winreg::{EnumerateRegistryKeyRequest, Key, RegistryClient};

/// Where the providers of countersets are registered, below `HKEY_LOCAL_MACHINE`: a key for each, named by its
/// GUID, and in that one a key for each of its countersets.
pub const PROVIDERS_KEY: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib\_V2Providers";

/// The countersets in a host's registry.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RegisteredCounterSets {
    /// Their GUIDs, in order, each once.
    pub counter_sets: Vec<Guid>,
    /// Providers whose countersets the caller may not see.
    pub denied_providers: u32,
}

/// Lists the countersets in the registry of a host: those that `PerflibV2EnumerateCounterSet` has, and without its
/// limit of 256.
///
/// Takes one call for each counterset and a few for each provider. What is no GUID is passed over, and so is a
/// provider that is removed meanwhile. All keys that were opened are closed, after failures of the server too.
///
/// # Errors
/// `ERROR_FILE_NOT_FOUND` when the host has no such list, `ERROR_ACCESS_DENIED` when the caller may not see it, and
/// [`Error::LimitExceeded`] when it is longer than the client's limits.
pub async fn enumerate_counter_sets<C: Channel>(
    client: &mut RegistryClient<C>,
) -> Result<RegisteredCounterSets, Error<C::Error>> {
    let root = client.open_local_machine().await?;
    let opened = client.open_key(&root, PROVIDERS_KEY).await;
    let providers = closing(client, root, opened).await?;
    let listed = list(client, &providers).await;
    closing(client, providers, listed).await
}

async fn list<C: Channel>(
    client: &mut RegistryClient<C>,
    providers: &Key,
) -> Result<RegisteredCounterSets, Error<C::Error>> {
    let limit = client.limits().counter_sets_max;
    let (mut found, mut denied_providers) = (Vec::new(), 0);
    for name in client.sub_keys(providers).await? {
        if name.parse::<Guid>().is_err() {
            continue;
        }
        match counter_sets_of(client, providers, &name).await {
            Ok(counter_sets) => found.extend(counter_sets),
            Err(error) => match error.status() {
                Some(Win32Error::ERROR_ACCESS_DENIED) => denied_providers += 1,
                Some(Win32Error::ERROR_FILE_NOT_FOUND | Win32Error::ERROR_KEY_DELETED) => {}
                _ => return Err(error),
            },
        }
        // Before duplicates are removed: the limit is about calls, which take long.
        if u32::try_from(found.len()).map_or(true, |count| count > limit) {
            let method = EnumerateRegistryKeyRequest::METHOD;
            return Err(Error::LimitExceeded { method, unit: "countersets", limit });
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(RegisteredCounterSets { counter_sets: found, denied_providers })
}

async fn counter_sets_of<C: Channel>(
    client: &mut RegistryClient<C>,
    providers: &Key,
    name: &str,
) -> Result<Vec<Guid>, Error<C::Error>> {
    let provider = client.open_key(providers, name).await?;
    let names = client.sub_keys(&provider).await;
    let names = closing(client, provider, names).await?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

/// Closes a key. Of two failures the earlier one is reported. One to close alone changes nothing for the caller,
/// unless the connection is gone, which the next call finds.
async fn closing<C: Channel, T>(
    client: &mut RegistryClient<C>,
    key: Key,
    result: Result<T, Error<C::Error>>,
) -> Result<T, Error<C::Error>> {
    if !matches!(result, Err(Error::Rpc(rpc::Error::Call { .. }))) {
        let _closed = client.close_key(key).await;
    }
    result
}
