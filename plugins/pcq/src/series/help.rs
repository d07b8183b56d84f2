//! The HELP text of a counter: what its values count and in which unit, then the host's text.
//!
//! The host's text describes the value that Windows computes from the counter. Alone it would be wrong for the
//! exported value: "percentage of time" for seconds, "per second" for a count.

use counter_types::{Exposition, Family, Formula, Kind, Part, Scale, Unit};

/// The text of one family; `formula` is that of its counter, `item` the counter's name.
pub(super) fn help(family: &Family, formula: Formula, item: &str, text: &str) -> String {
    let text = text.trim();
    if family.exposition.part == Part::Base {
        return base(formula, item);
    }
    let counted = counted(family);
    if counted.is_empty() {
        return text.to_owned();
    }
    if text.is_empty() { counted } else { format!("{counted} Windows describes what it shows: {text}") }
}

/// The counter of a base.
fn base(formula: Formula, item: &str) -> String {
    match formula {
        Formula::BusyOfMany | Formula::IdleOfMany => format!("How many things `{item}` covers."),
        Formula::Part => format!("The whole that `{item}` is a part of: divide that by this."),
        Formula::Share => {
            format!("What `{item}` is a share of: divide the rate() of that by the rate() of this.")
        }
        _ => {
            format!("What `{item}` is averaged over: divide the rate() of that by the rate() of this.")
        }
    }
}

/// What the values count; empty if they are the values that Windows shows, without a unit.
fn counted(family: &Family) -> String {
    let unit = family.exposition.unit;
    let so_far = if unit == Unit::Bytes { "Bytes so far" } else { "Count so far" };
    let share = "the share of time that Windows shows in percent.";
    match family.formula {
        Formula::Rate => format!("{so_far}; rate() is what Windows shows."),
        Formula::Delta => format!("{so_far}; Windows shows how much it grew."),
        Formula::QueueLength => "Seconds so far, times the length; rate() is the mean length.".to_owned(),
        Formula::Busy => format!("Seconds so far; rate() is {share}"),
        Formula::Idle => format!("Seconds so far in which it was not so; 1 - irate() is {share}"),
        Formula::BusyOfMany => format!("Seconds so far of all together; rate() / base is {share}"),
        Formula::IdleOfMany => format!("Seconds so far in which they were not so; base - irate() is {share}"),
        Formula::Share if unit == Unit::Seconds => {
            format!("Seconds so far; the rate() divided by that of the base is {share}")
        }
        Formula::Share => {
            "Count so far; the rate() divided by that of the base is the share that Windows shows.".to_owned()
        }
        Formula::Part => "Numerator; divided by the base it is the share that Windows shows.".to_owned(),
        Formula::MeanTime => {
            "Seconds so far; the rate() divided by that of the base is the mean that Windows shows."
                .to_owned()
        }
        Formula::Mean => {
            format!("{so_far}; the rate() divided by that of the base is the mean that Windows shows.")
        }
        Formula::Elapsed => {
            "Unix time at which it began; time() minus this are the seconds that Windows shows.".to_owned()
        }
        Formula::Value | Formula::Double => momentary(family),
        Formula::Nothing => String::new(),
    }
}

fn momentary(family: &Family) -> String {
    let Exposition { kind, scale, unit, .. } = family.exposition;
    if kind == Kind::Counter {
        let so_far = if unit == Unit::Bytes { "Bytes so far" } else { "Count so far" };
        return format!("{so_far}, as Windows shows it; rate() is how fast it grows.");
    }
    let counted = match (scale, unit) {
        (Scale::Percent, _) => "A ratio: 1 is the 100 % of Windows.",
        (Scale::Megahertz, _) => "Hertz, where Windows shows megahertz.",
        (Scale::Megabytes, _) => "Bytes, where Windows shows megabytes.",
        (Scale::Kelvin, _) => "Degrees Celsius, where Windows shows kelvin.",
        (Scale::Decikelvin, _) => "Degrees Celsius, where Windows shows tenths of a kelvin.",
        (Scale::HundredNanoseconds, _) => "Seconds, where Windows shows 100 ns.",
        (Scale::Microseconds, _) => "Seconds, where Windows shows microseconds.",
        (_, Unit::Bytes) => "Bytes.",
        (_, Unit::Bits) => "Bits a second.",
        _ => "",
    };
    counted.to_owned()
}

#[cfg(test)]
mod tests {
    use counter_types::{CounterType as T, plan_of, properties};
    use counters::pcq::types::{CounterId, CounterType};
    use counters::pcq::wire::CounterRegInfo;

    use super::*;

    fn helps(counterset: &str, item: &'static str, counter_type: CounterType, text: &str) -> Vec<String> {
        let base = CounterRegInfo::new(CounterId(9), T::PERF_COUNTER_LARGE_RAWCOUNT);
        let counter = CounterRegInfo {
            base_counter_id: CounterId(9),
            multi_id: CounterId(9),
            ..CounterRegInfo::new(CounterId(0), counter_type)
        };
        let families = plan_of(counterset, &[counter, base], |_| Some(item));
        let formula = properties(counter_type).map_or(Formula::Value, |row| row.formula);
        let own = families.iter().filter(|family| family.item == CounterId(0));
        own.map(|family| help(family, formula, item, text)).collect()
    }

    #[test]
    fn the_help_of_a_counter_says_what_is_counted_and_how_to_get_what_windows_shows() {
        let check = |item, counter_type, text, expected: &[&str]| {
            assert_eq!(helps("X", item, counter_type, text), expected);
        };
        check(
            "% User Time",
            T::PERF_100NSEC_TIMER,
            "Share of time in user mode.",
            &["Seconds so far; rate() is the share of time that Windows shows in percent. \
               Windows describes what it shows: Share of time in user mode."],
        );
        check(
            "% Processor Time",
            T::PERF_100NSEC_TIMER_INV,
            "",
            &[
                "Seconds so far in which it was not so; 1 - irate() is the share of time that Windows shows in percent.",
            ],
        );
        check(
            "Elapsed Time",
            T::PERF_ELAPSED_TIME,
            "Seconds since the process was started.",
            &["Unix time at which it began; time() minus this are the seconds that Windows shows. \
               Windows describes what it shows: Seconds since the process was started."],
        );
        check(
            "Bytes Sent/sec",
            T::PERF_COUNTER_BULK_COUNT,
            "",
            &["Bytes so far; rate() is what Windows shows."],
        );
        check(
            "Avg. Disk sec/Read",
            T::PERF_AVERAGE_TIMER,
            "Mean time.",
            &[
                "Seconds so far; the rate() divided by that of the base is the mean that Windows shows. \
                 Windows describes what it shows: Mean time.",
                "What `Avg. Disk sec/Read` is averaged over: divide the rate() of that by the rate() of this.",
            ],
        );
        check(
            "% Free Space",
            T::PERF_RAW_FRACTION,
            "Free space.",
            &[
                "Numerator; divided by the base it is the share that Windows shows. \
                 Windows describes what it shows: Free space.",
                "The whole that `% Free Space` is a part of: divide that by this.",
            ],
        );
        check("Threads", T::PERF_COUNTER_RAWCOUNT, "Threads.", &["Threads."]);
    }

    #[test]
    fn every_type_but_momentary_numbers_says_more_than_the_host() {
        for row in counter_types::ALL.iter().filter(|row| row.formula != Formula::Value) {
            let told = helps("X", "Item", row.counter_type, "Text.");
            let adds = |help: &String| help != "Text.";
            let is_number = !matches!(row.formula, Formula::Nothing | Formula::Double);
            assert!(!is_number || told.iter().all(adds), "{}", row.counter_type);
        }
    }

    #[test]
    fn units_that_differ_from_those_of_windows_are_said() {
        let check = |counterset, item, expected: &str| {
            assert_eq!(helps(counterset, item, T::PERF_COUNTER_RAWCOUNT, ""), [expected]);
        };
        check("Thermal Zone Information", "Temperature", "Degrees Celsius, where Windows shows kelvin.");
        check("Process V2", "Working Set", "Bytes.");
        check("Network Interface", "Current Bandwidth", "Bits a second.");
        check("X", "% Performance Limit", "A ratio: 1 is the 100 % of Windows.");
    }
}
