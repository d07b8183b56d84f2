//! The page of alerts and their receivers.

use ::alerts::{Feed, Notifier, Origin};
use plugin_abi::{Alert, AlertState, Event, Level};

use super::*;

fn feed(fleet: &Fleet, target: &str) -> Feed {
    let (target, module, plugin) = (target.into(), "os".into(), "pla".into());
    fleet.site.page_state.alerts.feed(Origin { target, module, plugin, labels: Vec::new() })
}

fn tell(feed: &Feed, id: &str, state: AlertState, body: &str) {
    let fields = [("disk", HOSTILE)];
    let alert = Some(Alert::new(id, state, &fields));
    let (name, level, time_unix_nanos) = ("pla.alert", Level::Error, None);
    let event = Event { name, level, time_unix_nanos, body, fields: &[], alert };
    // What finds no room is seen on the page.
    let _ = feed.event(&event, std::time::SystemTime::now());
}

#[tokio::test]
async fn alerts_are_shown_with_their_target_and_what_is_wrong() {
    let fleet = Fleet::of(&["web1"]);
    let body = fleet.page("/alerts").await;
    assert!(body.contains("No alert is open.") && body.contains("Alerts are sent to nobody."), "{body}");
    let (web, gone) = (feed(&fleet, "web1"), feed(&fleet, "gone"));
    tell(&web, "low disk", AlertState::Opened, HOSTILE);
    tell(&gone, "hot", AlertState::Opened, "It is hot.");
    tell(&gone, "hot", AlertState::Closed, "It is cool.");
    let body = fleet.page("/alerts").await;
    for text in [
        "<bdi>low disk</bdi>",
        "href=\"targets/web1\"",
        "<bdi>hot</bdi>",
        "<bdi>It is hot.</bdi>",
        "Closed lately",
    ] {
        assert!(body.contains(text), "{text}\n{body}");
    }
    assert!(!body.contains("href=\"targets/gone\""), "it has no page");
    assert!(!body.contains("<script>alert") && !body.contains('\u{202e}'), "{body}");
}

#[tokio::test]
async fn a_page_of_ten_thousand_alerts_is_no_larger_than_one_of_fifty() {
    let fleet = Fleet::of(&["web1"]);
    let web = feed(&fleet, "web1");
    (0..10_001).for_each(|id| tell(&web, &id.to_string(), AlertState::Opened, "It is full."));
    let body = fleet.page("/alerts?page=2").await;
    assert!(body.len() < 100_000, "{}", body.len());
    assert!(body.contains("51–100 of 10,000") && body.contains("Raise <code>alerts.max_alerts"), "{body}");
}

#[tokio::test]
async fn a_receiver_that_is_away_is_shown_with_what_to_do() {
    // Nobody listens at this port once it is given back.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let receiver = serde_json::json!({"url": format!("http://127.0.0.1:{port}"), "name": HOSTILE});
    let text = serde_json::json!({"alerts": {"alertmanagers": [receiver]}}).to_string();
    let config = configuration::parse("perfmon.yml", &text, Path::new("/")).expect("it is good");
    let mut notifier = Notifier::new();
    notifier.set(&config.alerts, None, std::time::Duration::ZERO);
    let mut fleet = Fleet::of(&["web1"]);
    let (alerts, counts) = (Arc::clone(notifier.registry()), Arc::clone(notifier.counts()));
    let site = Arc::get_mut(&mut fleet.site).expect("nobody else has it yet");
    (site.page_state.alerts, site.page_state.receivers) = (alerts, Arc::clone(&counts));
    assert!(fleet.page("/alerts").await.contains("nothing sent yet"));
    tell(&feed(&fleet, "web1"), "low disk", AlertState::Opened, "It is full.");
    notifier.stop(std::time::Duration::from_secs(30)).await;
    // It was let go, but its counts are still those of the page.
    let body = fleet.page("/alerts").await;
    for text in ["failing</span>", "<code>unreachable</code>", "Check that the server runs"] {
        assert!(body.contains(text), "{text}\n{body}");
    }
    assert!(!body.contains("<script>alert"), "{body}");
}
