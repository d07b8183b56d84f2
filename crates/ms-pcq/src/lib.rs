//! The Performance Counter Query Protocol [MS-PCQ], client and server, without I/O.
//!
//! A client enumerates countersets, asks for their registration, opens a query, adds counters to it by
//! wildcard, and then polls it:
//!
//! ```no_run
//! # async fn poll<C: dcerpc::Channel>(channel: C) -> Result<(), ms_pcq::Error<C::Error>> {
//! use ms_pcq::perflibv2::{Change, PerflibV2Client};
//! use ms_pcq::wire::CounterIdentifier;
//!
//! let mut client = PerflibV2Client::new(channel, "web1.corp.example.com");
//! let set = client.enumerate_counter_set().await?.remove(0);
//! let mut query = client.open_query_handle().await?;
//! let all = [CounterIdentifier::all_instances(set)];
//! for added in client.validate_counters(&query, &all, Change::Add).await? {
//!     assert!(added.status.is_success());
//! }
//! let reply = client.query_counter_data(&mut query).await?;
//! for block in reply.data().blocks().flatten() {
//!     for instance in block.instances() {
//!         println!("{}", instance.name);
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Where to look: [`Method`] for the opnums, [`types`] for the protocol's words, [`wire`] for what lies inside of
//! the methods' buffers, [`perflibv2`] for the methods themselves, both sides. Requirements that are not met are
//! in `gaps.toml`.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod error;
pub mod perflibv2;
pub mod types;
pub mod wire;

use core::fmt;

use dcerpc::SyntaxId;
use ms_dtyp::Guid;

pub use self::error::Error;

/// [MS-PCQ] 1.9: the interface `PerflibV2`, version 1.0.
pub const SYNTAX_ID: SyntaxId =
    SyntaxId::new(Guid::from_u128(0xda5a_86c5_12c2_4943_ab30_7f74_a813_d853), 1, 0);

/// [MS-PCQ] 2.1: the well-known endpoint, shared with the remote registry.
pub const ENDPOINT: &str = r"\PIPE\winreg";

/// [MS-PCQ] 3.1.4.1: the methods by opnum. Prints as words for the beginning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Method {
    /// The countersets.
    EnumerateCounterSet = 0,
    /// What a counterset and its counters are.
    QueryCounterSetRegistrationInfo = 1,
    /// The instances that are there now.
    EnumerateCounterSetInstances = 2,
    /// A query begins.
    OpenQueryHandle = 3,
    /// A query ends.
    CloseQueryHandle = 4,
    /// What a query will fetch.
    QueryCounterInfo = 5,
    /// What a query fetched.
    QueryCounterData = 6,
    /// Add to, or remove from a query.
    ValidateCounters = 7,
}

impl Method {
    const ALL: [Self; 8] = [
        Self::EnumerateCounterSet,
        Self::QueryCounterSetRegistrationInfo,
        Self::EnumerateCounterSetInstances,
        Self::OpenQueryHandle,
        Self::CloseQueryHandle,
        Self::QueryCounterInfo,
        Self::QueryCounterData,
        Self::ValidateCounters,
    ];

    /// Its number on the wire.
    #[must_use]
    pub const fn opnum(self) -> u16 {
        self as u16
    }

    /// The method with that number, if there is one.
    #[must_use]
    pub fn from_opnum(opnum: u16) -> Option<Self> {
        Self::ALL.get(usize::from(opnum)).copied()
    }

    /// Its name in the IDL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EnumerateCounterSet => "PerflibV2EnumerateCounterSet",
            Self::QueryCounterSetRegistrationInfo => "PerflibV2QueryCounterSetRegistrationInfo",
            Self::EnumerateCounterSetInstances => "PerflibV2EnumerateCounterSetInstances",
            Self::OpenQueryHandle => "PerflibV2OpenQueryHandle",
            Self::CloseQueryHandle => "PerflibV2CloseQueryHandle",
            Self::QueryCounterInfo => "PerflibV2QueryCounterInfo",
            Self::QueryCounterData => "PerflibV2QueryCounterData",
            Self::ValidateCounters => "PerflibV2ValidateCounters",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EnumerateCounterSet => "enumerate countersets",
            Self::QueryCounterSetRegistrationInfo => "query counterset registration info",
            Self::EnumerateCounterSetInstances => "enumerate counterset instances",
            Self::OpenQueryHandle => "open query handle",
            Self::CloseQueryHandle => "close query handle",
            Self::QueryCounterInfo => "query counter info",
            Self::QueryCounterData => "query counter data",
            Self::ValidateCounters => "validate counters",
        })
    }
}
