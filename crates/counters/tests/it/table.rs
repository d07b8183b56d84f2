//! The table of all types in TYPES.md is what the code says.

use std::fmt::Write as _;

use counters::{ALL, Clock, Exposition, Kind, Properties, Size, plan};
use expect_test::expect_file;
use ms_pcq::types::CounterId;
use ms_pcq::wire::CounterRegInfo;

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

#[test]
fn the_table_in_the_documentation_is_that_of_the_code() {
    let mut text = String::from(
        "| type | value | bits | clock | base | displays | in | goes out as |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in ALL {
        let formula = row.formula;
        let letters = if formula.as_str().is_empty() { String::new() } else { format!("`{formula}`") };
        writeln!(
            text,
            "| `{}` | {:#010x} | {} | {} | {} | {letters} | {} | {} |",
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
