//! Reads the files of `catalogue/` but `version2.csv`: objects of version 1, each followed by its counters.
//!
//! A line has nine fields between semicolons: `object`, `counter` or `base`; index; counter type; detail level; of an object its
//! default counter, of a counter the power of ten of its scale; flags; name; German name; explanation. The flags of an object
//! are `clock` (it goes by the time of day), `part-of=INDEX` (its parent) and `then=INDEX` (the counters of that object follow
//! its own); those of a counter are `wide`, `shared` and `help=INDEX`, see [`PerfCounter`]. Objects that a flag names are above
//! in the same file. Empty lines and those that begin with `#` say nothing.

use std::str::FromStr;

use counters::pcq::types::{CounterType as T, DetailLevel};

use crate::model::object::{EXPERT, PerfCounter, PerfObject, WIZARD};

/// The types that the counters of the files have.
const TYPES: [T; 18] = [
    T::PERF_100NSEC_TIMER,
    T::PERF_100NSEC_TIMER_INV,
    T::PERF_AVERAGE_BASE,
    T::PERF_AVERAGE_BULK,
    T::PERF_AVERAGE_TIMER,
    T::PERF_COUNTER_100NS_QUEUELEN_TYPE,
    T::PERF_COUNTER_BULK_COUNT,
    T::PERF_COUNTER_COUNTER,
    T::PERF_COUNTER_LARGE_RAWCOUNT,
    T::PERF_COUNTER_RAWCOUNT,
    T::PERF_COUNTER_RAWCOUNT_HEX,
    T::PERF_ELAPSED_TIME,
    T::PERF_LARGE_RAW_BASE,
    T::PERF_PRECISION_100NS_TIMER,
    T::PERF_RAW_BASE,
    T::PERF_RAW_FRACTION,
    T::PERF_SAMPLE_BASE,
    T::PERF_SAMPLE_FRACTION,
];

/// An object whose counters are being read.
struct Draft {
    object: PerfObject,
    own: Vec<PerfCounter>,
    then: &'static [PerfCounter],
}

impl Draft {
    /// Objects live as long as the process.
    fn finish(mut self) -> &'static PerfObject {
        self.own.extend(self.then);
        self.object.counters = self.own.leak();
        Box::leak(Box::new(self.object))
    }
}

/// The objects of a file, or its first mistake with file and line.
pub(super) fn objects(file: &str, text: &'static str) -> Result<Vec<&'static PerfObject>, String> {
    let mut done = Vec::new();
    let mut open = None;
    lines(file, text, |line| read_line(line, &mut open, &mut done))?;
    done.extend(open.map(Draft::finish));
    Ok(done)
}

/// Passes on the lines of a file that say something, up to the first mistake, which gets file and line.
pub(super) fn lines(
    file: &str,
    text: &'static str,
    mut read: impl FnMut(&'static str) -> Result<(), String>,
) -> Result<(), String> {
    let says_something = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    (1..).zip(text.lines()).filter(says_something).try_for_each(|(number, line)| {
        read(line).map_err(|reason| format!("catalogue/{file}:{number}: {reason}"))
    })
}

/// The fields that a line was split into.
pub(super) fn fields(split: impl Iterator<Item = &'static str>) -> Result<[&'static str; 9], String> {
    let fields: Vec<_> = split.map(str::trim).collect();
    let count = fields.len();
    fields.try_into().map_err(|_| format!("{count} fields: write nine, separated by semicolons"))
}

fn read_line(
    line: &'static str,
    open: &mut Option<Draft>,
    done: &mut Vec<&'static PerfObject>,
) -> Result<(), String> {
    let [what, index, kind, detail, display, flags, name, german, explain] = fields(line.split(';'))?;
    let index = number(index)?;
    let detail = level(detail)?;
    let display = scale(display)?;
    let german = (!german.is_empty()).then_some(german);
    if (what == "base") != name.is_empty() {
        return Err("an object and a counter have a name, a base has none".to_owned());
    }
    if what == "object" {
        done.extend(open.take().map(Draft::finish));
        let object = PerfObject {
            german,
            detail,
            default_counter: display,
            ..PerfObject::new(index, name, explain, &[])
        };
        *open = Some(with_object_flags(object, flags, done)?);
        return Ok(());
    }
    let Some(draft) = open else {
        return Err("a counter before the first object: begin with a line `object`".to_owned());
    };
    match what {
        "counter" => (),
        "base" if draft.own.last().is_some_and(|counter| counter.index == index) => (),
        "base" => return Err("a base follows the counter of the same index".to_owned()),
        _ => return Err(format!("`{what}`: write object, counter or base")),
    }
    let kind = counter_type(kind)?;
    let counter = PerfCounter {
        german,
        detail,
        default_scale: display,
        ..PerfCounter::new(index, kind, name, explain)
    };
    draft.own.push(with_counter_flags(counter, flags)?);
    Ok(())
}

fn with_object_flags(
    mut object: PerfObject,
    flags: &str,
    done: &[&'static PerfObject],
) -> Result<Draft, String> {
    let above = |index: &str| {
        let index: u32 = number(index)?;
        let found = done.iter().find(|object| object.index == index).copied();
        found.ok_or_else(|| format!("no object {index} above in this file"))
    };
    let mut then: &'static [PerfCounter] = &[];
    for flag in flags.split_whitespace() {
        match flag.split_once('=') {
            None if flag == "clock" => object.has_clock = true,
            Some(("part-of", index)) => object.parent = Some(above(index)?),
            Some(("then", index)) => then = above(index)?.counters,
            _ => return Err(format!("flag `{flag}`: an object has clock, part-of=INDEX and then=INDEX")),
        }
    }
    Ok(Draft { object, own: Vec::new(), then })
}

fn with_counter_flags(mut counter: PerfCounter, flags: &str) -> Result<PerfCounter, String> {
    for flag in flags.split_whitespace() {
        match flag.split_once('=') {
            None if flag == "wide" => counter.is_wide = true,
            None if flag == "shared" => counter.is_shared = true,
            Some(("help", index)) => counter.help = number(index)?,
            _ => return Err(format!("flag `{flag}`: a counter has wide, shared and help=INDEX")),
        }
    }
    Ok(counter)
}

/// A power of ten, or the number of a default counter; nothing is 0.
pub(super) fn scale(text: &str) -> Result<i32, String> {
    if text.is_empty() { Ok(0) } else { number(text) }
}

pub(super) fn counter_type(name: &str) -> Result<T, String> {
    let found = TYPES.into_iter().find(|known| known.name() == Some(name));
    found.ok_or_else(|| "no such counter type: add it to `TYPES` of load.rs if Windows has it".to_owned())
}

pub(super) fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}`: write a number"))
}

pub(super) fn level(text: &str) -> Result<DetailLevel, String> {
    match text {
        "novice" => Ok(DetailLevel::NOVICE),
        "advanced" => Ok(DetailLevel::ADVANCED),
        "expert" => Ok(EXPERT),
        "wizard" => Ok(WIZARD),
        _ => Err(format!("level `{text}`: write novice, advanced, expert or wizard")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::objects::{FILES, VALUES};
    use super::objects;

    #[test]
    fn each_object_of_the_files_has_values_and_no_values_are_without_object() {
        let mut found = Vec::new();
        for (file, text) in FILES {
            found.extend(objects(file, text).unwrap().iter().map(|object| object.name));
        }
        let mut values: Vec<&str> = VALUES.iter().map(|(name, _)| *name).collect();
        found.sort_unstable();
        values.sort_unstable();
        assert_eq!(found, values);
    }

    #[test]
    fn a_mistake_is_reported_with_file_and_line() {
        let check = |text: &'static str, expected: &str| {
            let text = format!("# what\n\nobject; 2; ; novice; ; ; System; ; All.\n{text}\n").leak();
            assert_eq!(objects("x.csv", text).unwrap_err(), format!("catalogue/x.csv:4: {expected}"));
        };
        check("counter; 4; PERF_COUNTER_COUNTER", "3 fields: write nine, separated by semicolons");
        check("counter; x; PERF_COUNTER_COUNTER; novice; ; ; A; ; B", "`x`: write a number");
        check(
            "counter; 4; PERF_X; novice; ; ; A; ; B",
            "no such counter type: add it to `TYPES` of load.rs if Windows has it",
        );
        check(
            "counter; 4; PERF_COUNTER_COUNTER; child; ; ; A; ; B",
            "level `child`: write novice, advanced, expert or wizard",
        );
        check(
            "counter; 4; PERF_COUNTER_COUNTER; novice; ; clock; A; ; B",
            "flag `clock`: a counter has wide, shared and help=INDEX",
        );
        check("base; 4; PERF_RAW_BASE; novice; ; ; ; ;", "a base follows the counter of the same index");
        check(
            "counter; 4; PERF_COUNTER_COUNTER; novice; ; ; ; ; B",
            "an object and a counter have a name, a base has none",
        );
        check("thing; 4; ; novice; ; ; A; ; B", "`thing`: write object, counter or base");
        check("object; 4; ; novice; ; then=9; A; ; B", "no object 9 above in this file");
        check(
            "object; 4; ; novice; ; wide; A; ; B",
            "flag `wide`: an object has clock, part-of=INDEX and then=INDEX",
        );
        let early = "counter; 4; PERF_COUNTER_COUNTER; novice; ; ; A; ; B";
        assert_eq!(
            objects("x.csv", early).unwrap_err(),
            "catalogue/x.csv:1: a counter before the first object: begin with a line `object`"
        );
    }
}
