//! Receivers whose URL is a secret, in a file.

use std::sync::Arc;

use alerts::{Connect, Notifier, ReceiverOptions, UrlSource};
use parking_lot::Mutex;
use plugin_abi::AlertState::Opened;
use tokio::time::Instant;

use crate::support::{Answer, Fake, Memory, WEBHOOK, Wall, at, feed, options, tell};

const GRACE: std::time::Duration = std::time::Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn a_secret_url_is_read_for_each_request_and_nothing_shows_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("url");
    let fake = Fake::new([Answer::Status(200), Answer::Echo(302), Answer::Echo(404), Answer::Echo(503)]);
    let servers: Arc<Mutex<Vec<(bool, String, u16)>>> = Arc::default();
    let connect: Connect = {
        let (fake, servers) = (Arc::clone(&fake), Arc::clone(&servers));
        Arc::new(move |server| {
            let entry = (server.secure, server.host.clone(), server.port);
            servers.lock().push(entry);
            Arc::new(Memory(Arc::clone(&fake)))
        })
    };
    let mut notifier = Notifier::new();
    let receiver =
        ReceiverOptions { url: UrlSource::File(file.clone()), ..ReceiverOptions::clone(&options(WEBHOOK)) };
    let counts = notifier.add(Arc::new(receiver), connect, Arc::new(Wall(Instant::now())), 1);
    let web = feed(notifier.registry(), "web1");

    // There is no file yet: the alert waits for it.
    tell(&web, "a", Opened, &[], at(0));
    let failure = || counts.last().failure.map(|(_, trouble, message)| (trouble.as_str(), message));
    while failure().is_none() {
        tokio::task::yield_now().await;
    }
    let (reason, message) = failure().expect("it failed");
    assert!(reason == "secret" && message.contains("url"), "{reason}: {message}");
    std::fs::write(&file, "https://hooks.example/T0/hunter2?key=hunter3\n").expect("a file");
    let received = fake.received(1).await;
    assert_eq!(received[0].path, "/T0/hunter2?key=hunter3");

    // Another URL, to another host.
    std::fs::write(&file, "http://other.example:8080/T1/hunter4").expect("a file");
    let mut said = Vec::new();
    for (number, id) in ["b", "c", "d"].into_iter().enumerate() {
        tell(&web, id, Opened, &[], at(1));
        fake.received(2 + number).await;
        let count =
            |name: &str| counts.failed().iter().find(|(found, _)| *found == name).map(|(_, count)| *count);
        while count("not_found").unwrap_or(0) + count("busy").unwrap_or(0) <= number as u64 {
            tokio::task::yield_now().await;
        }
        said.extend(failure().map(|(_, message)| message));
    }
    assert_eq!(fake.now()[1].path, "/T1/hunter4");
    assert_eq!(said.len(), 3);
    assert!(
        said.iter().all(|message| !message.contains("hunter") && !message.contains("other.example")),
        "{said:?}"
    );
    assert!(said[0].starts_with("HTTP 302") && said[2].starts_with("HTTP 503"), "{said:?}");
    let servers = servers.lock().clone();
    assert_eq!(servers.first(), Some(&(true, "hooks.example".to_owned(), 443)));
    assert!(
        servers[1..].iter().all(|server| *server == (false, "other.example".to_owned(), 8080)),
        "{servers:?}"
    );
    notifier.stop(GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn the_path_of_a_webhook_is_in_no_message_whatever_the_receiver_writes() {
    let fake = Fake::new([Answer::Echo(302), Answer::Echo(404), Answer::Echo(503)]);
    let mut notifier = Notifier::new();
    let url = UrlSource::Plain(crate::support::url("http://hooks.example/services/T0/hunter2"));
    let receiver = ReceiverOptions { url, ..ReceiverOptions::clone(&options(WEBHOOK)) };
    let to = crate::support::to(&fake);
    let counts = notifier.add(Arc::new(receiver), to, Arc::new(Wall(Instant::now())), 1);
    tell(&feed(notifier.registry(), "web1"), "a", Opened, &[], at(0));
    for (count, status) in [(1, "302"), (2, "404"), (3, "503")] {
        assert_eq!(fake.received(count).await[count - 1].path, "/services/T0/hunter2");
        loop {
            let said = counts.last().failure.map(|(_, _, message)| message).unwrap_or_default();
            assert!(!said.contains("hunter2"), "{said}");
            if said.starts_with(&format!("HTTP {status}")) {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    notifier.stop(GRACE).await;
}
