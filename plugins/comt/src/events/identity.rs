//! The identifier of a subscription: the same after each start of the exporter, so that a new subscription takes the place of
//! one that a crash left behind.

use std::collections::BTreeSet;

use parking_lot::{Mutex, MutexGuard};
use wire::Guid;

/// The identifiers that this process uses now.
static USED: Mutex<BTreeSet<Guid>> = Mutex::new(BTreeSet::new());

/// An identifier that is used once in the process at a time.
#[derive(Debug)]
pub(crate) struct SubscriptionId(Guid);

impl SubscriptionId {
    /// The identifier of a target's subscription at an exporter that is called at `place`. A second subscription of the
    /// target gets another one, and so does one that is made before its predecessor ends.
    pub(crate) fn of(place: &str, target: &str) -> Self {
        let mut used = used();
        let mut ordinal = 0_u32;
        loop {
            let id = guid_of(place, target, ordinal);
            if used.insert(id) {
                return Self(id);
            }
            ordinal += 1;
        }
    }

    pub(crate) const fn guid(&self) -> Guid {
        self.0
    }
}

impl Drop for SubscriptionId {
    fn drop(&mut self) {
        used().remove(&self.0);
    }
}

fn used() -> MutexGuard<'static, BTreeSet<Guid>> {
    USED.lock()
}

/// A GUID of version 8 (RFC 9562), made of the FNV-1a hash of 128 bits: nobody gains anything by another with the same one.
fn guid_of(place: &str, target: &str, ordinal: u32) -> Guid {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    let ordinal = ordinal.to_le_bytes();
    let parts = [b"perfmon-exporter comt events", place.as_bytes(), target.as_bytes(), &ordinal[..]];
    let hash = parts.iter().fold(BASIS, |hash, part| {
        // No text has this byte in UTF-8: it separates the parts.
        part.iter().chain(&[0xff]).fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
    });
    Guid::from_u128(hash & !(0xf << 76) & !(3 << 62) | 8 << 76 | 2 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_depends_on_the_exporter_and_the_target_and_on_nothing_else() {
        let first = guid_of("192.0.2.7:135", "web1", 0);
        assert_eq!(first, guid_of("192.0.2.7:135", "web1", 0));
        let text = first.to_string();
        assert!(text[14..15] == *"8" && "89ab".contains(&text[19..20]), "{text}");
        for other in [
            guid_of("192.0.2.7:135", "web2", 0),
            guid_of("192.0.2.8:135", "web1", 0),
            guid_of("192.0.2.7:135", "web1", 1),
            guid_of("192.0.2.7:13", "5web1", 0),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn an_identifier_that_is_used_is_given_to_nobody_else() {
        let place = "of this test";
        let (first, second) = (SubscriptionId::of(place, "web1"), SubscriptionId::of(place, "web1"));
        assert_ne!(first.guid(), second.guid());
        let guid = first.guid();
        drop(first);
        assert_eq!(SubscriptionId::of(place, "web1").guid(), guid);
    }
}
