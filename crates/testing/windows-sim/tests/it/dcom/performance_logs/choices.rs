//! What a client reads is the same whatever the host chooses.

use com::oaut::{Bstr, Value, Variant};
use ms_pla::data_collector_set::*;
use ms_pla::{
    Category, CommitMode, DataCollectorSetStatus, IDataCollectorSet, IDataCollectorSetCollection, ids,
};
use windows_sim::choices::{PlaChoices, PlaIndexTypes, PlaOrder, PlaUnsetText};
use wire::HResult;

use super::{bstr, calls, filled, get, record, returned, server_set, set_of, text, texts};
use crate::dcom::{World, soon};

#[tokio::test]
async fn a_set_reads_the_same_whatever_its_host_chooses() {
    let world = World::new().await;
    let all = PlaChoices::each_alone();
    assert!(all.len() > 20);
    for choices in all {
        world.host.change_behaviour(|behaviour| behaviour.choices.performance_logs = choices);
        let mut set = server_set(&world, "Low Memory").await;
        let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
        assert_eq!(proxy.call(&GetStatusRequest {}).await.unwrap().value, DataCollectorSetStatus::STOPPED);
        let format = proxy.call(&GetSubdirectoryFormatRequest {}).await.unwrap().value;
        assert_eq!(format, ms_pla::AutoPathFormat::PATTERN, "{choices:?}");
        assert_eq!(text(&proxy.call(&GetTaskRequest {}).await.unwrap().value), "");
        let stub = proxy.stub(&GetKeywordsRequest {}).await.unwrap();
        let none = texts(&proxy.decode(&GetKeywordsRequest {}, &stub).unwrap().1.value);
        assert_eq!(none, [""; 0]);
        for keywords in [vec!["a".to_owned()], vec!["a".to_owned(), "ü".to_owned()]] {
            let value = com::oaut::ArrayParameter::of_bstrs(keywords.iter().map(|one| bstr(one)).collect());
            proxy.call(&PutKeywordsRequest { value: value.unwrap() }).await.unwrap();
            let stub = proxy.stub(&GetKeywordsRequest {}).await.unwrap();
            assert_eq!(texts(&proxy.decode(&GetKeywordsRequest {}, &stub).unwrap().1.value), keywords);
        }
        // A request that ends with an enumeration, at a multiple of four and behind one.
        for server in ["even", "odd"] {
            let mode = CommitMode::VALIDATE_ONLY;
            let commit = CommitRequest { name: bstr("Low Memory"), server: bstr(server), mode };
            let stub = proxy.stub(&commit).await.unwrap();
            assert_eq!(proxy.decode(&commit, &stub).unwrap().1.status, HResult::S_OK, "{choices:?}");
        }
        assert_eq!(record(&mut set).await.alerts[0].alerts.len(), 2);
        set.release(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn a_text_that_was_not_set_is_what_the_host_chooses() {
    let world = World::new().await;
    for &pla_unset_text in PlaUnsetText::ALL {
        let choices = PlaChoices { pla_unset_text, ..PlaChoices::default() };
        world.host.change_behaviour(|behaviour| behaviour.choices.performance_logs = choices);
        let mut set = server_set(&world, "Low Memory").await;
        let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
        let task = proxy.call(&GetTaskRequest {}).await.unwrap().value;
        let expected = match pla_unset_text {
            PlaUnsetText::Empty => bstr(""),
            PlaUnsetText::NullBstr => Bstr::null(),
            PlaUnsetText::NullPointer => Bstr(None),
        };
        assert_eq!(task, expected);
        set.release(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn sets_come_in_the_order_that_the_host_chooses() {
    let world = World::new().await;
    for (pla_order, first) in [
        (PlaOrder::AsStored, "Web Server Load"),
        (PlaOrder::ByName, "Low Memory"),
        (PlaOrder::NewestFirst, "Order Service"),
    ] {
        let choices =
            PlaChoices { pla_order, pla_index_types: PlaIndexTypes::Listed, ..PlaChoices::default() };
        world.host.change_behaviour(|behaviour| behaviour.choices.performance_logs = choices);
        let mut collection = filled(&world, Category::Server.collection_class()).await;
        let proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
        let index = Some(Box::new(Variant::new(Value::Ui4(0)).unwrap()));
        let request = ms_pla::data_collector_set_collection::GetItemRequest { index };
        let set = returned!(collection, proxy, request, item => IDataCollectorSet);
        assert_eq!(text(&get!(collection, set, GetNameRequest {})), first);
        collection.release(soon()).await.unwrap();
    }
}

/// Interfaces that several classes have are listed, bound and counted once.
#[tokio::test]
async fn calls_of_all_classes_of_sets_are_counted_together() {
    let world = World::new().await;
    for (class, name) in [
        (Category::Server.set_class(), "Low Memory"),
        (ids::DATA_COLLECTOR_SET, r"System\System Diagnostics"),
    ] {
        set_of(&world, class, name).await.release(soon()).await.unwrap();
    }
    assert_eq!(world.host.counts().calls("pla-set", 59), 2);
}
