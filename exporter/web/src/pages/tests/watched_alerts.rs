//! Alerts on their page as series tell them: states, values, thresholds and charts, of open alerts and of all others.

use std::time::{Duration, SystemTime};

use ::alerts::Origin;
use exposition::testing::plugin::gauge;
use plugin_abi::{Alert, AlertState, Comparison, Evaluation, Event, Level};
use proptest::prelude::*;

use super::*;

/// The families of a source of alerts.
const STATE: usize = 0;
const VALUE: usize = 1;
const THRESHOLD: usize = 2;
const CHANGED: usize = 3;

type Labels<'a> = &'a [(&'a str, &'a str)];

fn families() -> [FamilyDef<'static>; 4] {
    let of = |item| FamilyDef {
        namespace: "bells",
        object: "Alert",
        display: Display::by(DisplayRule::Value),
        ..gauge(item)
    };
    let state = FamilyDef { kind: Kind::Info, display: Display::NONE, ..of("State Info") };
    let changed = FamilyDef { unit: "seconds", ..of("Last Change Timestamp") };
    [state, of("Value"), of("Threshold"), changed]
}

/// Registers these series of a target, which are of these families.
fn offer(fleet: &Fleet, target: usize, series: &[(usize, Labels<'_>)]) {
    let (store, mut verdicts) = (&fleet.stores[target], Vec::new());
    store.register_families(&families(), &mut verdicts);
    for (family, labels) in series {
        let family = u32::try_from(*family).expect("there are four");
        store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
    }
}

/// An alert is open, as the registry knows it.
fn open(fleet: &Fleet, labels: Labels<'_>, evaluation: Option<Evaluation>) {
    open_for(fleet, labels, evaluation, 0);
}

/// The same, as an event said so many seconds ago.
fn open_for(fleet: &Fleet, labels: Labels<'_>, evaluation: Option<Evaluation>, seconds: u64) {
    let (target, module, plugin) = ("web1".into(), "os".into(), "bells".into());
    let feed = fleet.site.page_state.alerts.feed(Origin { target, module, plugin, labels: Vec::new() });
    let alert = Alert::new("Night/High/C:", AlertState::Opened, labels);
    let event = Event {
        name: "bells.alert",
        level: Level::Warn,
        time_unix_nanos: None,
        body: "It is full.",
        fields: &[],
        alert: Some(Alert { evaluation, ..alert }),
    };
    feed.event(&event, SystemTime::now() - Duration::from_secs(seconds)).expect("there is room");
}

/// It fires above 90.
fn above_90(value: f64) -> Option<Evaluation> {
    Some(Evaluation { value: Some(value), comparison: Comparison::Above, threshold: 90.0 })
}

/// The rows of the section with this id.
fn rows(body: &str, part: &str) -> Vec<String> {
    let section = body.split(&format!("id=\"{part}\"")).nth(1).unwrap_or_default();
    let section = section.split("</table>").next().unwrap_or_default();
    section.split("<tr role=\"row\">").skip(2).map(str::to_owned).collect()
}

fn seconds_ago(seconds: u64) -> f64 {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    then.duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970").as_secs_f64()
}

const HIGH: [(&str, &str); 3] = [("set", "Night"), ("alert", "High"), ("disk", "C:")];
const LOW: [(&str, &str); 2] = [("set", "Night"), ("alert", "Low")];

#[tokio::test]
async fn every_alert_has_its_state_value_threshold_and_since_when_and_the_worst_come_first() {
    let fleet = Fleet::of(&["web1"]);
    let state = |labels: Labels<'static>, state| [labels, &[("state", state)][..]].concat();
    let (ok, firing) = (state(&LOW, "ok"), state(&HIGH, "firing"));
    let [above, below] = [">", "<"].map(|operator| [("set", "Night"), ("operator", operator)]);
    let above = [&[("alert", "High")], &above[..]].concat();
    let below = [&[("alert", "Low")], &below[..]].concat();
    let series: [(usize, Labels<'_>); 8] = [
        (STATE, &ok),
        (STATE, &firing),
        (VALUE, &LOW),
        (VALUE, &HIGH),
        (THRESHOLD, &above),
        (THRESHOLD, &below),
        (CHANGED, &LOW),
        (CHANGED, &HIGH),
    ];
    offer(&fleet, 0, &series);
    fleet.bring(0, &[1.0, 1.0, 512.0, 91.5, 90.0, 100.0, seconds_ago(7_205), seconds_ago(65)]);
    let body = fleet.page("/alerts").await;
    let [first, second] = &rows(&body, "live-watched")[..] else { panic!("{body}") };
    for text in [
        "<bdi>High</bdi>",
        "> firing</span>",
        "href=\"targets/web1\"",
        "<strong>91.5</strong>",
        "fires above 90",
        ">1 min 5 s<",
        "<bdi>disk</bdi>=<bdi>C:</bdi>",
        "aria-label=\"now 91.5, fires above 90\"",
    ] {
        assert!(first.contains(text), "{text}\n{first}");
    }
    for text in ["<bdi>Low</bdi>", "> ok</span>", "<strong>512</strong>", "fires below 100", ">2 h<"] {
        assert!(second.contains(text), "{text}\n{second}");
    }
    // The second look adds to the line.
    fleet.bring(0, &[1.0, 1.0, 512.0, 95.0, 90.0, 100.0, seconds_ago(7_205), seconds_ago(65)]);
    let body = fleet.page("/alerts").await;
    assert!(body.contains("now 95, fires above 90, between 91.5 and 95 in the last"), "{body}");
    // By state, by target and by label; nothing else is shown.
    for (query, shown) in [
        ("state=ok", vec!["Low"]),
        ("state=pending", vec![]),
        ("q=c:", vec!["High"]),
        ("q=WEB1&watched=7", vec!["High", "Low"]),
        ("state=nonsense", vec!["High", "Low"]),
        ("q=firing", vec![]),
    ] {
        let body = fleet.page(&format!("/alerts?{query}")).await;
        let rows = rows(&body, "live-watched");
        let names = ["High", "Low"].into_iter();
        let found: Vec<&str> = names
            .filter(|name| rows.iter().any(|row| row.contains(&format!("<strong><bdi>{name}<"))))
            .collect();
        assert_eq!((found, rows.len()), (shown.clone(), shown.len()), "{query}");
    }
}

#[tokio::test]
async fn an_open_alert_has_the_value_of_its_series_and_that_of_its_event_without_them() {
    let fleet = Fleet::of(&["web1"]);
    open(&fleet, &HIGH, above_90(97.25));
    let body = fleet.page("/alerts").await;
    for text in ["<strong><bdi>High</bdi>", "<strong>97.2", "fires above 90", "class=\"fires\""] {
        assert!(body.contains(text), "{text}\n{body}");
    }
    assert!(!body.contains("id=\"watched\""), "no series tell of alerts");
    let firing = [&HIGH[..], &[("state", "firing")]].concat();
    let threshold = [("set", "Night"), ("alert", "High"), ("operator", ">")];
    offer(&fleet, 0, &[(STATE, &firing), (VALUE, &HIGH), (THRESHOLD, &threshold)]);
    fleet.bring(0, &[1.0, 99.0, 90.125]);
    let body = fleet.page("/alerts").await;
    let [row] = &rows(&body, "live-alerts")[..] else { panic!("{body}") };
    assert!(
        row.contains("<strong>99</strong>")
            && row.contains("fires above 90.125")
            && !row.contains("<strong>97.2"),
        "{row}"
    );
}

#[tokio::test]
async fn the_line_of_an_open_alert_begins_with_what_its_events_told() {
    let fleet = Fleet::of(&["web1"]);
    for (value, seconds) in [(91.0, 300), (96.0, 200)] {
        open_for(&fleet, &HIGH, above_90(value), seconds);
    }
    let body = fleet.page("/alerts").await;
    assert!(body.contains("now 96, fires above 90, between 91 and 96 in the last 5 min"), "{body}");
    assert!(body.contains(">5 min<") && body.contains(">3 min 20 s ago<"), "{body}");
    let firing = [&HIGH[..], &[("state", "firing")]].concat();
    let threshold = [("set", "Night"), ("alert", "High"), ("operator", ">")];
    offer(&fleet, 0, &[(STATE, &firing), (VALUE, &HIGH), (THRESHOLD, &threshold)]);
    fleet.bring(0, &[1.0, 94.0, 90.0]);
    let body = fleet.page("/alerts").await;
    let [row] = &rows(&body, "live-alerts")[..] else { panic!("{body}") };
    assert!(row.contains("now 94, fires above 90, between 91 and 96 in the last 5 min"), "{row}");
    let line =
        row.split("<polyline points=\"").nth(1).unwrap_or_default().split('"').next().unwrap_or_default();
    assert_eq!(line.split_whitespace().count(), 3, "{row}");
}

#[tokio::test]
async fn a_value_that_is_not_known_or_has_no_threshold_is_no_chart() {
    let fleet = Fleet::of(&["web1"]);
    open(&fleet, &HIGH, None);
    let body = fleet.page("/alerts").await;
    assert!(!body.contains("<svg class=\"chart against") && !body.contains("data-label=\"Value\""), "{body}");
    let state = [&HIGH[..], &[("state", "no_data")]].concat();
    let threshold = [("set", "Night"), ("alert", "High")];
    offer(&fleet, 0, &[(STATE, &state), (THRESHOLD, &threshold)]);
    fleet.bring(0, &[1.0, 90.0]);
    let body = fleet.page("/alerts?state=no_data").await;
    let [row] = &rows(&body, "live-watched")[..] else { panic!("{body}") };
    assert!(
        row.contains("no data</span>") && row.contains("no value") && row.contains("threshold 90"),
        "{row}"
    );
    assert!(!row.contains("<svg"), "{row}");
}

#[tokio::test]
async fn a_page_of_thousands_of_watched_alerts_has_fifty_rows_and_keeps_a_history_of_these() {
    let fleet = Fleet::of(&["web1", "web2"]);
    for target in 0..2 {
        let names: Vec<String> = (0..4_000).map(|number| format!("{number:04}")).collect();
        let pairs: Vec<_> = names.iter().map(|name| [("alert", &**name), ("state", "ok")]).collect();
        let series: Vec<(usize, Labels<'_>)> = pairs
            .iter()
            .flat_map(|pair| [(STATE, &pair[..]), (VALUE, &pair[..1]), (THRESHOLD, &pair[..1])])
            .collect();
        offer(&fleet, target, &series);
        fleet.bring(target, &[1.0; 12_000]);
    }
    let body = fleet.page("/alerts?watched=81").await;
    assert!(body.len() < 100_000, "{}", body.len());
    assert!(body.contains("4,001–4,050 of 8,000") || body.contains("4001–4050 of 8,000"), "{body}");
    let rows = rows(&body, "live-watched");
    assert_eq!(rows.len(), 50);
    assert!(rows[0].contains("<bdi>0000</bdi>") && rows[0].contains("targets/web2"), "{}", rows[0]);
    assert!(body.contains("watched=82#watched"), "{body}");
}

/// The tags of a page, without their attributes.
fn tags(body: &str) -> Vec<String> {
    let tags = body.split('<').skip(1);
    tags.map(|tag| tag.chars().take_while(|c| c.is_ascii_alphanumeric() || "/!".contains(*c)).collect())
        .collect()
}

/// The page of an alert that is open and watched, with these names.
fn page_of([set, alert, disk, state]: [&str; 4]) -> String {
    let fleet = Fleet::of(&["web1"]);
    let labels = [("set", set), ("alert", alert), ("disk", disk)];
    let with_state = [&labels[..], &[("state", state)]].concat();
    // It is never `<` or `>`, which add a tag.
    let operator = disk.repeat(2);
    let threshold = [&labels[..2], &[("operator", &operator)]].concat();
    offer(&fleet, 0, &[(STATE, &with_state), (VALUE, &labels), (THRESHOLD, &threshold)]);
    fleet.bring(0, &[1.0, 3.0, 2.0]);
    open(&fleet, &labels, above_90(95.0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it needs no driver");
    runtime.block_on(fleet.page("/alerts"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever names are, they add no tag to the page, and close no attribute.
    #[test]
    fn names_of_others_are_text(names in [(); 4].map(|()| "[<>&\"'\\\\{}=,/a\u{202e}\n\u{85}é]{1,12}")) {
        let names = names.each_ref().map(String::as_str);
        let body = page_of(names);
        prop_assert_eq!(tags(&body), tags(&page_of(["Night", "High", "C:", "odd"])), "{:?}\n{}", names, body);
        prop_assert!(!body.contains(char::from_u32(0x202e).unwrap_or_default()), "{body}");
    }
}
