use std::sync::LazyLock;

use super::super::population::{SECOND, noise_in};
use super::super::schema::{Counterset, Sample};
use super::super::{Moment, scale};
use super::Machine;
use super::countersets::counterset;

pub(crate) static HTTP_SERVICE: LazyLock<&'static Counterset> = LazyLock::new(|| counterset("HTTP Service"));

/// With h = r · t hits after t seconds: misses = h/20, cached = misses/2, a flush each 10 minutes, and what was
/// cached but is not now (all but 64 at most) was flushed.
pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    let hits = scale(at.uptime_100ns(), noise_in(machine.seed, 0x4777, 5, 500), SECOND);
    let cached = hits / 40;
    let current = cached.min(64);
    let flushes = at.uptime_100ns() / (600 * SECOND);
    let numbers = [current, cached, hits, hits / 20, flushes, cached - current];
    vec![Sample::of_numbers(&HTTP_SERVICE, "", 0, &numbers)]
}
