use std::sync::Arc;
use std::time::SystemTime;

/// An alert as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Grows with each change of any alert, so that a receiver knows what it has seen.
    pub version: u64,
    /// The target that it is about.
    pub target: Arc<str>,
    /// The module that found it.
    pub module: Arc<str>,
    /// Its name in its instance.
    pub id: Arc<str>,
    /// What identifies it for receivers, by name. Does not change while it is open.
    pub labels: Arc<[(String, String)]>,
    /// What may change: `summary`, and the event's other fields.
    pub annotations: Arc<[(String, String)]>,
    pub starts_at: SystemTime,
    pub ends_at: Option<SystemTime>,
}

impl Alert {
    /// The value of a label, or nothing.
    #[must_use]
    pub fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// The value of an annotation, or nothing.
    #[must_use]
    pub fn annotation(&self, name: &str) -> &str {
        self.annotations.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// Alertmanager's fingerprint of the labels: FNV-1a of 64 bits over names and values, each with 0xFF after it.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let bytes = self.labels.iter().flat_map(|(name, value)| {
            name.bytes().chain([SEPARATOR]).chain(value.bytes()).chain([SEPARATOR])
        });
        bytes.fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    }
}

/// No byte of UTF-8.
const SEPARATOR: u8 = 0xff;
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
