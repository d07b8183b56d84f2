//! Providers of events, and the maps of their levels and keywords.

use com::oaut::{Bstr, Value, Variant};
use dcom::client::{Object, Returned};
use ms_pla::trace_data_provider::*;
use ms_pla::value_map::{self, GetDescriptionRequest, GetValueMapTypeRequest, PutValueRequest};
use ms_pla::{
    AnyVariant, ITraceDataProvider, ITraceDataProviderCollection, IValueMap, IValueMapItem, ValueMapType,
    ids, number_of, trace_data_provider_collection, value_map_item,
};
use rpc::ndr::ConformantBytes;
use rpc::orpc::ObjectInterface;
use windows_sim::model::data_collector_sets::providers::{KERNEL, ORDERS};
use wire::{HResult, Win32Error};

use super::{all_of, bstr, calls, failed, get, returned, text};
use crate::dcom::{World, soon};

async fn provider(world: &World, name: &str) -> Object {
    let mut provider = world.activate(ids::TRACE_DATA_PROVIDER, ITraceDataProvider::IID).await.unwrap();
    let request = QueryRequest { name: bstr(name), server: Bstr(None) };
    provider.proxy::<ITraceDataProvider>(soon()).await.unwrap().call(&request).await.unwrap();
    provider
}

fn variant(value: Value<'static>) -> AnyVariant<'static> {
    Some(Box::new(Variant::new(value).unwrap()))
}

/// The value of a map.
async fn value(object: &mut Object, map: &Returned<IValueMap>) -> Option<u64> {
    let request = value_map::GetValueRequest {};
    let mut proxy = object.proxy_of(map, soon()).await.unwrap();
    let stub = proxy.stub(&request).await.unwrap();
    let value = proxy.decode(&request, &stub).unwrap().1.value.unwrap().value;
    number_of(&value)
}

/// Of each item: its key, its value, and whether it is enabled.
async fn items(object: &mut Object, map: &Returned<IValueMap>) -> Vec<(String, u64, bool)> {
    let mut items = Vec::new();
    for item in all_of::<_, IValueMapItem>(object, map).await {
        let request = value_map_item::GetValueRequest {};
        let mut proxy = object.proxy_of(&item, soon()).await.unwrap();
        let stub = proxy.stub(&request).await.unwrap();
        let value = number_of(&proxy.decode(&request, &stub).unwrap().1.value.unwrap().value).unwrap();
        let key = text(&proxy.call(&value_map_item::GetKeyRequest {}).await.unwrap().value);
        let is_enabled = proxy.call(&value_map_item::GetEnabledRequest {}).await.unwrap().value.is_true();
        items.push((key, value, is_enabled));
    }
    items
}

#[tokio::test]
async fn a_provider_is_queried_by_its_name_or_its_guid() {
    let world = World::new().await;
    let guid = format!("{{{ORDERS}}}");
    for name in ["orders-service", &guid] {
        let mut provider = provider(&world, name).await;
        let mut proxy = provider.proxy::<ITraceDataProvider>(soon()).await.unwrap();
        assert_eq!(text(&proxy.call(&GetDisplayNameRequest {}).await.unwrap().value), "Orders-Service");
        assert_eq!(proxy.call(&GetGuidRequest {}).await.unwrap().value, ORDERS);
        assert!(!proxy.call(&GetFilterEnabledRequest {}).await.unwrap().value.is_true());
        let sddl = proxy.call(&GetSecurityRequest { security_info: 4 }).await.unwrap().sddl;
        assert!(text(&sddl).starts_with("O:BA"), "{sddl:?}");
        let request = SetSecurityRequest { sddl: bstr("O:SY") };
        assert_eq!(failed(proxy.call(&request).await), HResult::E_ACCESSDENIED);
        let request = QueryRequest { name: bstr("nobody"), server: Bstr(None) };
        let not_found = HResult::from_win32(Win32Error::ERROR_NOT_FOUND);
        assert_eq!(failed(proxy.call(&request).await), not_found);
        provider.release(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn maps_of_a_provider_have_the_value_of_the_items_that_are_enabled() {
    let world = World::new().await;
    let mut provider = provider(&world, "Orders-Service").await;
    let proxy = provider.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    let level = returned!(provider, proxy, GetLevelRequest {}, value => IValueMap);
    assert_eq!(get!(provider, level, GetValueMapTypeRequest {}), ValueMapType::INDEX);
    assert_eq!(text(&get!(provider, level, GetDescriptionRequest {})), "");
    assert_eq!(value(&mut provider, &level).await, Some(4));
    let item = |key: &str, value, is_enabled| (key.to_owned(), value, is_enabled);
    let levels =
        [item("win:Error", 2, false), item("win:Warning", 3, false), item("win:Informational", 4, true)];
    assert_eq!(items(&mut provider, &level).await, levels);
    calls!(provider, level).call(&PutValueRequest { value: variant(Value::I4(2)) }).await.unwrap();
    assert_eq!(value(&mut provider, &level).await, Some(2));

    let proxy = provider.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    let any = returned!(provider, proxy, GetKeywordsAnyRequest {}, value => IValueMap);
    assert_eq!(value(&mut provider, &any).await, Some(1));
    let add = value_map::AddRequest { value: variant(Value::Bstr(bstr("payments"))) };
    calls!(provider, any).call(&add).await.unwrap();
    assert_eq!(value(&mut provider, &any).await, Some(0x8000_0000_0000_0001));
    let add = value_map::AddRequest { value: variant(Value::Bstr(bstr("-0x10"))) };
    calls!(provider, any).call(&add).await.unwrap();
    assert_eq!(items(&mut provider, &any).await[2], item("", 0xffff_ffff_ffff_fff0, true));
    let add = value_map::AddRequest { value: variant(Value::Bstr(bstr("no key"))) };
    assert_eq!(failed(calls!(provider, any).call(&add).await), HResult::E_INVALIDARG);
    let add = value_map::AddRequest { value: variant(Value::R8(1.0)) };
    assert_eq!(failed(calls!(provider, any).call(&add).await), HResult::DISP_E_TYPEMISMATCH);

    let proxy = provider.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    let all = returned!(provider, proxy, GetKeywordsAllRequest {}, value => IValueMap);
    assert_eq!(value(&mut provider, &all).await, None);
    calls!(provider, all).call(&PutValueRequest { value: variant(Value::Ui8(u64::MAX)) }).await.unwrap();
    assert_eq!(value(&mut provider, &all).await, Some(u64::MAX));
    let proxy = provider.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    let properties = returned!(provider, proxy, GetPropertiesRequest {}, value => IValueMap);
    assert_eq!(items(&mut provider, &properties).await, []);
}

#[tokio::test]
async fn the_filter_of_a_provider_is_bytes_up_to_a_kilobyte() {
    let world = World::new().await;
    let mut provider = provider(&world, "Orders-Service").await;
    let mut proxy = provider.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    let put = |bytes: Vec<u8>| PutFilterDataRequest {
        value: com::oaut::ArrayParameter::of_bytes(ConformantBytes(bytes.into())).unwrap(),
    };
    proxy.call(&put(vec![0, 7, 255])).await.unwrap();
    assert_eq!(failed(proxy.call(&put(vec![1; 1025])).await), HResult::E_INVALIDARG);
    let stub = proxy.stub(&GetFilterDataRequest {}).await.unwrap();
    let (_, reply) = proxy.decode(&GetFilterDataRequest {}, &stub).unwrap();
    assert_eq!(reply.value.bytes(), Some(&[0, 7, 255][..]));
}

#[tokio::test]
async fn the_providers_of_a_host_and_of_a_process_are_listed() {
    let world = World::new().await;
    let class = ids::TRACE_DATA_PROVIDER_COLLECTION;
    let mut collection = world.activate(class, ITraceDataProviderCollection::IID).await.unwrap();
    let mut proxy = collection.proxy::<ITraceDataProviderCollection>(soon()).await.unwrap();
    let count = trace_data_provider_collection::GetCountRequest {};
    let all = trace_data_provider_collection::GetTraceDataProvidersRequest { server: Bstr(None) };
    proxy.call(&all).await.unwrap();
    assert_eq!(proxy.call(&count).await.unwrap().count, 2);
    for (pid, expected) in [(4, Some(KERNEL)), (5, None)] {
        let mut proxy = collection.proxy::<ITraceDataProviderCollection>(soon()).await.unwrap();
        let server = Bstr(None);
        let request = trace_data_provider_collection::GetTraceDataProvidersByProcessRequest { server, pid };
        proxy.call(&request).await.unwrap();
        assert_eq!(proxy.call(&count).await.unwrap().count, i32::from(expected.is_some()));
        if expected.is_some() {
            let reference = ms_pla::collection::item(&mut proxy, 0).await.unwrap();
            let provider = super::taken::<ITraceDataProvider>(&mut collection, &reference).await;
            assert_eq!(Some(get!(collection, provider, GetGuidRequest {})), expected);
            let proxy = calls!(collection, provider);
            let request = GetRegisteredProcessesRequest {};
            let processes = returned!(collection, proxy, request, processes => IValueMap);
            assert_eq!(items(&mut collection, &processes).await, [("System".to_owned(), 4, false)]);
        }
    }
}

#[tokio::test]
async fn a_provider_takes_its_items_from_one_with_the_same_guid_and_keeps_its_value() {
    let world = World::new().await;
    let class = ids::TRACE_DATA_PROVIDER_COLLECTION;
    let mut known = world.activate(class, ITraceDataProviderCollection::IID).await.unwrap();
    let all = trace_data_provider_collection::GetTraceDataProvidersRequest { server: Bstr(None) };
    known.proxy::<ITraceDataProviderCollection>(soon()).await.unwrap().call(&all).await.unwrap();
    let mut own = world.activate(ids::TRACE_DATA_PROVIDER, ITraceDataProvider::IID).await.unwrap();
    let mut proxy = own.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    proxy.call(&PutGuidRequest { value: ORDERS }).await.unwrap();
    let level = returned!(own, proxy, GetLevelRequest {}, value => IValueMap);
    calls!(own, level).call(&PutValueRequest { value: variant(Value::I4(3)) }).await.unwrap();
    let from = known.objref::<ITraceDataProviderCollection>(soon()).await.unwrap().to_pointer().unwrap();
    let mut proxy = own.proxy::<ITraceDataProvider>(soon()).await.unwrap();
    proxy.call(&ResolveRequest { from: Some(Box::new(from)) }).await.unwrap();
    assert_eq!(text(&proxy.call(&GetDisplayNameRequest {}).await.unwrap().value), "Orders-Service");
    assert_eq!(items(&mut own, &level).await.len(), 3);
    assert_eq!(value(&mut own, &level).await, Some(3));
}
