//! What changes on a host while it is polled.

use std::sync::Arc;
use std::time::Duration;

use counters::pcq::perflibv2::{BlockMapping, Change as AddOrRemove, PerflibV2Client};
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{Body, CounterIdentifier, RawValue};
use dcerpc::{AuthLevel, Channel};
use windows_sim::model::{Change, Clock, Host, HostOptions, ValueSource};
use wire::{Guid, Win32Error};

use crate::client::Rpc;
use crate::host::{NOON, credentials, host_of};

fn guid(host: &Host, name: &str) -> Guid {
    host.countersets().into_iter().find(|set| set.name == name).unwrap().guid
}

fn changes(text: &str) -> Vec<Change> {
    vec![text.parse().unwrap()]
}

struct World {
    clock: Clock,
    model: Arc<Host>,
    client: PerflibV2Client<Rpc>,
}

impl World {
    async fn new(change: impl FnOnce(&mut HostOptions)) -> Self {
        let clock = Clock::manual(NOON);
        let mut options = HostOptions { seed: 7, clock: clock.clone(), ..HostOptions::default() };
        options.boot = Some(NOON);
        change(&mut options);
        let model = Arc::new(Host::new(options));
        let source: Arc<dyn ValueSource> = Arc::<Host>::clone(&model);
        let rpc = Rpc::connect(&host_of(source), &credentials(), AuthLevel::PKT_PRIVACY).await.unwrap();
        Self { clock, model, client: rpc.perflib() }
    }

    async fn statuses(&mut self, identifiers: &[CounterIdentifier]) -> Vec<Win32Error> {
        let query = self.client.open_query_handle().await.unwrap();
        let added = self.client.validate_counters(&query, identifiers, AddOrRemove::Add).await.unwrap();
        added.iter().map(|identifier| identifier.status).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_counterset_that_goes_is_unknown_and_its_blocks_say_so_until_it_comes_back() {
    let mut world = World::new(|options| options.changes = changes("Workers=absent@10m/4m")).await;
    let workers = guid(&world.model, "Workers");
    let mut query = world.client.open_query_handle().await.unwrap();
    let wanted = [CounterIdentifier::all_instances(workers)];
    world.client.validate_counters(&query, &wanted, AddOrRemove::Add).await.unwrap();
    for (wait_s, is_there) in [(0, true), (6 * 60, false), (4 * 60, true)] {
        world.clock.advance(Duration::from_secs(wait_s));
        let data = world.client.query_counter_data(&mut query).await.unwrap();
        let status = data.data().blocks().next().unwrap().unwrap().status;
        let sets = world.client.enumerate_counter_set().await.unwrap();
        let registration = world.client.counter_set_registration(workers).await;
        assert_eq!((sets.contains(&workers), registration.is_ok()), (is_there, is_there));
        let expected =
            if is_there { Win32Error::ERROR_SUCCESS } else { Win32Error::ERROR_WMI_GUID_NOT_FOUND };
        assert_eq!(status, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_run_is_enumerated_only_and_one_that_fails_says_why_in_its_block() {
    let mut world = World::new(|_| {}).await;
    let workers = guid(&world.model, "Workers");
    let mut query = world.client.open_query_handle().await.unwrap();
    let wanted = [CounterIdentifier::all_instances(workers)];
    world.client.validate_counters(&query, &wanted, AddOrRemove::Add).await.unwrap();

    world.model.replace_changes(changes("Workers=stopped"));
    assert!(world.client.enumerate_counter_set().await.unwrap().contains(&workers));
    let error = world.client.counter_set_registration(workers).await.unwrap_err().to_string();
    assert!(error.contains("ERROR_WMI_GUID_NOT_FOUND"), "{error}");
    assert_eq!(world.statuses(&wanted).await, [Win32Error::ERROR_WMI_GUID_NOT_FOUND]);

    world.model.replace_changes(changes("Workers=error:1450"));
    world.client.counter_set_registration(workers).await.unwrap();
    let data = world.client.query_counter_data(&mut query).await.unwrap();
    let block = data.data().blocks().next().unwrap().unwrap();
    assert_eq!((block.status, block.instances().count()), (Win32Error(1450), 0));
}

#[tokio::test(start_paused = true)]
async fn an_updated_provider_adds_counters_to_the_registration_and_to_a_running_query() {
    let mut world = World::new(|options| options.changes = changes("Updates=updated@10m/5m")).await;
    let updates = guid(&world.model, "Updates");
    let mut query = world.client.open_query_handle().await.unwrap();
    let wanted = [CounterIdentifier::single_instance(updates)];
    world.client.validate_counters(&query, &wanted, AddOrRemove::Add).await.unwrap();
    for count in [2, 4] {
        let registration = world.client.counter_set_registration(updates).await.unwrap();
        assert_eq!(registration.counters.len(), count);
        let data = world.client.query_counter_data(&mut query).await.unwrap();
        let block = data.data().blocks().next().unwrap().unwrap();
        assert_eq!(block.instances().next().unwrap().values.count(), count);
        world.clock.advance(Duration::from_secs(5 * 60));
    }
}

// [MS-PCQ] 3.1.4.1.1: dwInSize is at most 256.
#[tokio::test(start_paused = true)]
async fn more_than_256_countersets_are_counted_and_cannot_be_fetched() {
    let mut world = World::new(|options| options.synthetic = 250).await;
    let count = world.model.countersets().len();
    assert!(count > 256);
    let error = world.client.enumerate_counter_set().await.unwrap_err().to_string();
    assert!(error.contains(&count.to_string()), "{error}");
    // The machine's name ("a" and its NUL), then dwInSize.
    let machine = [2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0];
    let ask = |in_size: u32| [&machine[..], &in_size.to_le_bytes()[..]].concat();
    let answer = world.client.channel().call(0, None, &ask(256)).await.unwrap();
    assert_eq!(answer[4..8], u32::try_from(count).unwrap().to_le_bytes());
    assert_eq!(answer[answer.len() - 4..], [8, 0, 0, 0]);
    let fault = world.client.channel().call(0, None, &ask(257)).await.unwrap_err().to_string();
    assert!(fault.contains("0x000006c6"), "{fault}"); // RPC_S_INVALID_BOUND

    let last = world.model.countersets().last().unwrap().guid;
    assert_eq!(world.client.english_counter_set_name(last).await.unwrap(), "Synthetic 0249");
    let instances = world.client.enumerate_counter_set_instances(last).await.unwrap();
    assert_eq!(instances.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn an_identifier_has_a_name_exactly_where_instances_have_names() {
    let mut world = World::new(|_| {}).await;
    let (many, one) = (guid(&world.model, "Workers"), guid(&world.model, "Workers Together"));
    let single = CounterIdentifier::single_instance;
    let wanted = [
        CounterIdentifier::all_instances(many),
        single(many),
        CounterIdentifier { instance_name: Some(String::new()), ..single(many) },
        single(one),
        CounterIdentifier { instance_id: InstanceId(0), ..single(one) },
        CounterIdentifier { instance_id: InstanceId(1), ..single(one) },
        CounterIdentifier::all_instances(one),
    ];
    let statuses: Vec<u32> = world.statuses(&wanted).await.into_iter().map(|status| status.0).collect();
    assert_eq!(statuses, [0, 87, 87, 0, 0, 87, 87]);
}

#[tokio::test(start_paused = true)]
async fn names_with_wild_cards_and_numbers_choose_among_instances_of_one_name() {
    let mut world = World::new(|_| {}).await;
    let duplicates = guid(&world.model, "Duplicates");
    let mut query = world.client.open_query_handle().await.unwrap();
    let ask = |name: &str, id: InstanceId| CounterIdentifier {
        counter_id: CounterId(2),
        instance_id: id,
        instance_name: Some(name.to_owned()),
        ..CounterIdentifier::all_instances(duplicates)
    };
    let any = InstanceId::ANY;
    let wanted = [ask("*", any), ask("w?rk*", any), ask("*", InstanceId(7)), ask("worker", InstanceId(2))];
    world.client.validate_counters(&query, &wanted, AddOrRemove::Add).await.unwrap();
    let listed = world.client.query_counter_info(&query).await.unwrap();
    let mapping = BlockMapping::new(&wanted, &listed);
    let data = world.client.query_counter_data(&mut query).await.unwrap();
    let blocks: Vec<_> = data.data().blocks().map(Result::unwrap).collect();
    let block_of =
        |wanted| blocks.iter().find(|block| mapping.identifier_of(block.index) == Some(wanted)).unwrap();
    let places = |wanted: usize| {
        let block = block_of(wanted);
        let of =
            |values: counters::pcq::wire::Values<'_>| values.filter_map(RawValue::to_u64).collect::<Vec<_>>();
        block.instances().flat_map(|instance| of(instance.values)).collect::<Vec<_>>()
    };
    assert_eq!(places(0), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(places(1), [1, 2, 3, 4]);
    assert_eq!(places(2), [6, 7]);
    assert_eq!(places(3), [2]);
    assert!(matches!(block_of(3).body, Body::SingleCounter(_)));
}
