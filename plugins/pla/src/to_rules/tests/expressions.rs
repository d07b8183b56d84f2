//! What Windows shows, in PromQL. That the expressions are right `judged` proves; here is what they look like.

use super::{thresholds, told, told_of, translated, translated_with};
use crate::to_rules::expression::Window;

#[test]
fn each_formula_of_windows_has_its_expression() {
    let of = |counter: &str| {
        told_of(&format!(r"\Counter Types(*)\{counter}>1")).join("\n").replace("perfmon_counter_types_", "$")
    };
    let check = |counter, expected: &str| assert_eq!(of(counter), expected, "{counter}");
    check("Raw Count", "$raws > 1");
    check("Delta", "15 * irate($delta_total[60s]) > 1");
    check("Counter", "irate($counter_total[60s]) > 1");
    check("Queue Length", "irate($queue_length_seconds_total[60s]) > 1");
    check("Timer", "100 * irate($timer_seconds_total[60s]) > 1");
    check("Timer Inverse", "100 * clamp_min(1 - irate($timer_inverse_inactive_seconds_total[60s]), 0) > 1");
    check("Multi Timer", "100 * irate($multi_timer_seconds_total[60s]) / ($multi_timer_base > 0) > 1");
    check(
        "Multi Timer Inverse",
        "100 * clamp_min(($multi_timer_inverse_base > 0) - irate($multi_timer_inverse_inactive_seconds_total[60s]), 0) > 1",
    );
    check("Raw Fraction", "100 * $raw_fraction / ($raw_fraction_base > 0) > 1");
    check(
        "Sample Fraction",
        "(100 * irate($sample_fraction_total[60s]) / (irate($sample_fraction_base_total[60s]) > 0) \
         or irate($sample_fraction_base_total[60s]) == 0) > 1",
    );
    check(
        "Average Timer",
        "(irate($average_timer_seconds_total[60s]) / (irate($average_timer_base_total[60s]) > 0) \
         or irate($average_timer_base_total[60s]) == 0) > 1",
    );
    check(
        "Average Bulk",
        "(irate($average_bulk_total[60s]) / (irate($average_bulk_base_total[60s]) > 0) \
         or irate($average_bulk_base_total[60s]) == 0) > 1",
    );
    check("Elapsed Time", "clamp_min(time() - $elapsed_time_start_time_seconds, 0) > 1");
}

#[test]
fn values_in_base_units_are_those_of_windows_again() {
    let check = |path: &str, expected: &str| assert_eq!(told_of(&format!("{path}<1")), [expected]);
    check(
        r"\Processor Information(*)\Processor Frequency",
        "perfmon_processor_information_processor_frequency_hertz / 1000000 < 1",
    );
    check(r"\LogicalDisk(*)\Free Megabytes", "perfmon_logical_disk_free_bytes / 1048576 < 1");
    check(
        r"\Thermal Zone Information(*)\Temperature",
        "round(perfmon_thermal_zone_information_temperature_celsius + 273.15) < 1",
    );
    check(
        r"\Thermal Zone Information(*)\High Precision Temperature",
        "round(10 * (perfmon_thermal_zone_information_high_precision_temperature_celsius + 273.15)) < 1",
    );
}

#[test]
fn counters_without_a_number_and_bases_have_no_rule() {
    let check = |counter, expected: &str| {
        let told = told_of(&format!(r"\Counter Types(*)\{counter}>1"));
        assert!(told.len() == 1 && told[0].contains("left out") && told[0].ends_with(expected), "{told:?}");
    };
    check("Text", "a counter of type PERF_COUNTER_TEXT has no number");
    check("No Data", "a counter of type PERF_COUNTER_NODATA has no number");
    check("Average Base", "has no counter `Average Base`; did you mean `Average Bulk`?");
    check(
        "Average Timer Base",
        "`Average Timer Base` is the base of other counters, and not watched by itself",
    );
    check("Object Time", "`Object Time` is hidden: it is not exported");
}

#[test]
fn a_metric_that_the_configuration_drops_or_renames_is_told() {
    let dropped =
        translated_with(thresholds(&[r"\Memory\Available MBytes<1"]), |setting| setting.names = &|_| None);
    assert_eq!(
        told(&dropped),
        [
            r"alerts.xml:1:59: left out: `\Memory\Available MBytes<1`: the configuration drops the metric of `Available MBytes`, by `normalize`"
        ]
    );
    let renamed = translated_with(thresholds(&[r"\Memory\Available MBytes<1"]), |setting| {
        setting.names = &|_| Some("Größe \"x\"".to_owned());
    });
    assert_eq!(
        told(&renamed),
        [
            r#"{"Größe \"x\""} < 1"#,
            "# `Größe \"x\"` is not its native name: a profile may give it other labels and another unit",
        ]
    );
}

#[test]
fn a_rate_is_taken_over_the_interval_of_the_set() {
    let check = |interval_s, scrape_s, expected: &str| {
        let window = format!("{:?}", Window::new(interval_s, scrape_s));
        assert!(window.contains(expected), "{window}");
    };
    check(15, 15, r#""irate", range_s: 60"#);
    check(30, 15, r#""irate", range_s: 120"#);
    check(60, 15, r#""rate", range_s: 60"#);
    check(1, 60, r#""irate", range_s: 240"#);
}

#[test]
fn a_pattern_of_counters_is_a_rule_for_each_but_for_helpers() {
    let told = told(&translated(thresholds(&[r"\LogicalDisk(*)\Avg. Disk sec/*>0.1"])));
    let names: Vec<_> = told.iter().filter_map(|expr| expr.split("_seconds_total").next()).collect();
    let stem = "(irate(perfmon_logical_disk_avg_disk";
    assert_eq!(names, [format!("{stem}_transfer"), format!("{stem}_read"), format!("{stem}_write")]);
}
