//! TYPES.md has the table of all types in the code.

use std::fmt::Write as _;

use counter_types::{ALL, Clock, Exposition, Formula, Kind, Properties, Size, Unit, plan};
use counters::pcq::types::CounterId;
use counters::pcq::wire::CounterRegInfo;
use expect_test::expect_file;

fn size(row: &Properties) -> &'static str {
    match row.size {
        Size::Dword => "32",
        Size::Large => "64",
        Size::Zero => "none",
        Size::Variable => "any",
    }
}

fn clock(row: &Properties) -> &'static str {
    match row.clock {
        Clock::None => "",
        Clock::PerfTime => "performance",
        Clock::HundredNanoseconds => "100 ns",
        Clock::Object => "object",
    }
}

fn base(row: &Properties) -> &'static str {
    match (row.is_base, row.needs.base, row.needs.multi) {
        (true, ..) => "is one",
        (_, true, _) => "BaseCounterId",
        (_, _, true) => "MultiId",
        _ => "",
    }
}

fn exposition(row: &Properties) -> String {
    let families = plan(&[CounterRegInfo::new(CounterId(0), row.counter_type)], |_| None);
    let Some(Exposition { kind, unit, part, wraps, .. }) = families.first().map(|family| family.exposition)
    else {
        return String::new();
    };
    let kind = match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Info => "info",
        Kind::Unknown => "unknown",
    };
    let widened = if wraps && kind == "counter" { "widened" } else { "" };
    let words = [kind, widened, unit.as_str(), part.as_str()];
    words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

/// The PromQL query that gives the value that Windows shows, for a counter that is exported as `x`.
fn query(row: &Properties) -> &'static str {
    let families = plan(&[CounterRegInfo::new(CounterId(0), row.counter_type)], |_| None);
    let is_time = families.first().is_some_and(|family| family.exposition.unit == Unit::Seconds);
    match row.formula {
        _ if row.is_base => "",
        Formula::Nothing if families.is_empty() => "",
        Formula::Nothing => "x_info",
        Formula::Value | Formula::Double => "x",
        Formula::Delta => "increase(x_total[5m])",
        Formula::Rate => "rate(x_total[5m])",
        Formula::QueueLength => "rate(x_seconds_total[5m])",
        Formula::Busy => "100 * rate(x_seconds_total[5m])",
        Formula::Idle => "100 * (1 - irate(x_inactive_seconds_total[5m]))",
        Formula::BusyOfMany => "100 * rate(x_seconds_total[5m]) / x_base",
        Formula::IdleOfMany => "100 * (x_base - irate(x_inactive_seconds_total[5m]))",
        Formula::Part => "100 * x / x_base",
        Formula::Share if is_time => "100 * rate(x_seconds_total[5m]) / rate(x_base_seconds_total[5m])",
        Formula::Share => "100 * rate(x_total[5m]) / rate(x_base_total[5m])",
        Formula::MeanTime => "rate(x_seconds_total[5m]) / rate(x_base_total[5m])",
        Formula::Mean => "rate(x_total[5m]) / rate(x_base_total[5m])",
        Formula::Elapsed => "time() - x_start_time_seconds",
    }
}

#[test]
fn the_table_in_the_documentation_is_that_of_the_code() {
    let mut text = String::from(
        "| type | value | bits | clock | base | displays | in | goes out as | in PromQL |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in ALL {
        let formula = row.formula;
        let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
        let (letters, query) = (code(formula.as_str()), code(query(row)));
        writeln!(
            text,
            "| `{}` | {:#010x} | {} | {} | {} | {letters} | {} | {} | {query} |",
            row.counter_type,
            row.counter_type.0,
            size(row),
            clock(row),
            base(row),
            formula.suffix(),
            exposition(row),
        )
        .unwrap();
    }
    expect_file!["../../TYPES.md"].assert_eq(&text);
}
