use rustix::time::{ClockId, clock_gettime};

/// The time now, as cells have it: in milliseconds after boot.
#[must_use]
pub fn boot_ms() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000).saturating_add(nanos.unwrap_or(0) / 1_000_000)
}
