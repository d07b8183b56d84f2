use std::sync::LazyLock;

use super::super::population::{SECOND, noise_in};
use super::super::schema::{Counterset, Sample};
use super::super::{Moment, scale};
use super::Machine;
use super::countersets::counterset;

pub(crate) static FILE_SYSTEM_DISK_ACTIVITY: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("FileSystem Disk Activity"));

/// Bytes read and written. With t the uptime in seconds: read = 4096 · r · t, written = 4096 · w · t, r and w by the seed.
pub(super) fn bytes(machine: Machine, at: &Moment) -> [u64; 2] {
    let bytes =
        |index, high| scale(at.uptime_100ns(), 4096 * noise_in(machine.seed, index, 20, high), SECOND);
    [bytes(0xd150, 4_000), bytes(0xd151, 1_000)]
}

pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    let numbers = bytes(machine, at);
    (0..)
        .zip(["default", "_Total"])
        .map(|(id, name)| Sample::of_numbers(&FILE_SYSTEM_DISK_ACTIVITY, name, id, &numbers))
        .collect()
}
