use std::time::{Instant, SystemTime};

/// Two clocks: monotonic for what happens in this process, the wall's for what outlives it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub mono: Instant,
    pub unix_s: u64,
}

/// Where the broker takes its time from.
pub trait Clock: Send + Sync {
    fn now(&self) -> Moment;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment { mono: Instant::now(), unix_s: unix.as_secs() }
    }
}
