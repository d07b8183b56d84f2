use std::sync::Arc;
use std::time::Duration;

use alerts::{Alert, Next, Plan, Registry, View};
use plugin_abi::AlertState::{Closed, Open, Opened};
use tokio::time::Instant;

use crate::support::{ALERTMANAGER, WEBHOOK, at, feed, tell};

fn view(registry: &Registry, closed: Vec<Arc<Alert>>) -> View {
    View { open: registry.open().into_iter().map(|open| open.alert).collect(), closed }
}

fn ids(next: &Next) -> Vec<&str> {
    match next {
        Next::Send { alerts, .. } => alerts.iter().map(|alert| &*alert.id).collect(),
        Next::Wait(_) => Vec::new(),
    }
}

fn settle(plan: &mut Plan, next: &Next, now: Instant) {
    if let Next::Send { alerts, truncated } = next {
        plan.settled(alerts, now);
        plan.settled(truncated, now);
    }
}

#[test]
fn alertmanager_hears_of_an_open_alert_at_once_and_at_each_interval() {
    let registry = Arc::new(Registry::default());
    let (web, begin) = (feed(&registry, "web1"), Instant::now());
    let mut plan = Plan::new(ALERTMANAGER);
    assert_eq!(plan.next(&view(&registry, vec![]), begin), Next::Wait(None));
    tell(&web, "a", Opened, &[("disk", "C:"), ("free", "5 %")], at(0));
    let next = plan.next(&view(&registry, vec![]), begin);
    assert_eq!(ids(&next), ["a"]);
    assert_eq!(plan.next(&view(&registry, vec![]), begin), next, "until it is settled");
    settle(&mut plan, &next, begin);
    let later = begin + Duration::from_secs(60);
    assert_eq!(plan.next(&view(&registry, vec![]), begin), Next::Wait(Some(later)));
    tell(&web, "b", Opened, &[], at(1));
    assert_eq!(ids(&plan.next(&view(&registry, vec![]), begin)), ["b"], "and only that");
    assert_eq!(ids(&plan.next(&view(&registry, vec![]), later)), ["a", "b"]);
    tell(&web, "a", Open, &[("disk", "C:"), ("free", "4 %")], at(2));
    assert_eq!(ids(&plan.next(&view(&registry, vec![]), begin)), ["a", "b"], "an annotation changed");
    tell(&web, "a", Closed, &[], at(3));
    let closed = view(&registry, registry.recent());
    assert_eq!(ids(&plan.next(&closed, begin)), ["a", "b"], "the end comes first");
}

#[test]
fn a_webhook_hears_of_a_target_when_something_changes_and_at_each_interval() {
    let registry = Arc::new(Registry::default());
    let (web, db, begin) = (feed(&registry, "web1"), feed(&registry, "db1"), Instant::now());
    let mut plan = Plan::new(WEBHOOK);
    for (feed, id) in [(&web, "a"), (&web, "b"), (&db, "c")] {
        tell(feed, id, Opened, &[], at(0));
    }
    for expected in [&["c"][..], &["a", "b"]] {
        let next = plan.next(&view(&registry, vec![]), begin);
        assert_eq!(ids(&next), expected);
        settle(&mut plan, &next, begin);
    }
    let later = begin + Duration::from_secs(4 * 3600);
    assert_eq!(plan.next(&view(&registry, vec![]), begin), Next::Wait(Some(later)));
    assert_eq!(ids(&plan.next(&view(&registry, vec![]), later)), ["c"]);
    tell(&web, "a", Closed, &[], at(3));
    let next = plan.next(&view(&registry, registry.recent()), begin);
    assert_eq!(ids(&next), ["b", "a"], "what is open, and what closed");
    settle(&mut plan, &next, begin);
    assert_eq!(plan.next(&view(&registry, vec![]), begin), Next::Wait(Some(later)));
}

#[test]
fn a_message_of_a_webhook_says_how_many_are_not_in_it() {
    let registry = Arc::new(Registry::default());
    let (web, begin) = (feed(&registry, "web1"), Instant::now());
    let mut plan = Plan::new(WEBHOOK);
    (0..1_003).for_each(|id| tell(&web, &id.to_string(), Opened, &[], at(0)));
    let next = plan.next(&view(&registry, vec![]), begin);
    let Next::Send { alerts, truncated } = &next else { panic!("there is something to send") };
    assert_eq!((alerts.len(), truncated.len()), (1_000, 3));
    settle(&mut plan, &next, begin);
    assert!(matches!(plan.next(&view(&registry, vec![]), begin), Next::Wait(Some(_))));
}
