//! The Windows Remote Registry Protocol [MS-RRP], client and server, without I/O; only as far as a client of
//! performance counters needs it.
//!
//! `PerflibV2EnumerateCounterSet` can return 256 countersets. A host that has more keeps a list of them in its
//! registry, behind the same pipe, and [`enumerate_counter_sets`] reads it:
//!
//! ```no_run
//! # async fn list<C: dcerpc::Channel>(channel: C) -> Result<(), ms_rrp::Error<C::Error>> {
//! let mut client = ms_rrp::winreg::RegistryClient::new(channel);
//! let registered = ms_rrp::enumerate_counter_sets(&mut client).await?;
//! for counter_set in &registered.counter_sets {
//!     println!("{counter_set}");
//! }
//! # Ok(()) }
//! ```
//!
//! The channel is one that is bound to [`SYNTAX_ID`]; an association may hold it beside one of another interface.
//!
//! Where to look: [`Method`] for the opnums, [`types`] for the protocol's words, [`winreg`] for the methods, both
//! sides. Requirements that are not met are in `gaps.toml`.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod error;
mod perflib;
pub mod types;
pub mod winreg;

use core::fmt;

use dcerpc::SyntaxId;
use ms_dtyp::Guid;

pub use self::error::Error;
pub use self::perflib::{PROVIDERS_KEY, RegisteredCounterSets, enumerate_counter_sets};

/// [MS-RRP] 1.9: the interface `winreg`, version 1.0.
pub const SYNTAX_ID: SyntaxId =
    SyntaxId::new(Guid::from_u128(0x338c_d001_2244_31f1_aaaa_9000_3800_1003), 1, 0);

/// [MS-RRP] 2.1: the well-known endpoint.
pub const ENDPOINT: &str = r"\PIPE\winreg";

/// [MS-RRP] 3.1.5: the methods that are here, by opnum. Prints as words for the beginning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Method {
    /// Opens the root `HKEY_LOCAL_MACHINE`.
    OpenLocalMachine = 2,
    /// Closes a key.
    BaseRegCloseKey = 5,
    /// Names one subkey.
    BaseRegEnumKey = 9,
    /// Opens a subkey, any number of levels down.
    BaseRegOpenKey = 15,
    /// Tells how many subkeys there are.
    BaseRegQueryInfoKey = 16,
}

impl Method {
    const ALL: [Self; 5] = [
        Self::OpenLocalMachine,
        Self::BaseRegCloseKey,
        Self::BaseRegEnumKey,
        Self::BaseRegOpenKey,
        Self::BaseRegQueryInfoKey,
    ];

    /// Its number on the wire.
    #[must_use]
    pub const fn opnum(self) -> u16 {
        self as u16
    }

    /// The method with that number, if it is here.
    #[must_use]
    pub fn from_opnum(opnum: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.opnum() == opnum)
    }

    /// Its name in the IDL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenLocalMachine => "OpenLocalMachine",
            Self::BaseRegCloseKey => "BaseRegCloseKey",
            Self::BaseRegEnumKey => "BaseRegEnumKey",
            Self::BaseRegOpenKey => "BaseRegOpenKey",
            Self::BaseRegQueryInfoKey => "BaseRegQueryInfoKey",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenLocalMachine => "open local machine",
            Self::BaseRegCloseKey => "close registry key",
            Self::BaseRegEnumKey => "enumerate registry key",
            Self::BaseRegOpenKey => "open registry key",
            Self::BaseRegQueryInfoKey => "query info of registry key",
        })
    }
}
