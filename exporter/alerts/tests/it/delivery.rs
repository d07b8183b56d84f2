use std::time::Duration;

use alerts::{AlertOptions, ReceiverKind};
use plugin_abi::AlertState::{Closed, Opened};
use serde_json::json;

use crate::support::{ALERTMANAGER, Answer, Fake, WEBHOOK, at, feed, notifier, tell};

const GRACE: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn an_alert_is_sent_again_until_it_closes_and_then_once() {
    let fake = Fake::new([]);
    let (notifier, counts) = notifier(ALERTMANAGER, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[("disk", "C:")], at(0));
    let received = fake.received(3).await;
    assert_eq!(received[0].path, "/api/v2/alerts");
    assert_eq!(received[2].at - received[1].at, Duration::from_secs(60));
    let ends: Vec<_> = received.iter().map(|one| one.alerts()[0]["endsAt"].clone()).collect();
    assert_eq!(ends[0], "2025-06-15T15:10:40.000Z");
    assert_eq!(ends[1], "2025-06-15T15:11:40.000Z");
    tell(&web, "low", Closed, &[], at(125));
    let received = fake.received(4).await;
    assert_eq!(received[3].alerts()[0]["endsAt"], "2025-06-15T15:08:45.000Z");
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(fake.now().len(), 4, "nothing more is to be said");
    assert_eq!((counts.sent(), counts.waiting(), counts.last().is_up()), (4, 0, Some(true)));
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_away_gets_the_state_of_now_when_it_returns() {
    let fake = Fake::new([]);
    fake.set_away(true);
    let (notifier, counts) = notifier(ALERTMANAGER, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[], at(0));
    tell(&web, "hot", Opened, &[], at(0));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!((counts.waiting(), counts.last().is_up()), (2, Some(false)));
    tell(&web, "low", Closed, &[], at(700));
    fake.set_away(false);
    let received = fake.received(1).await;
    let alerts: Vec<_> = received[0].alerts().iter().map(|alert| alert["labels"]["id"].clone()).collect();
    assert_eq!(alerts, ["low", "hot"]);
    assert_eq!(received[0].alerts()[0]["endsAt"], "2025-06-15T15:18:20.000Z");
    assert!(counts.failed().iter().any(|(reason, count)| *reason == "unreachable" && *count > 5));
    assert!(counts.dropped().iter().all(|(_, count)| *count == 0), "{:?}", counts.dropped());
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn busy_receivers_are_asked_again_and_what_is_refused_is_counted() {
    let fake = Fake::new([Answer::Status(503), Answer::Status(500), Answer::Status(400)]);
    let (notifier, counts) = notifier(ALERTMANAGER, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[], at(0));
    let received = fake.received(4).await;
    assert!(received[2].at - received[0].at < Duration::from_secs(10), "they are asked again soon");
    assert_eq!(
        received[3].at - received[2].at,
        Duration::from_secs(60),
        "what is refused waits for its turn"
    );
    tell(&web, "low", Closed, &[], at(90));
    fake.received(5).await;
    notifier.stop(GRACE).await;
    let failed: Vec<_> = counts.failed().into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(failed, [("busy", 2), ("invalid", 1)]);
    let dropped: Vec<_> = counts.dropped().into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(dropped, [("invalid", 1)]);
    assert_eq!(counts.sent(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_more_alerts_than_a_message_has_counts_once() {
    let fake = Fake::new([Answer::Status(400), Answer::Status(400)]);
    let (notifier, _) = notifier(WEBHOOK, &fake);
    let web = feed(notifier.registry(), "web1");
    (0..1_003).for_each(|id| tell(&web, &id.to_string(), Opened, &[], at(0)));
    let received = fake.received(3).await;
    let pauses = [received[1].at - received[0].at, received[2].at - received[1].at];
    assert_eq!(pauses, [Duration::from_secs(60), Duration::from_secs(120)], "each further one doubles it");
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_wants_no_ends_hears_of_open_alerts_alone() {
    let fake = Fake::new([]);
    let ReceiverKind::Webhook { repeat_interval, .. } = WEBHOOK else { panic!("it is one") };
    let (notifier, counts) = notifier(ReceiverKind::Webhook { repeat_interval, send_resolved: false }, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[], at(0));
    tell(&web, "hot", Opened, &[], at(0));
    fake.received(1).await;
    tell(&web, "low", Closed, &[], at(1));
    tokio::time::sleep(repeat_interval - Duration::from_secs(1)).await;
    assert_eq!(fake.now().len(), 1, "an end is no news");
    let again = fake.received(2).await.remove(1);
    assert_eq!(
        (&again.body["status"], again.body["alerts"].as_array().map(Vec::len)),
        (&json!("firing"), Some(1))
    );
    tell(&web, "hot", Closed, &[], at(2));
    tokio::time::sleep(2 * repeat_interval).await;
    assert_eq!((fake.now().len(), counts.waiting()), (2, 0));
    tell(&web, "hot", Opened, &[], at(3));
    assert_eq!(fake.received(3).await[2].body["alerts"][0]["labels"]["id"], "hot");
    notifier.stop(GRACE).await;
    assert!(counts.dropped().iter().all(|(_, count)| *count == 0), "{:?}", counts.dropped());
}

#[tokio::test(start_paused = true)]
async fn the_last_changes_are_sent_at_the_end() {
    let fake = Fake::new([]);
    let (notifier, counts) = notifier(WEBHOOK, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[], at(0));
    fake.received(1).await;
    tell(&web, "low", Closed, &[], at(1));
    notifier.stop(GRACE).await;
    let received = fake.now();
    assert_eq!(received.len(), 2);
    assert_eq!(received[1].body["status"], "resolved");
    assert!(counts.dropped().iter().all(|(_, count)| *count == 0), "{:?}", counts.dropped());
}

#[tokio::test(start_paused = true)]
async fn at_the_end_nobody_waits_for_a_receiver_that_is_away() {
    let fake = Fake::new([]);
    fake.set_away(true);
    let (notifier, counts) = notifier(WEBHOOK, &fake);
    tell(&feed(notifier.registry(), "web1"), "low", Opened, &[], at(0));
    let begun = tokio::time::Instant::now();
    notifier.stop(GRACE).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    let dropped: Vec<_> = counts.dropped().into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(dropped, [("ended", 1)]);
}

#[tokio::test(start_paused = true)]
async fn open_alerts_survive_a_change_of_the_receivers() {
    let fake = Fake::new([]);
    let (mut notifier, _) = notifier(WEBHOOK, &fake);
    tell(&feed(notifier.registry(), "web1"), "low", Opened, &[], at(0));
    fake.received(1).await;
    notifier.set(&AlertOptions::default(), None, GRACE);
    assert_eq!(notifier.registry().open_count(), 1);
    let other = Fake::new([]);
    let clock = std::sync::Arc::new(crate::support::Wall(tokio::time::Instant::now()));
    notifier.add(crate::support::options(ALERTMANAGER), crate::support::to(&other), clock, 1);
    assert_eq!(other.received(1).await[0].alerts().len(), 1, "a new one gets all that is open");
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_receiver_asks_for_is_not_waited_longer_than_alerts_live_in_it() {
    for (kind, longest) in [(ALERTMANAGER, 60), (WEBHOOK, 300)] {
        let fake = Fake::new([Answer::Later(86_400), Answer::Later(86_400), Answer::Later(20)]);
        let (notifier, _) = notifier(kind, &fake);
        tell(&feed(notifier.registry(), "web1"), "low", Opened, &[], at(0));
        let received = fake.received(4).await;
        let waits: Vec<u64> = received.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs()).collect();
        assert_eq!(waits[..2], [longest, longest], "{kind:?}");
        assert!((20..=22).contains(&waits[2]), "{waits:?}");
        notifier.stop(GRACE).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_refuses_once_gets_the_open_and_the_closed_soon_after() {
    let fake = Fake::new([Answer::Status(404), Answer::Status(401)]);
    let (notifier, counts) = notifier(WEBHOOK, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "low", Opened, &[("disk", "C:")], at(0));
    tell(&web, "low", Closed, &[], at(1));
    let received = fake.received(3).await;
    let waits: Vec<u64> = received.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs()).collect();
    assert_eq!(waits, [60, 120], "growing pauses, not hours");
    assert!(received.iter().all(|one| one.body["status"] == "resolved"), "the end is not lost");
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    assert_eq!((fake.now().len(), counts.sent(), counts.waiting()), (3, 1, 0));
    assert!(counts.dropped().iter().all(|(_, count)| *count == 0), "{:?}", counts.dropped());
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_refuses_for_ever_is_asked_rarely_and_ends_are_given_up() {
    let fake = Fake::new([Answer::Status(400); 100]);
    let (notifier, counts) = notifier(WEBHOOK, &fake);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "hot", Opened, &[("disk", "C:")], at(0));
    tell(&web, "low", Opened, &[("disk", "D:")], at(0));
    tell(&web, "low", Closed, &[], at(1));
    tokio::time::sleep(Duration::from_secs(86_400)).await;
    let received = fake.now();
    assert!((8..=20).contains(&received.len()), "{}", received.len());
    let last = received.last().and_then(|one| one.body["alerts"].as_array()).map(Vec::len);
    assert_eq!(last, Some(1), "what is open is still told, and ends no more");
    let dropped: Vec<_> = counts.dropped().into_iter().filter(|(_, count)| *count > 0).collect();
    assert!(matches!(&dropped[..], [("invalid", lost)] if *lost >= 2), "{dropped:?}");
    notifier.stop(GRACE).await;
}
