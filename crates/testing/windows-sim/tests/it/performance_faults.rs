//! Hosts whose performance data, or the way to them, are not as they should be.

use std::sync::Arc;

use counters::perflib_v1::{DataBlock, Instances};
use counters::rrp::types::{UnicodeString, ValueType};
use counters::rrp::winreg::{QueryRegistryValueReply, QueryRegistryValueRequest, ValueRoom};
use dcerpc::Channel;
use rpc::ndr::ConformantVaryingBytes;
use rpc::{FromStub, Message};
use windows_sim::choices::{NameTables, ObjectCorruption, PerformanceDataChoices, Translation};
use windows_sim::live::Live;
use windows_sim::model::{Clock, ValueSource};
use windows_sim::{Account, Accounts, WindowsHost};
use wire::Win32Error;

use crate::client::{Failure, Rpc};
use crate::host::{NOON, account, credentials, host, host_of, model};
use crate::performance_data::{Registry, objects, value};

fn host_that_chooses(performance_data: PerformanceDataChoices) -> Arc<WindowsHost> {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.choices.performance_data = performance_data);
    host
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_provider_is_disabled_has_a_name_and_no_data() {
    let source = Arc::new(model(&Clock::manual(NOON)));
    let mut registry = Registry::connect(&host_of(Arc::clone(&source) as _)).await;
    source.replace_changes(vec!["Process=absent".parse().unwrap()]);
    assert_eq!(registry.names("Counter 009").await.get(230), Some("Process"));
    assert_eq!(objects(&registry.query("230 2").await.unwrap()).into_keys().collect::<Vec<_>>(), [2]);
    assert!(!objects(&registry.query("Global").await.unwrap()).contains_key(&230));
    source.replace_changes(Vec::new());
    assert!(objects(&registry.query("Global").await.unwrap()).contains_key(&230));
}

#[tokio::test(start_paused = true)]
async fn a_query_that_calls_a_provider_which_hangs_is_never_answered() {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.choices.hanging_counterset = Some("Process".to_owned()));
    let mut healthy = Registry::connect(&host).await;
    for query in ["2 230", "Global"] {
        let mut registry = Registry::connect(&host).await;
        let answer = registry.client.query_value(&registry.data, query, &mut ValueRoom::new(1 << 20)).await;
        let error = answer.unwrap_err();
        let counters::rrp::Error::Rpc(rpc::Error::Call { source, .. }) = error else { panic!("{error}") };
        assert_eq!(source, Failure::Silence, "{query}");
        assert!(!objects(&healthy.query("2 238").await.unwrap()).is_empty(), "others are answered");
    }
}

/// An object of instances in front of one without.
const QUERY: &str = "2 230 238";

#[tokio::test(start_paused = true)]
async fn a_length_that_lies_is_of_the_object_that_was_chosen() {
    let whole = Registry::connect(&host()).await.query(QUERY).await.unwrap();
    let process = |block: &[u8]| {
        let mut found = DataBlock::decode(block).unwrap().objects();
        let system = found.next().unwrap().unwrap();
        assert_eq!(system.name_index, 2, "the object before it is whole");
        let process = found.next().unwrap().ok()?;
        let Instances::Many(many) = process.instances() else { panic!("it has instances") };
        let counters: Vec<_> = process.counters().collect();
        Some(
            many.map(|one| counters.iter().filter_map(|counter| one.values.value(counter)).count())
                .sum::<usize>(),
        )
    };
    let values = process(&whole).unwrap();
    for corruption in ObjectCorruption::ALL {
        let corrupt_object = Some("Process".to_owned());
        let host = host_that_chooses(PerformanceDataChoices {
            corrupt_object,
            object_corruption: *corruption,
            ..PerformanceDataChoices::default()
        });
        let block = Registry::connect(&host).await.query(QUERY).await.unwrap();
        assert_eq!(block.len(), whole.len());
        let changed = block.chunks(4).zip(whole.chunks(4)).filter(|(ours, theirs)| ours != theirs).count();
        let found = process(&block);
        if *corruption == ObjectCorruption::None {
            assert_eq!((changed, found), (0, Some(values)));
        } else {
            assert_eq!(changed, 1, "{corruption:?}");
            assert!(found.is_none_or(|found| found < values), "{corruption:?}: {found:?} of {values}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tables_of_names_are_damaged_as_installers_damage_them() {
    let tables = |name_tables| async move {
        let host =
            host_that_chooses(PerformanceDataChoices { name_tables, ..PerformanceDataChoices::default() });
        Registry::connect(&host).await.names("Counter 009").await
    };
    let whole = tables(NameTables::Whole).await;
    let duplicates = tables(NameTables::Duplicates).await;
    assert_eq!((duplicates.len(), duplicates.faults().duplicates), (whole.len(), whole.len()));
    let shifted = tables(NameTables::Shifted).await;
    assert!(shifted.faults().stray_texts > 0 && shifted.len() < whole.len());
    let stale = tables(NameTables::Stale).await;
    let numa = "NUMA Node Memory";
    assert_eq!((whole.get(1850), stale.get(1852), stale.get(2)), (Some(numa), Some(numa), Some("System")));
}

#[tokio::test(start_paused = true)]
async fn performance_data_is_closed_where_the_rest_of_the_registry_is_open() {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.refuses_performance_data = true);
    let mut client = Rpc::registry(&host, &credentials()).await.unwrap();
    let refused = client.open_performance_data().await.unwrap_err();
    assert_eq!(refused.status(), Some(Win32Error::ERROR_ACCESS_DENIED));
    let _root = client.open_local_machine().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn performance_data_is_closed_to_whom_the_counters_are_closed_to() {
    let account = Account { may_read_counters: false, ..account() };
    let source = Arc::new(model(&Clock::manual(NOON)));
    let host = Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account]))));
    let mut client = Rpc::registry(&host, &credentials()).await.unwrap();
    for refused in [client.open_performance_data().await, client.open_local_machine().await] {
        assert_eq!(refused.unwrap_err().status(), Some(Win32Error::ERROR_ACCESS_DENIED));
    }
}

/// What a value is answered with where there is room for so many bytes.
async fn answer(registry: &mut Registry, name: &str, room: u32) -> (Win32Error, Option<u32>) {
    let data = ConformantVaryingBytes { max_count: room, bytes: (&[][..]).into() };
    let request = QueryRegistryValueRequest {
        key: registry.data.handle(),
        name: UnicodeString::new(name),
        value_type: Some(Box::new(ValueType::REG_NONE)),
        data: Some(Box::new(data)),
        size: Some(Box::new(room)),
        length: Some(Box::new(0)),
    };
    let stub = request.to_stub().unwrap();
    let opnum = QueryRegistryValueRequest::METHOD.opnum;
    let stub = registry.client.channel().call(opnum, None, &stub).await.unwrap();
    let reply = QueryRegistryValueReply::from_stub(&stub).unwrap();
    (reply.status, reply.size.map(|size| *size))
}

#[tokio::test(start_paused = true)]
async fn performance_data_does_not_say_how_large_it_is_and_a_table_does() {
    let mut registry = Registry::connect(&host()).await;
    for room in [0, 64, 1_024] {
        for query in ["Global", "2 238"] {
            let refused = answer(&mut registry, query, room).await;
            assert_eq!(refused, (Win32Error::ERROR_MORE_DATA, Some(room)), "{query}");
        }
        let (status, Some(needed)) = answer(&mut registry, "Counter 009", room).await else {
            panic!("no size")
        };
        assert_eq!(status, Win32Error::ERROR_MORE_DATA);
        assert_eq!(answer(&mut registry, "Counter 009", needed).await.0, Win32Error::ERROR_SUCCESS);
    }
}

#[tokio::test(start_paused = true)]
async fn countersets_of_version_2_are_objects_where_the_host_translates() {
    let indexes = |block: &[u8]| -> Vec<u32> {
        DataBlock::decode(block).unwrap().objects().map(|object| object.unwrap().name_index).collect()
    };
    let plain = Registry::connect(&host()).await.query("Global").await.unwrap();
    let translation = Translation::On;
    let host = host_that_chooses(PerformanceDataChoices { translation, ..PerformanceDataChoices::default() });
    let mut registry = Registry::connect(&host).await;
    let names = registry.names("Counter 009").await;
    let index = |name: &str| names.iter().find(|(_, known)| *known == name).unwrap().0;
    let processors = index("Processor Information");
    assert!(!indexes(&plain).contains(&processors));
    assert!(indexes(&registry.query("Global").await.unwrap()).contains(&processors));
    let found = objects(&registry.query(&processors.to_string()).await.unwrap());
    assert_eq!(value(&found[&processors], "0,1", index("Processor Frequency")), 3_000);
    for (name, clock) in [("Processor Information", (0, 0)), ("Process V2", (NOON.0, 10_000_000))] {
        let found = registry.query(&index(name).to_string()).await.unwrap();
        let object = DataBlock::decode(&found).unwrap().objects().next().unwrap().unwrap();
        assert_eq!(
            (object.perf_time, object.perf_freq),
            clock,
            "{name} has a clock if its counters name one"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn this_machine_has_its_processors_and_processes_as_objects() {
    let live: Arc<dyn ValueSource> = Arc::new(Live::new().unwrap());
    let mut registry = Registry::connect(&host_of(Arc::clone(&live))).await;
    let found = objects(&registry.query("Global").await.unwrap());
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), [230, 238]);
    assert_eq!(found[&238].len(), usize::try_from(live.hardware().processors).unwrap() + 1);
    let own: Vec<u64> = found[&230].iter().map(|(name, _)| value(&found[&230], name, 784)).collect();
    assert!(own.contains(&1), "{own:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_refuses_a_value_or_lets_it_outgrow_its_room() {
    let host = host();
    let mut registry = Registry::connect(&host).await;
    let rules = |rules: &[&str]| {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        host.change_behaviour(|behaviour| behaviour.rules = rules);
    };
    rules(&["winreg/17x1=status:21"]);
    assert_eq!(answer(&mut registry, "2", 1 << 16).await.0, Win32Error(21 /* ERROR_NOT_READY */));
    rules(&["winreg/17x1=grow:50"]);
    let outgrown = answer(&mut registry, "2", 1 << 16).await;
    assert_eq!(outgrown, (Win32Error::ERROR_MORE_DATA, Some(1 << 16)));
    assert_eq!(answer(&mut registry, "2", 1 << 16).await.0, Win32Error::ERROR_SUCCESS);
    rules(&["winreg/3x1=status:5"]);
    let refused = registry.client.open_performance_data().await.unwrap_err();
    assert_eq!(refused.status(), Some(Win32Error::ERROR_ACCESS_DENIED));
}
