//! `transports:`, how targets are reached.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::item::Item;
use super::section::{Later, set};

/// One of `transports:`. Its settings go to the plugins as they are written, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// `connect_timeout`: for name, TCP and negotiation together. Default 3 s.
    pub connect_timeout: Duration,
    /// `smb.encryption`: default `preferred`.
    pub encryption: Encryption,
    /// `smb.port`: default 445.
    pub port: Option<u16>,
}

impl Default for Transport {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(3), encryption: Encryption::default(), port: None }
    }
}

impl Transport {
    /// The port that hosts are asked at.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(445)
    }
}

/// Whether SMB traffic is encrypted; the RPC calls within it always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// Never; a server that insists is refused.
    Disabled,
    /// Where the server can: from SMB 3 on, unless it is switched off there.
    #[default]
    Preferred,
    /// Or not at all.
    Required,
}

impl Encryption {
    /// The word in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Preferred => "preferred",
            Self::Required => "required",
        }
    }
}

const LATER: Later = &["call_timeout", "retries", "max_series", "rpc", "proxy"];
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);

/// Reads one of `transports:`.
pub(super) fn transport(item: &Item<'_>) -> Option<Transport> {
    let mut transport = Transport::default();
    let mut section = item.section(LATER)?;
    set(&mut transport.connect_timeout, section.duration("connect_timeout", TIMEOUTS));
    if let Some(mut smb) = section.get("smb").and_then(|item| item.section(&["signing", "dialects"])) {
        let words =
            [Encryption::Disabled, Encryption::Preferred, Encryption::Required].map(|e| (e.as_str(), e));
        set(&mut transport.encryption, smb.word("encryption", &words));
        let port = smb.count("port", 1..=65_535);
        transport.port = port.and_then(|port| u16::try_from(port).ok());
        smb.finish();
    }
    section.finish();
    Some(transport)
}
