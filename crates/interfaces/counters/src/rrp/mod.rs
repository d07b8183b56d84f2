//! The Windows Remote Registry Protocol [MS-RRP], client and server, without I/O; only as far as a client of
//! performance counters needs it.
//!
//! `PerflibV2EnumerateCounterSet` can return 256 countersets. A host that has more keeps a list of them in its
//! registry, behind the same pipe, and [`enumerate_counter_sets`] reads it:
//!
//! ```no_run
//! # async fn list<C: dcerpc::Channel>(channel: C) -> Result<(), counters::rrp::Error<C::Error>> {
//! let mut client = counters::rrp::winreg::RegistryClient::new(channel);
//! let registered = counters::rrp::enumerate_counter_sets(&mut client).await?;
//! for counter_set in &registered.counter_sets {
//!     println!("{counter_set}");
//! }
//! # Ok(()) }
//! ```
//!
//! The channel is one that is bound to [`SYNTAX_ID`]; an association may hold it beside one of another interface.
//!
//! Where to look: [`types`] for the protocol's words, [`winreg`] for the methods, both sides, [`wire`] for what the bytes of
//! values mean. Requirements that are not met are in `gaps.toml`.

pub mod types;
pub mod winreg;
pub mod wire;

use ::wire::{Guid, Win32Error};
use dcerpc::{Channel, SyntaxId};
use rpc::{Message, Method};

use self::winreg::{EnumerateRegistryKeyRequest, Key, RegistryClient};

/// [MS-RRP] 1.9: the interface `winreg`, version 1.0.
pub const SYNTAX_ID: SyntaxId = <winreg::Winreg as rpc::Interface>::SYNTAX_ID;

/// [MS-RRP] 2.1: the well-known endpoint.
pub const ENDPOINT: &str = r"\PIPE\winreg";

/// Why a method of [`crate::rrp::winreg::RegistryClient`] failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    #[error(transparent)]
    Rpc(#[from] rpc::Error<E, Win32Error>),
    /// The server has more than this side accepts.
    #[error("{method}: the server has more {unit} than the limit of {limit}")]
    LimitExceeded {
        method: &'static Method,
        /// What of: subkeys, countersets or bytes of a value.
        unit: &'static str,
        limit: u32,
    },
}

impl<E: core::error::Error + 'static> Error<E> {
    /// What the server's method returned, where that is what failed.
    #[must_use]
    pub const fn status(&self) -> Option<Win32Error> {
        match self {
            Self::Rpc(error) => error.status(),
            Self::LimitExceeded { .. } => None,
        }
    }

    #[must_use]
    pub const fn method(&self) -> &'static Method {
        match self {
            Self::Rpc(error) => error.method(),
            Self::LimitExceeded { method, .. } => method,
        }
    }
}

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
