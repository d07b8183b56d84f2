//! Collections: their items by index and by enumerator, and how they grow and shrink.

use com::oaut::{
    CloneEnumeratorRequest, IEnumVARIANT, NextVariantsRequest, ResetVariantsRequest, SkipVariantsRequest,
    Value, Variant,
};
use dcom::client::Object;
use ms_pla::collection::objects_of;
use ms_pla::data_collector_set::GetNameRequest;
use ms_pla::data_collector_set_collection::*;
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use windows_sim::choices::{PlaBadIndex, PlaChoices, PlaEnumeratedItems, PlaEnumerators, PlaIndexTypes};
use wire::HResult;

use super::{calls, failed, filled, get, returned, server_set, taken, text};
use crate::dcom::{World, soon};

fn choose(world: &World, choices: PlaChoices) {
    world.host.change_behaviour(|behaviour| behaviour.choices.performance_logs = choices);
}

async fn sets(world: &World) -> Object {
    filled(world, Category::Server.collection_class()).await
}

/// What an index of this type is answered with.
async fn item(collection: &mut Object, index: Value<'static>) -> HResult {
    let request = GetItemRequest { index: Some(Box::new(Variant::new(index).unwrap())) };
    let mut proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
    let stub = proxy.stub(&request).await.unwrap();
    let reply = proxy.decode(&request, &stub).unwrap().1;
    assert_eq!(reply.item.is_some(), reply.status == HResult::S_OK);
    reply.status
}

#[tokio::test]
async fn an_index_has_one_of_the_types_that_the_host_takes() {
    use HResult as H;
    let world = World::new().await;
    let mut collection = sets(&world).await;
    let mismatch = H::DISP_E_TYPEMISMATCH;
    for (pla_index_types, expected) in [
        (PlaIndexTypes::Listed, [H::S_OK, H::S_OK, mismatch, mismatch]),
        (PlaIndexTypes::Signed, [H::S_OK, mismatch, mismatch, mismatch]),
        (PlaIndexTypes::Unsigned, [mismatch, H::S_OK, mismatch, mismatch]),
        (PlaIndexTypes::AnyNumber, [H::S_OK; 4]),
    ] {
        choose(&world, PlaChoices { pla_index_types, ..PlaChoices::default() });
        let types = || [Value::I4(2), Value::Ui4(2), Value::I2(2), Value::Bstr(super::bstr("2"))];
        let mut found = Vec::new();
        for index in types() {
            found.push(item(&mut collection, index).await);
        }
        assert_eq!(found, expected, "{pla_index_types:?}");
        assert_eq!(item(&mut collection, Value::Empty).await, mismatch);
        assert_eq!(item(&mut collection, Value::Bstr(super::bstr("Low Memory"))).await, mismatch);
    }
    for &pla_bad_index in PlaBadIndex::ALL {
        choose(&world, PlaChoices { pla_bad_index, ..PlaChoices::default() });
        let expected =
            [H::DISP_E_BADINDEX, H::E_INVALIDARG][usize::from(pla_bad_index != PlaBadIndex::BadIndex)];
        for index in [Value::I4(3), Value::I4(-1), Value::Ui4(u32::MAX), Value::I4(i32::MAX)] {
            assert_eq!(item(&mut collection, index).await, expected);
        }
    }
    let mut proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
    let stub = proxy.stub(&GetItemRequest { index: None }).await.unwrap();
    let reply = proxy.decode(&GetItemRequest { index: None }, &stub).unwrap().1;
    assert_eq!((reply.status, reply.item), (H::E_POINTER, None));
}

/// The names of the next sets of an enumerator, and the status of that.
async fn next(
    collection: &mut Object,
    enumerator: &dcom::client::Returned<IEnumVARIANT>,
    requested: u32,
) -> (Vec<String>, HResult) {
    let request = NextVariantsRequest { requested };
    let mut proxy = collection.proxy_of(enumerator, soon()).await.unwrap();
    let stub = proxy.stub(&request).await.unwrap();
    let reply = proxy.decode(&request, &stub).unwrap().1;
    let (count, status) = (reply.count, reply.status);
    let references: Vec<_> =
        objects_of(&reply).unwrap().into_iter().map(|object| object.data.to_vec()).collect();
    assert_eq!(u32::try_from(references.len()).unwrap(), count);
    let mut names = Vec::new();
    for reference in references {
        let set = taken::<IDataCollectorSet>(collection, &reference).await;
        names.push(text(&get!(collection, set, GetNameRequest {})));
    }
    (names, status)
}

#[tokio::test]
async fn an_enumerator_goes_through_a_copy_of_the_collection_in_each_form() {
    let world = World::new().await;
    let mut forms = Vec::new();
    for &pla_enumerators in PlaEnumerators::ALL {
        for &pla_enumerated_items in PlaEnumeratedItems::ALL {
            forms.push(PlaChoices { pla_enumerators, pla_enumerated_items, ..PlaChoices::default() });
        }
    }
    for choices in forms {
        choose(&world, choices);
        let mut collection = sets(&world).await;
        let proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
        let request = GetNewEnumRequest {};
        let enumerator = returned!(collection, proxy, request, enumerator => IEnumVARIANT);
        let mut proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
        proxy.call(&ClearRequest {}).await.unwrap();
        assert_eq!(proxy.call(&GetCountRequest {}).await.unwrap().count, 0);

        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let first = next(&mut collection, &enumerator, 2).await;
        assert_eq!(first, (names(&["Web Server Load", "Low Memory"]), HResult::S_OK), "{choices:?}");
        let proxy = calls!(collection, enumerator);
        let other = returned!(collection, proxy, CloneEnumeratorRequest {}, enumerator => IEnumVARIANT);
        let last = (names(&["Order Service"]), HResult::S_FALSE);
        assert_eq!(next(&mut collection, &enumerator, 9).await, last);
        assert_eq!(next(&mut collection, &enumerator, 1).await, (Vec::new(), HResult::S_FALSE));
        assert_eq!(next(&mut collection, &other, 2).await, last, "it has its own position");
        let mut proxy = calls!(collection, enumerator);
        proxy.call(&ResetVariantsRequest {}).await.unwrap();
        proxy.call(&SkipVariantsRequest { count: 1 }).await.unwrap();
        let second = next(&mut collection, &enumerator, 1).await;
        assert_eq!(second, (names(&["Low Memory"]), HResult::S_OK));
        let mut proxy = calls!(collection, enumerator);
        let skipped = proxy.call(&SkipVariantsRequest { count: 2 }).await.unwrap();
        assert_eq!(skipped.status, HResult::S_FALSE);
        collection.release(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn sets_are_added_to_a_collection_and_removed_by_index_and_by_themselves() {
    let world = World::new().await;
    let mut collection = sets(&world).await;
    let mut other = sets(&world).await;
    let mut set = server_set(&world, "Low Memory").await;
    let object = |objref: com::dcom::wire::Objref<'_>| Some(Box::new(objref.to_pointer().unwrap()));
    let added = object(set.objref::<IDataCollectorSet>(soon()).await.unwrap());
    let removed = set.objref::<IDataCollectorSet>(soon()).await.unwrap().to_pointer().unwrap();
    let range = object(other.objref::<IDataCollectorSetCollection>(soon()).await.unwrap());
    let wrong = object(set.objref::<IDataCollectorSet>(soon()).await.unwrap());
    let mut proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
    proxy.call(&AddRequest { item: added }).await.unwrap();
    assert_eq!(proxy.call(&GetCountRequest {}).await.unwrap().count, 4);
    let index = |index| Some(Box::new(Variant::new(Value::I4(index)).unwrap()));
    proxy.call(&RemoveRequest { item: index(0) }).await.unwrap();
    assert_eq!(failed(proxy.call(&RemoveRequest { item: index(3) }).await), HResult::DISP_E_BADINDEX);
    let item = Some(Box::new(Variant::new(Value::Dispatch(Some(Box::new(removed)))).unwrap()));
    proxy.call(&RemoveRequest { item }).await.unwrap();
    assert_eq!(proxy.call(&GetCountRequest {}).await.unwrap().count, 2);
    proxy.call(&AddRangeRequest { items: range }).await.unwrap();
    assert_eq!(proxy.call(&GetCountRequest {}).await.unwrap().count, 5);
    assert_eq!(failed(proxy.call(&AddRangeRequest { items: wrong }).await), HResult::E_INVALIDARG);
    assert_eq!(failed(proxy.call(&AddRequest { item: None }).await), HResult::E_POINTER);
}
