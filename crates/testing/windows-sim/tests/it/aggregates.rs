//! The countersets that a client adds up, in both forms in which a host may send them.

use std::sync::Arc;
use std::time::Duration;

use counters::pcq::perflibv2::Change;
use counters::pcq::types::{BlockType, CounterId};
use counters::pcq::wire::{Body, CounterIdentifier};
use dcerpc::AuthLevel;
use windows_sim::model::aggregates::{GLOBAL_AGGREGATE, GLOBAL_AGGREGATE_HISTORY, aggregated, workers};
use windows_sim::model::{AggregateForm, Clock, Host, HostOptions, Value, ValueSource};

use crate::client::Rpc;
use crate::host::{NOON, credentials, host_of};

fn model(clock: &Clock, aggregates: AggregateForm) -> Host {
    Host::new(HostOptions { clock: clock.clone(), boot: Some(NOON), aggregates, ..HostOptions::default() })
}

/// Types of the blocks for one counter and for all, and how many instances each has.
async fn blocks(aggregates: AggregateForm) -> Vec<(BlockType, usize)> {
    let clock = Clock::manual(NOON);
    let host = host_of(Arc::new(model(&clock, aggregates)));
    clock.advance(Duration::from_secs(30));
    let rpc = Rpc::connect(&host, &credentials(), AuthLevel::PKT_PRIVACY).await.unwrap();
    let mut client = rpc.perflib();
    let mut query = client.open_query_handle().await.unwrap();
    let all = CounterIdentifier::single_instance(GLOBAL_AGGREGATE.guid);
    let one = CounterIdentifier { counter_id: CounterId(1), ..all.clone() };
    client.validate_counters(&query, &[one, all], Change::Add).await.unwrap();
    let data = client.query_counter_data(&mut query).await.unwrap();
    let blocks = data.data().blocks().map(Result::unwrap);
    blocks.map(|block| (kind(&block.body), block.instances().count())).collect()
}

fn kind(body: &Body<'_>) -> BlockType {
    match body {
        Body::SingleCounter(_) => BlockType::PERF_SINGLE_COUNTER,
        Body::MultiCounters { .. } => BlockType::PERF_MULTI_COUNTERS,
        Body::MultiInstances { .. } => BlockType::PERF_MULTI_INSTANCES,
        Body::CounterSet { .. } => BlockType::PERF_COUNTERSET,
        _ => BlockType::PERF_ERROR_RETURN,
    }
}

#[tokio::test(start_paused = true)]
async fn a_global_aggregate_is_every_instance_or_the_hosts_own_sum() {
    let instances = blocks(AggregateForm::Instances).await;
    assert_eq!(instances, [(BlockType::PERF_MULTI_INSTANCES, 5), (BlockType::PERF_COUNTERSET, 5)]);
    let single = blocks(AggregateForm::Single).await;
    assert_eq!(single, [(BlockType::PERF_SINGLE_COUNTER, 1), (BlockType::PERF_MULTI_COUNTERS, 1)]);
}

// Worked out by hand: after 200 s, the workers of slots 0, 1 and 3 are 200, 200 and 20 s old.
#[test]
fn what_is_added_up_follows_from_who_runs() {
    let clock = Clock::manual(NOON);
    let host = model(&clock, AggregateForm::Instances);
    clock.advance(Duration::from_secs(200));
    let at = host.moment();
    let ages: Vec<u64> = workers(&at).iter().map(|worker| worker.age / 10_000_000).collect();
    assert_eq!(ages, [200, 200, 20]);
    let now = |id| aggregated(id, &at, false).unwrap();
    let requests = 10 * 200 + 20 * 200 + 40 * 20;
    assert_eq!([1, 3, 5, 6, 7, 8].map(now), [requests, 7, (7 << 20) / 3, 100, 400, 7]);
    // One of slot 2 ended after 80 s, one after 200 s; one of slot 3 after 120 s, one of slot 4 after 160 s.
    let ended = 2 * 30 * 80 + 40 * 120 + 50 * 160;
    assert_eq!(aggregated(1, &at, true), Some(requests + ended));
}

#[test]
fn the_hosts_own_sum_is_what_a_client_makes_of_the_instances() {
    let clock = Clock::manual(NOON);
    let (each, summed) = (model(&clock, AggregateForm::Instances), model(&clock, AggregateForm::Single));
    let mut counts = std::collections::BTreeSet::new();
    for _ in 0..40 {
        clock.advance(Duration::from_secs(17));
        let at = each.moment();
        let samples = each.sample(GLOBAL_AGGREGATE.guid, &at).unwrap();
        counts.insert(samples.len());
        let total: u64 = samples.iter().map(|sample| large(&sample.values[0])).sum();
        assert_eq!(large(&summed.sample(GLOBAL_AGGREGATE.guid, &at).unwrap()[0].values[0]), total);
        let ever = large(&summed.sample(GLOBAL_AGGREGATE_HISTORY.guid, &at).unwrap()[0].values[0]);
        assert!(ever >= total);
    }
    assert!(counts.len() > 1, "workers come and go: {counts:?}");
}

fn large(value: &Value) -> u64 {
    match value {
        Value::Large(value) => *value,
        other => panic!("{other:?}"),
    }
}
