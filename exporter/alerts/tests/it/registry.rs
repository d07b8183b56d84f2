use std::sync::Arc;
use std::time::Duration;

use alerts::{Feed, Registry};
use plugin_abi::{
    AlertState::{Closed, Open, Opened},
    Comparison, Evaluation, Failure, GeneralReason, NoRoom, Outcome, Stage,
};

use crate::support::{at, feed, say, steady, tell};

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
    let tell_value = |state, value: Option<f64>, second| {
        let evaluation = Some(Evaluation { value, comparison: Comparison::Above, threshold: 1.0 });
        let alert = plugin_abi::Alert { evaluation, ..plugin_abi::Alert::new("low", state, &[]) };
        say(&web, alert, &[], at(second)).expect("there is room");
    };
    tell_value(Opened, Some(1.5), 0);
    tell_value(Open, None, 1);
    // A field is text, whatever it is called.
    tell(&web, "other", Opened, &[("disk", "C:"), ("value", "7")], at(0));
    let values = |place: usize| registry.open()[place].values.to_vec();
    assert_eq!((values(0), values(1)), (vec![(at(0), 1.5)], vec![]));
    (10_u32..110).for_each(|second| tell_value(Open, Some(f64::from(second)), second.into()));
    assert_eq!(values(0), (50_u32..110).map(|second| (at(second.into()), second.into())).collect::<Vec<_>>());
    // The clock was set back.
    tell_value(Open, Some(3.0), 60);
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

/// How a collection ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Full,
    Partial,
    Failed,
}
use End::{Failed, Full, Partial};

fn collected(feed: &Feed, end: End, second: u64) {
    collected_by(feed, end, second, second);
}

/// The wall clock says that it is `wall`, after `second` seconds.
fn collected_by(feed: &Feed, end: End, wall: u64, second: u64) {
    let failure = Failure::new(Stage::Query, GeneralReason::NotFound, "no such counter");
    let outcome = match end {
        Full => Outcome::Full,
        Partial => Outcome::Partial { families: &[], failure: Some(failure) },
        Failed => Outcome::Failed(failure),
    };
    feed.collected(&outcome, at(wall), steady(second));
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
    collected(&old, Full, 2);
    collected(&new, Full, 10);
    assert_eq!(registry.open_count(), 2);
    tell(&new, "low", Opened, &[], at(11));
    collected(&new, Full, 20);
    assert_eq!(registry.open_count(), 2, "an instance that reports some again is not done with that");
    collected(&new, Full, 21);
    assert_eq!(open(&registry), [("web1".to_owned(), "low".to_owned())]);
    assert_eq!(registry.open()[0].alert.starts_at, at(0), "it is still the same alert");
    assert_eq!(registry.recent()[0].ends_at, Some(at(21)));
    (30..40).for_each(|second| collected(&new, Full, second));
    assert_eq!(registry.open_count(), 1, "a confirmed alert needs no repetition");
    new.restarted();
    collected(&new, Full, 50);
    collected(&new, Full, 60);
    assert_eq!(registry.open_count(), 0);
}

#[test]
fn collections_that_are_not_full_end_what_is_not_reported_again_as_well() {
    // How they end one after the other, and after how many of them the alert is over.
    let table: [(&[End], Option<usize>); 6] = [
        (&[Full, Full], Some(2)),
        (&[Partial, Partial, Partial, Partial, Partial, Partial], Some(6)),
        (&[Full, Partial, Partial, Partial], Some(4)),
        (&[Partial, Failed, Full, Failed, Full], Some(5)),
        (&[Partial, Partial, Partial, Partial, Partial, Failed, Failed], None),
        (&[Failed; 100], None),
    ];
    for (ends, over_after) in table {
        let registry = Arc::new(Registry::default());
        tell(&feed(&registry, "web1"), "gone", Opened, &[], at(0));
        let new = feed(&registry, "web1");
        let mut over = None;
        for (end, count) in ends.iter().zip(1..) {
            collected(&new, *end, count as u64);
            over = over.or((registry.open_count() == 0).then_some(count));
        }
        assert_eq!(over, over_after, "{ends:?}");
    }
}

#[test]
fn an_instance_that_still_reports_again_what_fires_has_time_for_all_of_it() {
    let registry = Arc::new(Registry::default());
    let old = feed(&registry, "web1");
    let ids: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    ids.iter().for_each(|id| tell(&old, id, Opened, &[], at(0)));
    let new = feed(&registry, "web1");
    // One with each collection, and the last one is over.
    for (id, second) in ids[1..].iter().zip(10..) {
        tell(&new, id, Opened, &[], at(second));
        collected(&new, Full, second);
    }
    assert_eq!(registry.open_count(), 20);
    collected(&new, Full, 100);
    assert_eq!(registry.open_count(), 20);
    collected(&new, Full, 101);
    assert_eq!(registry.open_count(), 19, "all others were confirmed");
}

#[test]
fn an_alert_that_takes_its_time_to_fire_again_has_that_time() {
    let registry = Arc::new(Registry::default());
    let old = feed(&registry, "web1");
    for (id, interval, hold) in [("slow", 15, 600), ("quick", 1, 0)] {
        let (interval, hold) = (Duration::from_secs(interval), Duration::from_secs(hold));
        let alert = plugin_abi::Alert { interval, hold, ..plugin_abi::Alert::new(id, Opened, &[]) };
        assert_eq!(say(&old, alert, &[], at(0)), Ok(Some(Opened)));
    }
    let new = feed(&registry, "web1");
    let ids = || open(&registry).into_iter().map(|(_, id)| id).collect::<Vec<_>>();
    for second in [100, 101, 102] {
        collected(&new, Full, second);
    }
    assert_eq!(ids(), ["slow"]);
    (103..730).for_each(|second| collected(&new, Partial, second));
    assert_eq!(ids(), ["slow"]);
    collected(&new, Full, 730);
    assert_eq!(ids().len(), 0);
}

#[test]
fn what_no_collection_confirms_is_over_after_a_day_and_not_before() {
    const DAY: u64 = 24 * 3_600;
    let registry = Arc::new(Registry::default());
    let (down, well, remade) = (feed(&registry, "down"), feed(&registry, "well"), feed(&registry, "remade"));
    for feed in [&down, &well, &remade] {
        tell(feed, "low", Opened, &[], at(0));
        collected(feed, Full, 10);
    }
    let remade = {
        drop(remade);
        feed(&registry, "remade")
    };
    for second in (20..DAY).step_by(600) {
        collected(&down, Failed, second);
        collected(&remade, Failed, second);
        collected(&well, Partial, second);
    }
    assert_eq!(registry.open_count(), 3, "a host that is down has not recovered");
    // One without an end of its own is over by those of others.
    collected(&well, Full, DAY + 70);
    assert_eq!(open(&registry), [("well".to_owned(), "low".to_owned())]);
    assert_eq!(registry.recent()[0].ends_at, Some(at(DAY + 70)));
    tell(&down, "low", Open, &[], at(DAY + 80));
    assert_eq!(registry.open_count(), 2, "it opens again if it still fires");
}

#[test]
fn a_day_is_a_day_when_the_wall_clock_is_set() {
    const DAY: u64 = 24 * 3_600;
    let registry = Arc::new(Registry::default());
    let (down, well) = (feed(&registry, "down"), feed(&registry, "well"));
    for feed in [&down, &well] {
        tell(feed, "low", Opened, &[], at(0));
        collected(feed, Full, 10);
    }
    collected_by(&down, Failed, 2 * DAY + 80, 80);
    assert_eq!(registry.open_count(), 2, "two days have not passed");
    assert_eq!(registry.open()[0].last_seen, at(2 * DAY));
    collected_by(&well, Full, 3 * DAY, DAY);
    assert_eq!(registry.open_count(), 2);
    collected_by(&down, Failed, 3 * DAY + 80, DAY + 80);
    assert_eq!(open(&registry), [("well".to_owned(), "low".to_owned())]);
    // Back again.
    collected_by(&down, Failed, 0, DAY + 200);
    collected_by(&down, Failed, DAY - 10, 2 * DAY + 190);
    assert_eq!(registry.open_count(), 1);
    collected_by(&down, Failed, DAY + 60, 2 * DAY + 260);
    assert_eq!(registry.open_count(), 0, "it is not kept until the clock is where it was");
}

#[test]
fn what_is_above_the_limit_is_counted_and_gets_room_when_another_closes() {
    let registry = Arc::new(Registry::default());
    registry.set(vec![("site".to_owned(), "berlin".to_owned())], 2);
    let web = feed(&registry, "web1");
    let says = |id, state, second| say(&web, plugin_abi::Alert::new(id, state, &[]), &[], at(second));
    let answers = ["a", "b", "c", "c", "b"].map(|id| says(id, Opened, 0));
    let (opened, full) = (Ok(Some(Opened)), Err(NoRoom));
    assert_eq!(answers, [opened, opened, full, full, Ok(Some(Open))], "one that is opened again is open");
    assert_eq!((registry.open_count(), registry.over_limit()), (2, 2));
    assert_eq!(["a", "c"].map(|id| web.is_open(id)), [true, false]);
    assert_eq!(says("a", Closed, 1), Ok(Some(Closed)));
    assert_eq!(says("c", Open, 2), Ok(Some(Open)));
    assert_eq!(registry.open_count(), 2);
    web.restarted();
    assert_eq!(says("b", Opened, 3), opened, "a restarted instance did not know of it");
    assert_eq!(registry.open()[1].alert.label("site"), "berlin");
}

#[test]
fn a_target_whose_alerts_fill_the_room_leaves_a_share_to_each_of_the_others() {
    let registry = Arc::new(Registry::default());
    registry.set(Vec::new(), 20);
    let feeds: Vec<_> = (0..5).map(|target| feed(&registry, &format!("web{target}"))).collect();
    (0..100).for_each(|id| tell(&feeds[0], &id.to_string(), Opened, &[], at(0)));
    assert_eq!(registry.open_count(), 12, "the others have two each");
    for one in &feeds[1..] {
        (0..100).for_each(|id| tell(one, &id.to_string(), Opened, &[], at(1)));
    }
    let of = |target: &str| registry.open().iter().filter(|open| &*open.alert.target == target).count();
    assert_eq!([of("web0"), of("web1"), of("web2"), of("web3"), of("web4")], [12, 2, 2, 2, 2]);
    tell(&feeds[0], "0", Closed, &[], at(2));
    tell(&feeds[0], "200", Opened, &[], at(2));
    assert_eq!(of("web0"), 12, "nobody lacks anything");
    registry.retain(at(3), |target, _| target == "web1");
    (0..100).for_each(|id| tell(&feeds[1], &id.to_string(), Opened, &[], at(3)));
    assert_eq!(of("web1"), 20, "a target alone has all of it");
}

#[test]
fn the_time_of_an_event_counts_if_it_can_be() {
    let registry = Arc::new(Registry::default());
    let web = feed(&registry, "web1");
    let nanos = |seconds: i64| Some((1_750_000_000 + seconds) * 1_000_000_000);
    let times = [("a", nanos(-5)), ("b", nanos(3_600)), ("c", nanos(-100_000)), ("d", Some(-1)), ("e", None)];
    for (id, time_unix_nanos) in times {
        let alert = plugin_abi::Alert::new(id, Opened, &[]);
        let event = plugin_abi::Event {
            name: "pla.alert",
            level: plugin_abi::Level::Warn,
            time_unix_nanos,
            body: "",
            fields: &[],
            alert: Some(alert),
        };
        web.event(&event, at(0)).expect("there is room");
    }
    let starts: Vec<_> = registry.open().iter().map(|open| open.alert.starts_at).collect();
    assert_eq!(starts, [at(0) - std::time::Duration::from_secs(5), at(0), at(0), at(0), at(0)]);
}
