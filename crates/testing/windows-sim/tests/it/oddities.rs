//! What providers in the wild register although nobody should, and texts in several languages.

use std::sync::Arc;

use counters::pcq::perflibv2::{Change, PerflibV2Client};
use counters::pcq::types::{CounterId, CounterType, Lcid};
use counters::pcq::wire::{CounterIdentifier, RawValue};
use dcerpc::AuthLevel;
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use wire::Guid;

use crate::client::Rpc;
use crate::host::{NOON, credentials, host, host_of};

const PROCESSORS: Guid = Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36);

async fn connect(language: Lcid) -> (PerflibV2Client<Rpc>, Guid) {
    let model = Host::new(HostOptions { clock: Clock::manual(NOON), language, ..HostOptions::default() });
    let oddities = model.countersets().into_iter().find(|set| set.name == "Oddities").unwrap().guid;
    let rpc = Rpc::connect(&host_of(Arc::new(model)), &credentials(), AuthLevel::PKT_PRIVACY).await.unwrap();
    (rpc.perflib(), oddities)
}

#[tokio::test(start_paused = true)]
async fn oddities_are_registered_and_sent_as_they_are() {
    let (mut client, oddities) = connect(Lcid::ENGLISH_US).await;
    let registration = client.counter_set_registration(oddities).await.unwrap();
    let ids: Vec<u32> = registration.counters.iter().map(|counter| counter.counter_id.0).collect();
    assert_eq!(ids[..4], [1, 2, 2, 3]);
    let of = |id| registration.counters.iter().find(|counter| counter.counter_id == CounterId(id)).unwrap();
    assert_eq!(of(3).counter_type, CounterType(0x00F1_0500));
    let levels: Vec<u32> = (10..14).map(|id| of(id).detail_level.0).collect();
    assert_eq!(levels, [100, 200, 300, 400]);
    let scales: Vec<i32> = (20..27).map(|id| of(id).default_scale).collect();
    assert_eq!(scales, [-3, -2, -1, 0, 1, 2, 3]);
    let flags: Vec<u64> = (30..36).map(|id| of(id).attrib.0).collect();
    assert_eq!(flags, [1, 2, 4, 8, 16, 31]);

    let names = client.english_counter_names(oddities).await.unwrap();
    assert_eq!((names.text(CounterId(1)), names.text(CounterId(10))), (None, Some("Novice")));
    let helps = client.counter_helps(oddities, Lcid::DEFAULT).await.unwrap();
    assert_eq!((helps.text(CounterId(6)), helps.text(CounterId(8))), (Some(""), None));

    let mut query = client.open_query_handle().await.unwrap();
    let all = [CounterIdentifier::all_instances(oddities)];
    client.validate_counters(&query, &all, Change::Add).await.unwrap();
    let data = client.query_counter_data(&mut query).await.unwrap();
    let block = data.data().blocks().next().unwrap().unwrap();
    let odd = block.instances().next().unwrap();
    let values: Vec<RawValue<'_>> = odd.values.collect();
    let value = |id| values[ids.iter().position(|known| *known == id).unwrap()];
    assert_eq!(values[1..3], [RawValue::U32(201), RawValue::U64(201)]);
    assert_eq!([value(4), value(15)], [RawValue::Other(&[]), RawValue::U64((1 << 32) + 1)]);
    assert!(block.instances().any(|instance| instance.name.to_string().contains('"')));
}

// What is asked for, and what comes back for the name of `Processor Information` and of `% Processor Time`.
#[tokio::test(start_paused = true)]
async fn texts_come_in_the_language_that_is_asked_for_and_else_in_the_hosts_own() {
    const ENGLISH: [&str; 2] = ["Processor Information", "% Processor Time"];
    const GERMAN: [&str; 2] = ["Prozessorinformationen", "Prozessorzeit (%)"];
    for (own, asked, expected) in [
        (1033, 0, Some(ENGLISH)),
        (1033, 1033, Some(ENGLISH)),
        (1033, 0x0009, Some(ENGLISH)), // English, no country
        (1033, 0x0809, Some(ENGLISH)), // Great Britain
        (1033, 1031, Some(GERMAN)),
        (1033, 0x0007, Some(GERMAN)), // German, no country
        (1033, 0x0C07, Some(GERMAN)), // Austria
        (1031, 0, Some(GERMAN)),
        (1031, 0x0400, Some(GERMAN)), // the user's default
        (1031, 0x0800, Some(GERMAN)), // the system's
        (1033, 0x040C, None),         // French
        (1033, 0x007F, None),         // no language at all
    ] {
        let (mut client, _) = connect(Lcid(own)).await;
        let name = client.counter_set_name(PROCESSORS, Lcid(asked)).await.ok();
        let counters = client.counter_names(PROCESSORS, Lcid(asked)).await.ok();
        let counter = counters.as_ref().and_then(|names| names.text(CounterId(0)));
        assert_eq!(name.as_deref().zip(counter), expected.map(|[set, counter]| (set, counter)), "{asked:#x}");
        assert_eq!(client.english_counter_set_name(PROCESSORS).await.unwrap(), ENGLISH[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn explain_texts_are_translated_too() {
    let (mut client, _) = connect(Lcid::ENGLISH_US).await;
    let german = client.counter_set_help(PROCESSORS, Lcid(1031)).await.unwrap();
    assert!(german.starts_with("Was jeder"), "{german}");
    let helps = client.counter_helps(PROCESSORS, Lcid(1031)).await.unwrap();
    assert!(helps.text(CounterId(0)).unwrap().starts_with("Zeitanteil"));
}

#[tokio::test(start_paused = true)]
async fn english_names_alone_can_be_refused() {
    let host = host();
    let rules = ["1.9=status:1168", "1.10=status:15100"];
    host.change_behaviour(|behaviour| behaviour.rules = rules.map(|rule| rule.parse().unwrap()).to_vec());
    let rpc = Rpc::connect(&host, &credentials(), AuthLevel::PKT_PRIVACY).await.unwrap();
    let mut client = rpc.perflib();
    let error = client.english_counter_set_name(PROCESSORS).await.unwrap_err().to_string();
    assert!(error.contains("ERROR_NOT_FOUND"), "{error}");
    let error = client.english_counter_names(PROCESSORS).await.unwrap_err().to_string();
    assert!(error.contains("15100") || error.contains("3afc"), "{error}");
    assert_eq!(client.counter_set_name(PROCESSORS, Lcid::DEFAULT).await.unwrap(), "Processor Information");
}
