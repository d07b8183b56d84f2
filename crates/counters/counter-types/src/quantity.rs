use crate::pattern::same_name;
use crate::scale::Scale;
use crate::unit::Unit;

/// The unit of a momentary counter, and the scale to base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The base unit.
    pub unit: Unit,
    /// What a raw value is multiplied or divided by.
    pub scale: Scale,
}

/// The documented unit of a counter whose type and name do not contain it, by the English names of its counterset
/// and itself.
///
/// ```
/// use counter_types::{Unit, quantity};
///
/// assert_eq!(quantity("Process V2", "Working Set").unwrap().unit, Unit::Bytes);
/// assert_eq!(quantity("Process V2", "Thread Count"), None);
/// ```
#[must_use]
pub fn quantity(counterset: &str, counter: &str) -> Option<Quantity> {
    let contains = |names: &[&str], name: &str| names.iter().any(|known| same_name(known, name));
    let mut rows = TABLE.iter();
    let row = rows.find(|row| contains(row.countersets, counterset) && contains(row.counters, counter))?;
    Some(Quantity { unit: row.unit, scale: row.scale })
}

struct Row {
    countersets: &'static [&'static str],
    counters: &'static [&'static str],
    unit: Unit,
    scale: Scale,
}

const TABLE: &[Row] = &[
    // Win32_PerfFormattedData_PerfProc_Process: "in bytes".
    Row {
        countersets: &["Process V2", "Process"],
        counters: &["Working Set", "Working Set Peak", "Working Set - Private"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // Win32_PerfFormattedData_PerfProc_JobObjectDetails and Win32_PerfFormattedData_TermService_TerminalServicesSession:
    // "in bytes".
    Row {
        countersets: &["Job Object Details", "Terminal Services Session"],
        counters: &["Working Set", "Working Set Peak"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // Win32_PerfFormattedData_PerfOS_Memory: "Amount of virtual memory, in bytes, that can be committed …".
    Row { countersets: &["Memory"], counters: &["Commit Limit"], unit: Unit::Bytes, scale: Scale::One },
    // Win32_PerfFormattedData_PerfDisk_LogicalDisk: "unallocated space … in megabytes (1 MB = 1,048,576 bytes)". `Available
    // MBytes` of Memory stays as it is: `Available Bytes` says the same.
    Row {
        countersets: &["LogicalDisk"],
        counters: &["Free Megabytes"],
        unit: Unit::Bytes,
        scale: Scale::Megabytes,
    },
    Row {
        countersets: &["NUMA Node Memory"],
        counters: &[
            "Total MBytes",
            "Free & Zero Page List MBytes",
            "Standby List MBytes",
            "Available MBytes",
        ],
        unit: Unit::Bytes,
        scale: Scale::Megabytes,
    },
    // The name says seconds, as "(s)".
    Row {
        countersets: &["Memory"],
        counters: &["Long-Term Average Standby Cache Lifetime (s)"],
        unit: Unit::Seconds,
        scale: Scale::One,
    },
    // "Performance counters in the .NET Framework": each of them "in bytes".
    Row {
        countersets: &[".NET CLR Memory"],
        counters: &["Gen 0 heap size", "Gen 1 heap size", "Gen 2 heap size", "Large Object Heap size"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // Windows shows the memory of graphics adapters in bytes.
    Row {
        countersets: &[
            "GPU Adapter Memory",
            "GPU Process Memory",
            "GPU Local Adapter Memory",
            "GPU Non Local Adapter Memory",
        ],
        counters: &["Total Committed", "Dedicated Usage", "Shared Usage", "Local Usage", "Non Local Usage"],
        unit: Unit::Bytes,
        scale: Scale::One,
    },
    // The time for which an engine ran, in 100 ns: `Utilization Percentage`, of the same value, is a timer of 100 ns.
    Row {
        countersets: &["GPU Engine"],
        counters: &["Running Time"],
        unit: Unit::Seconds,
        scale: Scale::HundredNanoseconds,
    },
    // "Windows Time service tools and settings": both "in microseconds".
    Row {
        countersets: &["Windows Time Service"],
        counters: &["Computed Time Offset", "NTP Roundtrip Delay"],
        unit: Unit::Seconds,
        scale: Scale::Microseconds,
    },
    // "Processor Frequency is the frequency of the current processor in megahertz."
    Row {
        countersets: &["Processor Information"],
        counters: &["Processor Frequency"],
        unit: Unit::Hertz,
        scale: Scale::Megahertz,
    },
    // "Temperature of the thermal zone, in degrees Kelvin"; the precise one is in tenths of them.
    Row {
        countersets: &["Thermal Zone Information"],
        counters: &["Temperature"],
        unit: Unit::Celsius,
        scale: Scale::Kelvin,
    },
    Row {
        countersets: &["Thermal Zone Information"],
        counters: &["High Precision Temperature"],
        unit: Unit::Celsius,
        scale: Scale::Decikelvin,
    },
];

#[cfg(test)]
mod tests {
    use crate::clocks::RawClocks;
    use crate::exposition::Value;
    use crate::plan::plan_of;
    use ms_pcq::types::{CounterId, CounterType as T};
    use ms_pcq::wire::CounterRegInfo;

    fn exported(counterset: &str, counter: &str, raw: u64) -> (String, Option<Value>) {
        let info = CounterRegInfo::new(CounterId(0), T::PERF_COUNTER_LARGE_RAWCOUNT);
        let exposition = plan_of(counterset, &[info], |_| Some(counter))[0].exposition;
        (exposition.unit.to_string(), exposition.export(raw, &RawClocks::default()))
    }

    // 300 K are 26.85 °C, and 3,000,000,000 Hz are 3,000 MHz.
    #[test]
    fn what_documents_say_of_a_unit_goes_out_in_base_units() {
        let check = |counterset, counter, raw, unit: &str, value| {
            assert_eq!(exported(counterset, counter, raw), (unit.to_owned(), Some(value)), "{counter}");
        };
        check("Process V2", "Working Set", 4_096, "bytes", Value::U64(4_096));
        check("process v2", "working set - private", 4_096, "bytes", Value::U64(4_096));
        check("Process", "Working Set Peak", 4_096, "bytes", Value::U64(4_096));
        check("Terminal Services Session", "Working Set", 4_096, "bytes", Value::U64(4_096));
        check("Memory", "Commit Limit", 4_096, "bytes", Value::U64(4_096));
        check("LogicalDisk", "Free Megabytes", 3, "bytes", Value::U64(3_145_728));
        check("NUMA Node Memory", "Total MBytes", 3, "bytes", Value::U64(3_145_728));
        check("Memory", "Long-Term Average Standby Cache Lifetime (s)", 3, "seconds", Value::U64(3));
        check(".NET CLR Memory", "Gen 2 heap size", 4_096, "bytes", Value::U64(4_096));
        check("GPU Process Memory", "Non Local Usage", 7, "bytes", Value::U64(7));
        check("GPU Engine", "Running Time", 25_000_000, "seconds", Value::F64(2.5));
        check("Windows Time Service", "NTP Roundtrip Delay", 1_500, "seconds", Value::F64(0.0015));
        check("Processor Information", "Processor Frequency", 3_000, "hertz", Value::U64(3_000_000_000));
        check("Thermal Zone Information", "Temperature", 300, "celsius", Value::F64(26.85));
        check("Thermal Zone Information", "High Precision Temperature", 3_000, "celsius", Value::F64(26.85));
    }

    #[test]
    fn another_counterset_may_mean_something_else_by_the_name() {
        assert_eq!(exported("Oven", "Temperature", 300), (String::new(), Some(Value::U64(300))));
        assert_eq!(exported("Process V2", "Thread Count", 300), (String::new(), Some(Value::U64(300))));
    }
}
