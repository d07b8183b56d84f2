use std::sync::LazyLock;

use super::super::Moment;
use super::super::schema::{Counterset, Sample};
use super::Machine;
use super::countersets::counterset;
use super::processor::temperature_decikelvin;

pub(crate) static THERMAL_ZONE_INFORMATION: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("Thermal Zone Information"));

/// Two zones; both temperatures are one number, rounded down for the first counter.
pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    (0..2_u32)
        .map(|zone| {
            let decikelvin = temperature_decikelvin(machine, u64::from(zone), at);
            let numbers = [decikelvin / 10, 100, 0, decikelvin];
            Sample::of_numbers(&THERMAL_ZONE_INFORMATION, format!("\\_TZ.TZ{zone:02}"), zone, &numbers)
        })
        .collect()
}
