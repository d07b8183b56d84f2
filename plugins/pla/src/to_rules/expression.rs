//! The value of a counter as Windows shows it, unscaled, in PromQL.

use counter_poll::FamilyGroup;
use counter_types::aggregate::Accumulator;
use counter_types::{Exposition, Formula, Kind, Part, Scale, properties};
use plugin_sdk::{Display, ValueKind};

use super::host::{Counter, Counterset};
use super::matchers::{Matcher, string};

/// Names metrics: the name of a family's samples, if there is one.
pub(super) type Names<'a> = &'a dyn Fn(&plugin_sdk::FamilyDef<'_>) -> Option<String>;

/// The time between two samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// `irate`, or `rate` where Prometheus has several samples for each one of Windows.
    function: &'static str,
    range_s: u64,
    /// The time between two samples of Windows.
    interval_s: u64,
}

/// An expression, and the metrics in it.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    pub(super) metrics: Vec<String>,
}

impl Window {
    /// For a set that samples every `interval_s` seconds, at a Prometheus that scrapes every `scrape_s`.
    ///
    /// PDH compares two samples, and so does `irate`. Where Prometheus has at least [`SAMPLES_OF_RATE`] samples in an interval,
    /// its two last ones are only a part of it.
    pub(super) fn new(interval_s: u64, scrape_s: u64) -> Self {
        if interval_s >= scrape_s.saturating_mul(SAMPLES_OF_RATE) {
            return Self { function: "rate", range_s: interval_s, interval_s };
        }
        let range_s = scrape_s.max(interval_s).saturating_mul(RANGE_INTERVALS);
        Self { function: "irate", range_s, interval_s }
    }
}

/// `rate` needs two samples, and more for a good estimate.
const SAMPLES_OF_RATE: u64 = 4;
/// `irate` needs two samples; a scrape may fail, and times are never exact.
const RANGE_INTERVALS: u64 = 4;

/// The cooked value of a counter, for the series with these labels.
///
/// # Errors
/// Why there is none.
pub(super) fn cooked(
    counterset: &Counterset,
    counter: &Counter,
    (matchers, group): (&[Matcher], FamilyGroup),
    window: Window,
    names: Names<'_>,
) -> Result<Expression, String> {
    let row = properties(counter.info.counter_type);
    let formula = row.map_or(Formula::Value, |row| row.formula);
    if formula == Formula::Nothing {
        return Err(format!("a counter of type {} has no number", counter.info.counter_type));
    }
    if row.is_some_and(|row| row.is_base) {
        return Err(format!("`{}` is the base of other counters, and not watched by itself", counter.name));
    }
    let mut metrics = Vec::new();
    let mut selector = |is_base: bool| -> Result<(String, Exposition), String> {
        let mut families = counterset.families_of(counter);
        let family = families.find(|family| (family.exposition.part == Part::Base) == is_base);
        let exposition = match (family, is_base) {
            (Some(family), _) => family.exposition,
            (None, false) => return Err(format!("`{}` is hidden: it is not exported", counter.name)),
            (None, true) => {
                return Err(format!(
                    "`{}` is divided by a base, which is not known: run `discover` of this version again",
                    counter.name
                ));
            }
        };
        if group == FamilyGroup::Aggregate {
            check_aggregate(counterset, counter, &exposition)?;
        }
        let name = name_of(counterset, (counter, group), &exposition, names).ok_or_else(|| {
            format!("the configuration drops the metric of `{}`, by `normalize`", counter.name)
        })?;
        metrics.push(name.clone());
        Ok((select(&name, matchers), exposition))
    };
    let (own, exposition) = selector(false)?;
    let needs_base = row.is_some_and(|row| row.needs.base || row.needs.multi);
    let base = if needs_base { selector(true)?.0 } else { String::new() };
    let Window { function, range_s, interval_s } = window;
    let per_second = |selector: &str| format!("{function}({selector}[{range_s}s])");
    let own_rate = || per_second(&own);
    let text = match formula {
        Formula::Value => raw(&own, exposition.scale),
        Formula::Double | Formula::Nothing => own,
        Formula::Delta => format!("{interval_s} * {}", own_rate()),
        Formula::Rate | Formula::QueueLength => own_rate(),
        Formula::Busy => format!("100 * {}", own_rate()),
        Formula::Idle => format!("100 * clamp_min(1 - {}, 0)", own_rate()),
        Formula::BusyOfMany => format!("100 * {} / ({base} > 0)", own_rate()),
        Formula::IdleOfMany => format!("100 * clamp_min(({base} > 0) - {}, 0)", own_rate()),
        Formula::Part => format!("100 * {own} / ({base} > 0)"),
        // Where nothing happened Windows has 0, and PromQL divides by zero.
        Formula::Share | Formula::MeanTime | Formula::Mean => {
            let base = per_second(&base);
            let percent = if formula == Formula::Share { "100 * " } else { "" };
            format!("({percent}{} / ({base} > 0) or {base} == 0)", own_rate())
        }
        Formula::Elapsed => format!("clamp_min(time() - {own}, 0)"),
    };
    Ok(Expression { text, metrics })
}

/// Whether the exporter adds up the instances' values of a part of a counter.
fn check_aggregate(
    counterset: &Counterset,
    counter: &Counter,
    exposition: &Exposition,
) -> Result<(), String> {
    let Counter { name, info, knows_function, .. } = counter;
    if !knows_function {
        return Err(format!(
            "how the instances of `{name}` are added up is not known: run `discover` of this version again"
        ));
    }
    Accumulator::new(info, exposition, counterset.instance_type).map(|_| ()).ok_or_else(|| {
        format!(
            "the instances of `{name}` cannot be added up: name one, or write `(*)` behind the counterset"
        )
    })
}

/// A momentary value, which goes out in base units. What Windows shows is a whole number.
fn raw(selector: &str, scale: Scale) -> String {
    match scale {
        Scale::Percent => format!("round(100 * {selector})"),
        Scale::HundredNanoseconds => format!("round(10000000 * {selector})"),
        Scale::Microseconds => format!("round(1000000 * {selector})"),
        Scale::Megahertz => format!("{selector} / 1000000"),
        Scale::Megabytes => format!("{selector} / 1048576"),
        Scale::Kelvin => format!("round({selector} + 273.15)"),
        Scale::Decikelvin => format!("round(10 * ({selector} + 273.15))"),
        Scale::One | Scale::Double | Scale::PerfFreq | Scale::ObjectFreq | Scale::Beginning => {
            selector.to_owned()
        }
    }
}

/// The name of the metric of one part of a counter.
pub(super) fn name_of(
    counterset: &Counterset,
    (counter, group): (&Counter, FamilyGroup),
    exposition: &Exposition,
    names: Names<'_>,
) -> Option<String> {
    let object = format!("{}{}", counterset.name, group.suffix());
    names(&plugin_sdk::FamilyDef {
        namespace: "",
        object: &object,
        item: &counter.name,
        part: exposition.part.as_str(),
        kind: match exposition.kind {
            Kind::Counter => plugin_sdk::Kind::Counter,
            Kind::Gauge => plugin_sdk::Kind::Gauge,
            Kind::Info => plugin_sdk::Kind::Info,
            Kind::Unknown => plugin_sdk::Kind::Unknown,
        },
        unit: exposition.unit.as_str(),
        help: "",
        origin: "",
        value: if exposition.is_integer() { ValueKind::U64 } else { ValueKind::F64 },
        bounds: &[],
        display: Display::NONE,
    })
}

/// The series of a metric.
pub(super) fn select(name: &str, matchers: &[Matcher]) -> String {
    let is_start = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':');
    let is_plain = name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit());
    let (name, quoted) = if is_plain { (name, None) } else { ("", Some(string(name))) };
    let parts: Vec<String> = quoted.into_iter().chain(matchers.iter().map(Matcher::to_string)).collect();
    if parts.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", parts.join(",")) }
}
