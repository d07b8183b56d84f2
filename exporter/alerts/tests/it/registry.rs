use std::sync::Arc;

use alerts::Registry;
use plugin_contract::AlertState::{Closed, Open, Opened};

use crate::support::{at, feed, tell};

fn open(registry: &Registry) -> Vec<(String, String)> {
    let open = registry.open().into_iter().map(|open| open.alert);
    open.map(|alert| (alert.target.to_string(), alert.id.to_string())).collect()
}

#[test]
fn an_alert_opens_once_is_seen_again_and_closes() {
    let registry = Arc::new(Registry::default());
    let web = feed(&registry, "web1");
    tell(&web, "low", Opened, &[("disk", "C:"), ("free", "5 %")], at(0));
    let first = registry.open().remove(0);
    tell(&web, "low", Open, &[("disk", "D:"), ("free", "4 %")], at(60));
    let second = registry.open().remove(0);
    assert_eq!(second.alert.starts_at, at(0));
    assert_eq!((first.last_seen, second.last_seen), (at(0), at(60)));
    assert_eq!(second.alert.label("disk"), "C:", "what identifies an open alert does not change");
    assert_eq!(second.alert.annotation("free"), "4 %");
    assert!(second.alert.version > first.alert.version);
    tell(&web, "low", Open, &[("disk", "D:"), ("free", "4 %")], at(61));
    assert_eq!(registry.open()[0].alert.version, second.alert.version, "nothing new to say");
    tell(&web, "low", Closed, &[], at(90));
    assert_eq!(open(&registry), []);
    let closed = registry.recent().remove(0);
    assert_eq!((closed.starts_at, closed.ends_at), (at(0), Some(at(90))));
    tell(&web, "low", Closed, &[], at(91));
    assert_eq!(registry.recent().len(), 1, "what is not open cannot close");
}

#[test]
fn an_open_alert_has_the_values_of_its_last_events() {
    let registry = Arc::new(Registry::default());
    let web = feed(&registry, "web1");
    let tell_value = |state, value: &str, second| {
        tell(&web, "low", state, &[("disk", "C:"), ("value", value)], at(second));
    };
    tell_value(Opened, "1.5", 0);
    // No numbers, and what identifies it, are no values.
    for (value, second) in [("", 1), ("NaN", 2), ("inf", 3), ("4 %", 4)] {
        tell_value(Open, value, second);
    }
    tell(&web, "other", Opened, &[("value", "7"), ("disk", "C:")], at(0));
    let values = |place: usize| registry.open()[place].values.to_vec();
    assert_eq!((values(0), values(1)), (vec![(at(0), 1.5)], vec![]));
    (10..110).for_each(|second| tell_value(Open, &second.to_string(), second));
    assert_eq!(values(0), (50_u32..110).map(|second| (at(second.into()), second.into())).collect::<Vec<_>>());
    // The clock was set back.
    tell_value(Open, "3", 60);
    assert_eq!(values(0).last(), Some(&(at(60), 3.0)));
    assert_eq!(values(0).len(), 11);
}

#[test]
fn alerts_of_removed_targets_close_and_their_feeds_are_not_heard_any_more() {
    let registry = Arc::new(Registry::default());
    let (web, db) = (feed(&registry, "web1"), feed(&registry, "db1"));
    tell(&web, "low", Opened, &[], at(0));
    tell(&db, "low", Opened, &[], at(0));
    registry.retain(at(5), |target, module| (target, module) == ("db1", "os"));
    assert_eq!(open(&registry), [("db1".to_owned(), "low".to_owned())]);
    assert_eq!(registry.recent()[0].ends_at, Some(at(5)));
    tell(&web, "low", Opened, &[], at(6));
    assert_eq!(registry.open_count(), 1);
}

#[test]
fn alerts_survive_a_new_feed_until_it_says_nothing_of_them_in_two_collections() {
    let registry = Arc::new(Registry::default());
    let old = feed(&registry, "web1");
    tell(&old, "low", Opened, &[], at(0));
    tell(&old, "gone", Opened, &[], at(0));
    let new = feed(&registry, "web1");
    tell(&old, "low", Closed, &[], at(1));
    assert_eq!(registry.open_count(), 2, "the old feed is not heard any more");
    new.collected(at(10));
    assert_eq!(registry.open_count(), 2);
    tell(&new, "low", Opened, &[], at(11));
    new.collected(at(20));
    assert_eq!(open(&registry), [("web1".to_owned(), "low".to_owned())]);
    assert_eq!(registry.open()[0].alert.starts_at, at(0), "it is still the same alert");
    assert_eq!(registry.recent()[0].ends_at, Some(at(20)));
    new.collected(at(30));
    new.collected(at(40));
    assert_eq!(registry.open_count(), 1, "a confirmed alert needs no repetition");
    new.restarted();
    new.collected(at(50));
    new.collected(at(60));
    assert_eq!(registry.open_count(), 0);
}

#[test]
fn what_is_above_the_limit_is_counted_and_gets_room_when_another_closes() {
    let registry = Arc::new(Registry::default());
    registry.set(vec![("site".to_owned(), "berlin".to_owned())], 2);
    let web = feed(&registry, "web1");
    for id in ["a", "b", "c", "c"] {
        tell(&web, id, Opened, &[], at(0));
    }
    assert_eq!((registry.open_count(), registry.over_limit()), (2, 2));
    tell(&web, "a", Closed, &[], at(1));
    tell(&web, "c", Open, &[], at(2));
    assert_eq!(registry.open_count(), 2);
    assert_eq!(registry.open()[1].alert.label("site"), "berlin");
}

#[test]
fn the_time_of_an_event_counts_if_it_can_be() {
    let registry = Arc::new(Registry::default());
    let web = feed(&registry, "web1");
    let nanos = |seconds: i64| Some((1_750_000_000 + seconds) * 1_000_000_000);
    let times = [("a", nanos(-5)), ("b", nanos(3_600)), ("c", nanos(-100_000)), ("d", Some(-1)), ("e", None)];
    for (id, time_unix_nanos) in times {
        let alert = plugin_contract::Alert { id, state: Opened, labels: &[] };
        let event = plugin_contract::Event {
            name: "pla.alert",
            level: plugin_contract::Level::Warn,
            time_unix_nanos,
            body: "",
            fields: &[],
            alert: Some(alert),
        };
        web.event(&event, at(0));
    }
    let starts: Vec<_> = registry.open().iter().map(|open| open.alert.starts_at).collect();
    assert_eq!(starts, [at(0) - std::time::Duration::from_secs(5), at(0), at(0), at(0), at(0)]);
}
