//! The calendar.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use pla_engine::Moment;

/// The moment at which a collection began: by the clock that does not go back, and by the calendar, which is now without the time
/// that has passed since.
pub(crate) fn moment(began: Duration) -> Moment {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let monotonic = Duration::try_from(clock).unwrap_or(began);
    let now = SystemTime::now();
    let wall = match monotonic.checked_sub(began) {
        Some(since) => now.checked_sub(since),
        None => now.checked_add(began.saturating_sub(monotonic)),
    };
    let wall = Timestamp::try_from(wall.unwrap_or(now)).unwrap_or(Timestamp::UNIX_EPOCH);
    Moment { wall, monotonic: began }
}

/// The moment of now.
pub(crate) fn now() -> Moment {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    moment(Duration::try_from(clock).unwrap_or_default())
}
