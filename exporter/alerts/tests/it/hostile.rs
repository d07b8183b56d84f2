use std::collections::HashSet;
use std::time::Duration;

use alerts::ReceiverKind;
use plugin_abi::AlertState::{Closed, Opened};

use crate::support::{ALERTMANAGER, Answer, Fake, WEBHOOK, at, feed, notifier, tell};

const GRACE: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn ten_thousand_alerts_come_in_batches_each_once_and_one_more_is_counted() {
    let fake = Fake::new([]);
    let (notifier, counts) = notifier(ALERTMANAGER, &fake);
    let feeds: Vec<_> = (0..100).map(|target| feed(notifier.registry(), &format!("web{target}"))).collect();
    for alert in 0..10_001 {
        tell(&feeds[alert % 100], &alert.to_string(), Opened, &[], at(0));
    }
    assert_eq!(notifier.registry().over_limit(), 1);
    let received = fake.received(10_000_usize.div_ceil(256)).await;
    assert!(received.iter().all(|one| one.alerts().len() <= 256));
    let alerts: Vec<String> = received
        .iter()
        .flat_map(crate::support::Received::alerts)
        .map(|alert| alert["labels"]["id"].to_string())
        .collect();
    assert_eq!(alerts.len(), 10_000);
    assert_eq!(alerts.iter().collect::<HashSet<_>>().len(), 10_000);
    notifier.stop(GRACE).await;
    assert_eq!(counts.sent(), 10_000);
}

/// What one request costs while so many alerts are open: the largest memory at a time, and the bytes in all.
fn cost_of_a_request(kind: ReceiverKind, alerts: usize) -> (u64, u64) {
    let registry = std::sync::Arc::new(alerts::Registry::default());
    for target in 0..alerts.div_ceil(100) {
        let feed = feed(&registry, &format!("web{target}"));
        (0..100.min(alerts)).for_each(|id| tell(&feed, &id.to_string(), Opened, &[], at(0)));
    }
    assert_eq!(registry.open_count(), alerts);
    let mut plan = alerts::Plan::new(kind);
    let now = tokio::time::Instant::now();
    // All of them were sent once.
    let view = || alerts::View {
        open: registry.open().into_iter().map(|open| open.alert).collect(),
        closed: Vec::new(),
    };
    let first = view();
    while let alerts::Next::Send { alerts, truncated } = plan.next(&first, now) {
        plan.settled(&alerts, now);
        plan.settled(&truncated, now);
    }
    let later = now + Duration::from_secs(5 * 3_600);
    let used = allocation_counter::measure(|| {
        let view = view();
        assert_eq!(plan.unknown(&view), 0);
        let alerts = match plan.next(&view, later) {
            alerts::Next::Send { alerts, .. } => alerts,
            alerts::Next::Wait(_) => Vec::new(),
        };
        assert!(!alerts.is_empty(), "they are due again");
        let body = match kind {
            ReceiverKind::Alertmanager { resend_interval } => {
                alerts::alertmanager_body(alerts.iter().map(|alert| &**alert), at(0), resend_interval, None)
            }
            ReceiverKind::Webhook { .. } => alerts::webhook_body("test", "web0", &alerts, 0, None),
        };
        assert!(body.len() < 256 << 10, "{} bytes", body.len());
    });
    (used.bytes_max, used.bytes_total)
}

#[test]
fn a_request_costs_little_more_while_a_hundred_times_as_many_alerts_are_open() {
    for kind in [ALERTMANAGER, WEBHOOK] {
        let (few, many) = (cost_of_a_request(kind, 100), cost_of_a_request(kind, 10_000));
        println!("{}: {few:?} bytes with 100 alerts, {many:?} with 10,000", kind.as_str());
        assert!(many.0 < few.0 + (4 << 20) && many.1 < few.1 + (8 << 20), "{kind:?}: {few:?}, {many:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_hangs_or_talks_nonsense_gets_everything_once_it_is_well() {
    let fake = Fake::new([Answer::Hang, Answer::Garbage, Answer::Status(302), Answer::Status(200)]);
    let (notifier, counts) = notifier(WEBHOOK, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[], at(0));
    tell(&web, "hot", Opened, &[], at(0));
    fake.received(2).await;
    // The redirect is refused and not repeated; the next change brings everything.
    tell(&web, "hot", Closed, &[], at(60));
    let received = fake.received(3).await;
    assert_eq!(received[2].body["alerts"].as_array().map(Vec::len), Some(2));
    notifier.stop(GRACE).await;
    let failed: Vec<_> = counts.failed().into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(failed, [("not_found", 1), ("timeout", 1), ("unreachable", 1)]);
}

#[tokio::test(start_paused = true)]
async fn closed_alerts_that_nobody_takes_are_bounded_and_counted() {
    let fake = Fake::new([]);
    fake.set_away(true);
    let (notifier, counts) = notifier(ALERTMANAGER, &fake);
    notifier.registry().set(Vec::new(), 100);
    let web = feed(notifier.registry(), "web1");
    for alert in 0..250 {
        tell(&web, &alert.to_string(), Opened, &[], at(0));
        tell(&web, &alert.to_string(), Closed, &[], at(1));
    }
    let dropped: Vec<_> = counts.dropped().into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(dropped, [("queue_full", 150)]);
    fake.set_away(false);
    let received = fake.received(1).await;
    assert_eq!(received[0].alerts().len(), 100);
    assert_eq!(received[0].alerts()[0]["labels"]["id"], "150", "the newest are kept");
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn an_alert_that_flaps_while_nobody_listens_is_sent_as_it_is() {
    let fake = Fake::new([]);
    fake.set_away(true);
    let (notifier, counts) = notifier(ALERTMANAGER, &fake);
    let web = feed(notifier.registry(), "web1");
    for second in 0..1_000 {
        tell(&web, "low", Opened, &[], at(second));
        tell(&web, "low", Closed, &[], at(second));
    }
    tell(&web, "low", Opened, &[], at(1_000));
    fake.set_away(false);
    let received = fake.received(1).await;
    assert_eq!(received[0].alerts().len(), 1);
    assert_eq!(received[0].alerts()[0]["startsAt"], "2025-06-15T15:23:20.000Z");
    notifier.stop(GRACE).await;
    assert!(counts.dropped().iter().all(|(_, count)| *count == 0), "{:?}", counts.dropped());
}
