use tracing::warn;
use wire::Guid;

/// What distinguishes one call, or one client, from another. Nothing secret: a system without randomness only warns.
pub(crate) fn guid() -> Guid {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        warn!(%error, "System has no random bytes");
    }
    Guid::from_u128(u128::from_le_bytes(bytes))
}
