//! Reads `catalogue/version2.csv`: what is registered of the countersets of Windows, each followed by its counters.
//!
//! A line has nine fields between semicolons, which the head of the file names; the last one may have semicolons. The
//! instances of a counterset are `single`, `multiple` or `multiple-aggregate`. The flags of a counter are `hidden`,
//! `hexadecimal`, `aggregate=total`, and `base=ID`, `time=ID` and `frequency=ID`, which name counters of the same set, see
//! [`Counter`].

use std::sync::LazyLock;

use counters::pcq::types::{AggregateFunc, InstanceType};
use wire::Guid;

use super::load::{counter_type, fields, level, lines, number, scale};
use super::{COUNTERS_PROVIDER, SIM_PROVIDER};
use crate::model::schema::{Counter, Counterset};

const FILE: &str = include_str!("../../../catalogue/version2.csv");

static COUNTERSETS: LazyLock<Vec<Counterset>> = LazyLock::new(|| read(FILE).expect("a test reads the file"));

/// The one of this name.
pub(super) fn counterset(name: &str) -> &'static Counterset {
    let found = COUNTERSETS.iter().find(|set| set.name == name);
    found.expect("each counterset with formulas is in the file")
}

/// The countersets of a file, or its first mistake with the line. What is read lives as long as the process.
fn read(text: &'static str) -> Result<Vec<Counterset>, String> {
    let mut sets: Vec<(Counterset, Vec<Counter>)> = Vec::new();
    lines("version2.csv", text, |line| read_line(line, &mut sets))?;
    Ok(sets.into_iter().map(|(set, counters)| Counterset { counters: counters.leak(), ..set }).collect())
}

fn read_line(line: &'static str, sets: &mut Vec<(Counterset, Vec<Counter>)>) -> Result<(), String> {
    let [what, id, kind, detail, display, flags, name, german, explain] = fields(line.splitn(9, ';'))?;
    let german = (!german.is_empty()).then_some(german);
    if what == "counterset" {
        let providers = [&COUNTERS_PROVIDER, &SIM_PROVIDER];
        let provider = providers.into_iter().find(|provider| provider.name == flags);
        let set = Counterset {
            guid: id.parse::<Guid>().map_err(|_| format!("`{id}`: write a GUID"))?,
            name,
            explain,
            german,
            german_explain: None,
            provider: provider.ok_or_else(|| format!("no provider `{flags}`"))?,
            detail: level(detail)?,
            instances: instances(kind)?,
            counters: &[],
        };
        sets.push((set, Vec::new()));
        return Ok(());
    }
    let Some((set, counters)) = sets.last_mut() else {
        return Err("a counter before the first counterset: begin with a line `counterset`".to_owned());
    };
    match what {
        "counter" => {
            let counter = Counter { german, ..Counter::new(number(id)?, counter_type(kind)?, name, explain) };
            let counter = counter.level(level(detail)?).scale(scale(display)?);
            counters.push(with_flags(counter, flags)?);
        }
        "german" => {
            *counters.last_mut().map_or(&mut set.german_explain, |counter| &mut counter.german_explain) =
                Some(explain);
        }
        _ => return Err(format!("`{what}`: write counterset, counter or german")),
    }
    Ok(())
}

fn instances(word: &str) -> Result<InstanceType, String> {
    match word {
        "single" => Ok(InstanceType::SINGLE),
        "multiple" => Ok(InstanceType::MULTIPLE),
        "multiple-aggregate" => Ok(InstanceType::MULTIPLE_AGGREGATE),
        _ => Err(format!("instances `{word}`: write single, multiple or multiple-aggregate")),
    }
}

fn with_flags(mut counter: Counter, flags: &str) -> Result<Counter, String> {
    for flag in flags.split_whitespace() {
        counter = match flag.split_once('=') {
            None if flag == "hidden" => counter.hidden(),
            None if flag == "hexadecimal" => counter.hexadecimal(),
            Some(("aggregate", "total")) => counter.aggregate(AggregateFunc::TOTAL),
            Some(("base", id)) => counter.base(number(id)?),
            Some(("time", id)) => Counter { perf_time: Some(number(id)?), ..counter },
            Some(("frequency", id)) => Counter { perf_freq: Some(number(id)?), ..counter },
            _ => {
                return Err(format!(
                    "flag `{flag}`: a counter has hidden, hexadecimal, aggregate=total, base=ID, time=ID and frequency=ID"
                ));
            }
        };
    }
    Ok(counter)
}

#[cfg(test)]
mod tests {
    use super::{FILE, read};

    #[test]
    fn counters_refer_to_others_of_their_set() {
        for set in read(FILE).unwrap() {
            for counter in set.counters {
                for id in [counter.base, counter.perf_time, counter.perf_freq].into_iter().flatten() {
                    assert!(set.counter(id).is_some(), "{}: {}: {id}", set.name, counter.name);
                }
            }
        }
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        let set = "counterset; b4fc721a-0378-476f-89ba-a5a79f810b36; single; novice; ; Windows-Sim; A; ; B";
        let check = |text: &str, expected: &str| {
            let text: &'static str = format!("{set}\n{text}\n").leak();
            assert_eq!(read(text).unwrap_err(), format!("catalogue/version2.csv:2: {expected}"));
        };
        check("counter; 4", "2 fields: write nine, separated by semicolons");
        check("counter; x; PERF_COUNTER_COUNTER; novice; ; ; A; ; B", "`x`: write a number");
        check("thing; 4; ; novice; ; ; A; ; B", "`thing`: write counterset, counter or german");
        check(
            "counter; 4; PERF_COUNTER_COUNTER; novice; ; wide; A; ; B",
            "flag `wide`: a counter has hidden, hexadecimal, aggregate=total, base=ID, time=ID and frequency=ID",
        );
        check("counterset; 4; single; novice; ; Windows-Sim; A; ; B", "`4`: write a GUID");
        let instances = set.replace("single", "many");
        check(&instances, "instances `many`: write single, multiple or multiple-aggregate");
        check(&set.replace("Windows-Sim", "Nobody"), "no provider `Nobody`");
    }
}
