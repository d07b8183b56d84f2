use counters::pcq::types::{Attrib, CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::Moment;
use super::super::object::{EXPERT, WIZARD};
use super::super::population::SECOND;
use super::super::schema::{Counter, Counterset, Sample, Value};
use super::{Machine, SIM_PROVIDER};

/// What providers in the wild register although nobody should. The GUID is ours.
pub(crate) static ODDITIES: Counterset = Counterset {
    guid: Guid::from_u128(0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a005),
    name: "Oddities",
    explain: "",
    german: None,
    german_explain: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::ADVANCED,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

const ALL_FLAGS: Attrib = Attrib(0x1F);
/// No document knows this type; its size bits say eight bytes.
const UNKNOWN_TYPE: T = T(0x00F1_0500);

const fn plain(id: u32, name: &'static str) -> Counter {
    Counter::new(id, T::PERF_COUNTER_RAWCOUNT, name, "100 times its number, and the instance's.")
}

static COUNTERS: [Counter; 32] = [
    plain(1, ""),
    plain(2, "Twice"),
    Counter::new(2, T::PERF_COUNTER_LARGE_RAWCOUNT, "Twice Again", "Has the number of another."),
    Counter::new(3, UNKNOWN_TYPE, "Unknown Type", "Has a type that nobody knows."),
    Counter::new(4, T::PERF_COUNTER_NODATA, "No Data", "Has no value."),
    Counter::new(5, T::PERF_COUNTER_TEXT, "Changing Text", "Another text each minute."),
    Counter::new(6, T::PERF_COUNTER_RAWCOUNT, "No Explain Text", ""),
    Counter::new(7, T::PERF_RAW_FRACTION, "Fraction", "Has a base without a name.").base(8),
    Counter::new(8, T::PERF_RAW_BASE, "", "").hidden(),
    Counter::new(9, T::PERF_AVERAGE_BULK, "Lost Base", "Has a base that is not there.").base(99),
    plain(10, "Novice").level(DetailLevel::NOVICE),
    plain(11, "Advanced").level(DetailLevel::ADVANCED),
    plain(12, "Expert").level(EXPERT),
    plain(13, "Wizard").level(WIZARD),
    Counter::new(14, T::PERF_DOUBLE_RAW, "Double", "Two and a half."),
    // The type says four bytes; what counts is what the data says.
    Counter::new(15, T::PERF_COUNTER_RAWCOUNT, "Wide", "Eight bytes where the type says four."),
    // Two counters whose names make one metric.
    plain(16, "Same Name"),
    plain(17, "same/name"),
    plain(20, "Scale -3").scale(-3),
    plain(21, "Scale -2").scale(-2),
    plain(22, "Scale -1").scale(-1),
    plain(23, "Scale 0").scale(0),
    plain(24, "Scale 1").scale(1),
    plain(25, "Scale 2").scale(2),
    plain(26, "Scale 3").scale(3),
    plain(30, "Reference").flags(Attrib::REFERENCE),
    plain(31, "Not Displayed").flags(Attrib::NO_DISPLAYABLE),
    plain(32, "No Separator").flags(Attrib::NO_GROUP_SEPARATOR),
    plain(33, "As Real").flags(Attrib::DISPLAY_AS_REAL),
    plain(34, "As Hexadecimal").flags(Attrib::DISPLAY_AS_HEX),
    plain(35, "All Flags").flags(ALL_FLAGS),
    plain(36, "Name with \"quotes\", \\ and \u{1F600}"),
];

/// The second name has everything that a label has to escape.
const INSTANCES: [&str; 2] = ["odd", "C:\\ \"quoted\"\n\u{e4}\u{1F600}"];

/// The value of counter c of instance i (1 or 2) is 100 · c + i; the fraction is i of its base 8; the text is
/// `minute m` with m the uptime in minutes; the double is 2.5; the wide one 2³² + i.
pub(super) fn sample(_: Machine, at: &Moment) -> Vec<Sample> {
    let minute = at.uptime_100ns() / (60 * SECOND);
    let sample = |(id, name): (u32, &str)| {
        let number = |counter: &Counter| match counter.id {
            7 => u64::from(id),
            8 => 8,
            other => 100 * u64::from(other) + u64::from(id),
        };
        let numbers: Vec<u64> = COUNTERS.iter().map(number).collect();
        let mut sample = Sample::of_numbers(&ODDITIES, name, id, &numbers);
        for (counter, value) in COUNTERS.iter().zip(&mut sample.values) {
            match counter.id {
                5 => *value = Value::text(&format!("minute {minute}")),
                14 => *value = Value::Large(2.5_f64.to_bits()),
                15 => *value = Value::Large((1 << 32) + u64::from(id)),
                _ => {}
            }
        }
        sample
    };
    (1..).zip(INSTANCES).map(sample).collect()
}
