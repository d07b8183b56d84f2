//! Look-ups against a name server on a loopback port.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod support;

use std::time::Duration;

use test_support::name_server::Reply;
use tokio::time::Instant;
use transport::resolver::{Limits, LookupError};

use self::support::World;

#[tokio::test]
async fn three_hundred_silent_names_delay_neither_the_hosts_file_nor_a_name_that_answers() {
    let world = World::new("192.0.2.7 listed\n");
    let silent: Vec<String> = (0..300).map(|number| format!("silent{number}.example")).collect();
    silent.iter().for_each(|name| world.server.set(name, Reply::Silence));
    world.server.set("well.example", Reply::address("192.0.2.8"));
    let asking: Vec<_> = silent
        .into_iter()
        .map(|name| {
            let resolver = world.resolver.clone();
            tokio::spawn(async move { resolver.lookup(&name, support::late()).await })
        })
        .collect();
    world.wait_asked(300).await;
    let began = Instant::now();
    assert_eq!(world.find("listed").await, ["192.0.2.7"]);
    assert_eq!(world.find("well.example").await, ["192.0.2.8"]);
    assert_eq!(world.find("0x7f.1").await, ["127.0.0.1"]);
    // The time-out of one query is a second, and most machines take a few milliseconds for these.
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    for asking in asking {
        assert_eq!(asking.await.unwrap().unwrap_err(), LookupError::TimedOut);
    }
}

#[tokio::test]
async fn more_silent_names_than_there_are_places_do_not_hold_up_a_name_that_answers() {
    let world = World::with("", "", Limits { in_flight_max: 10 });
    (0..30).for_each(|number| world.server.set(&format!("silent{number}.example"), Reply::Silence));
    world.server.set("well.example", Reply::address("192.0.2.8"));
    let asking = (0..10).map(|number| {
        let resolver = world.resolver.clone();
        tokio::spawn(
            async move { resolver.lookup(&format!("silent{number}.example"), support::late()).await },
        )
    });
    let asking: Vec<_> = asking.collect();
    world.wait_asked(10).await;
    assert_eq!(world.find("well.example").await, ["192.0.2.8"]);
    for asking in asking {
        assert_eq!(asking.await.unwrap().unwrap_err().kind().as_str(), "name_lookup_timed_out");
    }
}

#[tokio::test]
async fn what_a_name_server_says_decides_the_reason() {
    let world = World::new("");
    world.server.set("broken.example", Reply::Code(2));
    world.server.set("forbidden.example", Reply::Code(5));
    world.server.set("empty.example", Reply::Nothing);
    world.server.set("silent.example", Reply::Silence);
    for (name, word) in [
        ("nobody.example", "name_not_found"),
        ("empty.example", "name_not_found"),
        ("broken.example", "name_server_failed"),
        ("forbidden.example", "name_server_failed"),
        ("silent.example", "name_lookup_timed_out"),
        ("web1.invalid", "name_not_found"),
    ] {
        assert_eq!(world.fail(name).await.kind().as_str(), word, "{name}");
    }
    let error = world.fail(&"x".repeat(64)).await;
    assert!(matches!(&error, LookupError::NotFound(why) if why.contains("no legal name")), "{error}");
    assert_eq!(world.fail("nobody.example").await.to_string(), "there is no name `nobody.example.`");
}

#[tokio::test]
async fn both_families_and_the_search_domains_are_asked() {
    let world = World::with("", "search corp.example lab.example\n", Limits::default());
    let both = ["192.0.2.1", "2001:db8::1"].map(|address| address.parse().unwrap()).to_vec();
    world.server.set("web1.lab.example", Reply::Addresses(both, 60));
    let mut found = world.find("WEB1").await;
    found.sort();
    assert_eq!(found, ["192.0.2.1", "2001:db8::1"]);
    assert_eq!(world.server.asked(), ["web1.corp.example", "web1.lab.example"]);
}

#[tokio::test]
async fn an_address_is_not_kept_from_its_callers_by_the_silence_about_the_other_family() {
    let world = World::new("");
    world.server.set("half.example", Reply::address("192.0.2.1"));
    world.server.set_ipv6("half.example", Reply::Silence);
    assert_eq!(world.find("half.example").await, ["192.0.2.1"]);
}

#[tokio::test]
async fn callers_of_one_name_share_one_query_and_its_answer_is_kept() {
    let world = World::new("");
    world.server.set("web1.example", Reply::address("192.0.2.1"));
    let (first, second) = tokio::join!(world.find("web1.example"), world.find("Web1.Example"));
    assert_eq!((&first, &second), (&vec!["192.0.2.1".to_owned()], &first));
    assert_eq!(world.find("web1.example").await, first);
    assert_eq!(world.server.asked(), ["web1.example"]);
}

#[tokio::test]
async fn the_last_good_address_is_used_while_the_name_server_is_silent_or_fails() {
    let world = World::new("");
    let told = vec!["192.0.2.1".parse().unwrap()];
    world.server.set("web1.example", Reply::Addresses(told, 0));
    assert_eq!(world.find("web1.example").await, ["192.0.2.1"]);
    for reply in [Reply::Silence, Reply::Code(2)] {
        world.server.set("web1.example", reply);
        assert_eq!(world.find("web1.example").await, ["192.0.2.1"]);
    }
    world.server.set("web1.example", Reply::Code(3));
    assert_eq!(world.fail("web1.example").await.kind().as_str(), "name_not_found");
    world.server.set("web1.example", Reply::Silence);
    assert_eq!(world.fail("web1.example").await, LookupError::TimedOut, "it is gone, and forgotten");
}

#[tokio::test]
async fn the_second_server_answers_when_the_first_one_is_silent() {
    let world = World::with("", "nameserver 127.0.0.2\n", Limits::default());
    let second = world.second_server();
    world.server.set("web1.example", Reply::Silence);
    world.server.set("web2.example", Reply::Silence);
    second.set("web1.example", Reply::address("192.0.2.1"));
    second.set("web2.example", Reply::address("192.0.2.2"));
    assert_eq!(world.find("web1.example").await, ["192.0.2.1"]);
    // Now the resolver knows which one is silent.
    let asked = world.server.asked().len();
    assert_eq!(world.find("web2.example").await, ["192.0.2.2"]);
    assert_eq!(world.server.asked().len(), asked);
}

#[tokio::test]
async fn a_name_that_only_the_second_server_does_not_know_is_found_at_the_first() {
    let world = World::with("", "nameserver 127.0.0.2\n", Limits::default());
    let _second = world.second_server();
    world.server.set("inside.example", Reply::address("192.0.2.1"));
    assert_eq!(world.find("inside.example").await, ["192.0.2.1"]);
}

#[tokio::test]
async fn both_files_are_read_again_when_they_change() {
    let world = World::new("192.0.2.7 listed\n");
    assert_eq!(world.find("listed").await, ["192.0.2.7"]);
    world.server.set("web1.example", Reply::address("192.0.2.1"));
    world.server.set("web1.lab.example", Reply::address("192.0.2.2"));
    assert_eq!(world.find("web1.example").await, ["192.0.2.1"]);
    world.write_hosts("192.0.2.70 listed\n192.0.2.71 other\n");
    world.write_resolv_conf("search lab.example\noptions ndots:5\n");
    world.wait_found("other", "192.0.2.71").await;
    assert_eq!(world.find("listed").await, ["192.0.2.70"]);
    assert_eq!(world.find("web1").await, ["192.0.2.2"]);
}
