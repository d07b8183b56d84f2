//! Values as Windows shows them.

use std::time::Duration;

use super::*;

/// A counter whose values are shown by a rule.
fn family(
    item: &'static str,
    kind: Kind,
    unit: &'static str,
    display: Display<'static>,
) -> FamilyDef<'static> {
    FamilyDef {
        namespace: "",
        object: "Zoo",
        item,
        part: if display.rule == DisplayRule::Base { "base" } else { "" },
        kind,
        unit,
        help: "What it is.",
        origin: "",
        value: ValueKind::F64,
        bounds: &[],
        display,
    }
}

/// The page after collections of these values, ten seconds after one another, with a request for the page after
/// each. The last one was at 2023-11-14 22:13:20 UTC.
async fn looked_at(
    family: &FamilyDef<'static>,
    base: Option<[f64; 2]>,
    values: &[f64],
    query: &str,
) -> String {
    let (fleet, begin) = (Fleet::of(&["web1"]), Instant::now());
    let part = FamilyDef { part: "base", display: Display::by(DisplayRule::Base), ..*family };
    fleet.offer(0, &if base.is_some() { vec![(*family, ""), (part, "")] } else { vec![(*family, "")] });
    let mut body = String::new();
    for (number, value) in values.iter().enumerate() {
        fleet.bring(0, &base.map_or(vec![*value], |bases| vec![*value, bases[number]]));
        let at = begin + Duration::from_secs(10 * number as u64);
        body = fleet.page_at(query, at, 1_700_000_000.0).await;
    }
    body
}

#[tokio::test]
async fn a_host_that_is_26_percent_busy_shows_26_percent() {
    let idle =
        family("% Processor Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentNotOfTime));
    for query in ["set=Zoo", "counter=perfmon_zoo_processor_time_seconds"] {
        let body = looked_at(&idle, None, &[50.0, 57.4], query).await;
        assert!(body.contains("<strong>26 %</strong>"), "{body}");
        assert!(
            body.contains(">57.4</td>") && body.contains("perfmon_zoo_processor_time_seconds_total"),
            "{body}"
        );
        assert!(!body.contains("second collection"), "{body}");
    }
}

#[tokio::test]
async fn what_needs_two_collections_says_so_once() {
    let idle =
        family("% Processor Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentNotOfTime));
    let body = looked_at(&idle, None, &[50.0], "set=Zoo").await;
    assert_eq!(body.matches("need a second collection").count(), 1, "{body}");
    assert!(body.contains("next in ") && body.contains(">50</td>"), "{body}");
}

#[tokio::test]
async fn bytes_shares_and_times_are_in_the_unit_that_people_think_in() {
    let check = async |item, kind, unit, display, base, values: &[f64], expected: &str| {
        let body = looked_at(&family(item, kind, unit, display), base, values, "set=Zoo").await;
        assert!(body.contains(expected), "{item}: no {expected} in {body}");
        assert_eq!(body.matches("role=\"rowheader\"").count(), 1, "{item}: a base has no row: {body}");
    };
    let by = Display::by;
    let over = |rule| Display::over(rule, "base");
    check(
        "Working Set",
        Kind::Gauge,
        "bytes",
        by(DisplayRule::Value),
        None,
        &[77_541_376.0],
        "<strong>73.9 MiB</strong>",
    )
    .await;
    // 30 hits in 120 tries.
    let hits = over(DisplayRule::PercentOfBaseDelta);
    check("Hits", Kind::Counter, "", hits, Some([100.0, 220.0]), &[10.0, 40.0], "<strong>25 %</strong>")
        .await;
    check(
        "Used",
        Kind::Gauge,
        "",
        over(DisplayRule::PercentOfBase),
        Some([8.0, 8.0]),
        &[3.0],
        "<strong>37.5 %</strong>",
    )
    .await;
    // 30 ms for 6 operations.
    let mean = over(DisplayRule::Average);
    check(
        "Mean",
        Kind::Counter,
        "seconds",
        mean,
        Some([10.0, 16.0]),
        &[1.0, 1.03],
        "<strong>5.00 ms</strong>",
    )
    .await;
    check("Mean", Kind::Counter, "seconds", mean, Some([10.0, 10.0]), &[1.0, 1.0], "<strong>0 s</strong>")
        .await;
    check(
        "Reads",
        Kind::Counter,
        "",
        by(DisplayRule::Rate),
        None,
        &[100.0, 125.0],
        "<strong>2.50/s</strong>",
    )
    .await;
    check("Reads", Kind::Counter, "", by(DisplayRule::Rate), None, &[100.0, 25.0], "restarted").await;
    let begun = 1_700_000_000.0 - 724.0;
    check(
        "Elapsed",
        Kind::Gauge,
        "seconds",
        by(DisplayRule::Elapsed),
        None,
        &[begun],
        "<strong>12 min 4 s</strong>",
    )
    .await;
    check(
        "Elapsed",
        Kind::Gauge,
        "seconds",
        by(DisplayRule::Elapsed),
        None,
        &[begun],
        "since 2023-11-14 22:01:16 UTC",
    )
    .await;
}

#[tokio::test]
async fn the_total_is_shown_first_else_the_busiest_instance() {
    let busy = family("% User Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentOfTime));
    let handles = family("Handles", Kind::Gauge, "", Display::by(DisplayRule::Value));
    for (family, instances, expected, reason) in [
        (busy, vec![("0,0", 5.0), ("0,1", 7.0), ("_Total", 6.0)], "_Total", "total"),
        (busy, vec![("0,0", 5.0), ("0,1", 7.0), ("Idle", 99.0)], "0,1", "busiest so far"),
        (handles, vec![("0,0", 5.0), ("0,1", 7.0)], "0,0", "first by name"),
    ] {
        let fleet = Fleet::of(&["web1"]);
        let series: Vec<_> = instances.iter().map(|(name, _)| (family, *name)).collect();
        let values: Vec<f64> = instances.iter().map(|(_, value)| *value).collect();
        fleet.offer(0, &series);
        fleet.bring(0, &values);
        let body = fleet.page("/targets/web1/values?set=Zoo").await;
        assert!(body.contains(&format!("value=\"{expected}\" selected")), "{expected}: {body}");
        // The note is refreshed with the values, because another instance may become the busiest.
        let said = format!(
            "data-live><p class=\"note\">Instance <strong><bdi>{expected}</bdi></strong>, {reason}</p>"
        );
        assert!(body.contains(&said), "{said}: {body}");
        // There is no note if the reader chose the instance.
        let chosen = fleet.page("/targets/web1/values?set=Zoo&instance=0%2C1").await;
        assert!(chosen.contains("value=\"0,1\" selected"), "{chosen}");
        assert!(!chosen.contains("Instance <strong>"), "{chosen}");
    }
    // There is no note if there is only one instance.
    let fleet = Fleet::of(&["web1"]);
    fleet.offer(0, &[(busy, "0,0")]);
    fleet.bring(0, &[1.0]);
    let body = fleet.page("/targets/web1/values?set=Zoo").await;
    assert!(body.contains("value=\"0,0\" selected") && !body.contains("Instance <strong>"), "{body}");
}

#[tokio::test]
async fn the_largest_share_comes_first_not_the_largest_counter() {
    let idle =
        family("% Processor Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentNotOfTime));
    let (fleet, begin) = (Fleet::of(&["web1"]), Instant::now());
    fleet.offer(0, &[(idle, "old"), (idle, "new")]);
    let mut body = String::new();
    for (number, values) in [[90.0, 10.0], [99.0, 11.0]].into_iter().enumerate() {
        fleet.bring(0, &values);
        let query = "counter=perfmon_zoo_processor_time_seconds&sort=largest";
        body = fleet.page_at(query, begin + Duration::from_secs(10 * number as u64), 0.0).await;
    }
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("no {text} in {body}"));
    assert!(at("<bdi>new</bdi>") < at("90 %") && at("90 %") < at("<bdi>old</bdi>"), "{body}");
}

#[tokio::test]
async fn a_counter_shows_its_rate_and_a_line_when_it_was_looked_at_twice() {
    let fleet = Fleet::of(&["web1"]);
    fleet.collect(0, [1_000, 5]);
    let first = fleet.page("/targets/web1/values?set=Web+Service&instance=_Total").await;
    assert_eq!(first.matches("need a second collection").count(), 1, "{first}");
    assert!(first.contains(">1000</td>") && !first.contains("polyline"), "{first}");
    for number in 2..5 {
        fleet.collect(0, [number * 1_000_000, 5]);
        fleet.page("/targets/web1/values?set=Web+Service&instance=_Total").await;
    }
    let body = fleet.page("/targets/web1/values?set=Web+Service&instance=_Total").await;
    assert!(body.contains("iB/s</strong>") && body.contains(">4000000</td>"), "{body}");
    assert!(!body.contains("second collection"), "{body}");
    assert_eq!(body.matches("<polyline points=").count(), 1);
    // The other instance was not requested before, so it has no line yet.
    let all = fleet.page("/targets/web1/values?counter=perfmon_web_service_sent_bytes&sort=largest").await;
    assert_eq!(all.matches("<polyline points=").count(), 1);
    assert!(all.contains("Bytes that were sent."), "{all}");
    let found = fleet.page("/targets/web1/values?q=sent").await;
    assert!(found.contains("perfmon_web_service_sent_bytes_total"), "{found}");
}

#[tokio::test]
async fn a_search_for_cpu_finds_the_countersets_of_processors() {
    let fleet = Fleet::of(&["web1"]);
    let idle = family("% Idle Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentOfTime));
    let processor = FamilyDef { object: "Processor Information", ..idle };
    fleet.offer(0, &[(processor, "_Total"), (family("Handles", Kind::Gauge, "", Display::NONE), "")]);
    fleet.bring(0, &[1.0, 2.0]);
    let body = fleet.page("/targets/web1/values?q=CPU").await;
    assert!(
        body.contains("set=Processor%20Information") && body.contains("<bdi>% Idle Time</bdi>"),
        "{body}"
    );
    assert!(!body.contains("Handles"), "{body}");
}

#[tokio::test]
async fn a_counter_has_the_query_that_computes_what_is_shown() {
    let idle =
        family("% Processor Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentNotOfTime));
    let body = looked_at(&idle, None, &[50.0], "counter=perfmon_zoo_processor_time_seconds").await;
    let query = "100 * clamp_min(1 - irate(perfmon_zoo_processor_time_seconds_total{target=&quot;web1&quot;}[5m]), 0)";
    assert!(body.contains(query), "{body}");
}

#[tokio::test]
async fn a_process_is_called_as_windows_calls_it() {
    let fleet = Fleet::of(&["web1"]);
    let mut verdicts = Vec::new();
    let busy = family("% User Time", Kind::Counter, "seconds", Display::by(DisplayRule::PercentOfTime));
    fleet.stores[0].register_families(&[busy], &mut verdicts);
    let labels = [("process", "svchost"), ("process_id", "1124")];
    fleet.stores[0].register_series(&[SeriesDef::new(0, &labels, None)], &mut verdicts);
    fleet.bring(0, &[1.0]);
    let body = fleet.page("/targets/web1/values?counter=perfmon_zoo_user_time_seconds").await;
    assert!(body.contains("<bdi>svchost:1124</bdi>"), "{body}");
}
