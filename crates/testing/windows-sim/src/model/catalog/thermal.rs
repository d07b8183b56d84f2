use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::Moment;
use super::super::schema::{Counter, Counterset, Sample};
use super::processor::temperature_decikelvin;
use super::{COUNTERS_PROVIDER, Machine};

/// The GUID and the ids 0 and 3 are public.
pub(crate) static THERMAL_ZONE_INFORMATION: Counterset = Counterset {
    guid: Guid::from_u128(0x52bc5412_dac2_449c_8bc2_96443888fe6b),
    name: "Thermal Zone Information",
    explain: "Temperature and throttling of each thermal zone of the host.",
    german: Some("Thermozoneninformationen"),
    provider: &COUNTERS_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

static COUNTERS: [Counter; 4] = [
    Counter::new(0, T::PERF_COUNTER_RAWCOUNT, "Temperature", "Temperature of the zone in kelvin.")
        .german("Temperatur"),
    Counter::new(
        1,
        T::PERF_COUNTER_RAWCOUNT,
        "% Passive Limit",
        "Limit that cooling puts on the devices of the zone.",
    ),
    Counter::new(2, T::PERF_COUNTER_RAWCOUNT, "Throttle Reasons", "Reasons why the zone is throttled.")
        .hexadecimal(),
    Counter::new(
        3,
        T::PERF_COUNTER_RAWCOUNT,
        "High Precision Temperature",
        "Temperature of the zone in tenths of a kelvin.",
    )
    .scale(-1),
];

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
