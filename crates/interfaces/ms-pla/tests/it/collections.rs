//! Collections, by index and by enumerator, and which item is meant.

use core::future::{Future, ready};

use com::oaut::{
    Bstr, IDispatchServer, IEnumVARIANT, IEnumVARIANTServer, NextVariantsReply, NextVariantsRequest, Value,
    Variant,
};
use ms_pla::collection::{Selector, item, items, objects_of};
use ms_pla::folder_action_collection::{self, IFolderActionCollectionServer};
use ms_pla::value_map::{
    GetCountReply, GetCountRequest, GetItemReply, GetItemRequest, RemoveReply, RemoveRequest,
};
use ms_pla::{AnyVariant, Category, IFolderActionCollection, IValueMap, IValueMapServer, Object, ids};
use rpc::ndr::{ConformantVarying, InterfacePointer};
use rpc::orpc::{ComVersion, IUnknownServer, ObjectInterface, Proxy};
use rpc::{CallInfo, Channel, Error, FaultStatus, ServerResult};
use test_support::future::now;
use wire::{Guid, HResult};

/// A map on a host: references to its items, and a position.
#[derive(Default)]
struct Map {
    items: Vec<Vec<u8>>,
    at: usize,
    /// What it answers instead of the number of items.
    count: Option<i32>,
}

impl IUnknownServer for Map {}
impl IDispatchServer for Map {}

fn object(bytes: &[u8]) -> InterfacePointer<'static> {
    InterfacePointer { size: u32::try_from(bytes.len()).unwrap(), data: bytes.to_vec().into() }
}

impl IValueMapServer for Map {
    fn get_count(&mut self, _: &GetCountRequest) -> ServerResult<GetCountReply, HResult> {
        let count = self.count.unwrap_or(i32::try_from(self.items.len()).unwrap());
        Ok(GetCountReply { count, status: HResult::S_OK })
    }

    fn get_item(&mut self, request: &GetItemRequest<'_>) -> ServerResult<GetItemReply<'_>, HResult> {
        let Selector::Index(index) = Selector::of_variant(&request.index)? else {
            return Err(HResult::DISP_E_TYPEMISMATCH.into());
        };
        let item = self.items.get(index as usize).ok_or(HResult::DISP_E_BADINDEX)?;
        // An item without bytes stands for none.
        let item: Object<'_> = (!item.is_empty()).then(|| Box::new(object(item)));
        Ok(GetItemReply { item, status: HResult::S_OK })
    }

    fn remove(&mut self, request: &RemoveRequest<'_>) -> ServerResult<RemoveReply, HResult> {
        match Selector::of_variant(&request.item)? {
            Selector::Index(index) if (index as usize) < self.items.len() => {
                self.items.remove(index as usize);
            }
            Selector::Object(object) => self.items.retain(|item| item[..] != object.data[..]),
            Selector::Index(_) => return Err(HResult::DISP_E_BADINDEX.into()),
        }
        Ok(RemoveReply { status: HResult::S_OK })
    }
}

impl IFolderActionCollectionServer for Map {
    fn get_count(
        &mut self,
        _: &folder_action_collection::GetCountRequest,
    ) -> ServerResult<folder_action_collection::GetCountReply, HResult> {
        Ok(folder_action_collection::GetCountReply { count: u32::MAX, status: HResult::S_OK })
    }
}

impl IEnumVARIANTServer for Map {
    fn next_variants(
        &mut self,
        request: &NextVariantsRequest,
    ) -> ServerResult<NextVariantsReply<'_>, HResult> {
        let wanted = request.requested as usize;
        let next = self.items.iter().skip(self.at).take(wanted);
        let variant = |item: &Vec<u8>| Variant::new(Value::Dispatch(Some(Box::new(object(item))))).unwrap();
        let elements: Vec<AnyVariant<'_>> = next.map(|item| Some(Box::new(variant(item)))).collect();
        self.at += elements.len();
        let status = if elements.len() == wanted { HResult::S_OK } else { HResult::S_FALSE };
        let count = u32::try_from(elements.len()).unwrap();
        let items = ConformantVarying { max_count: request.requested, elements };
        Ok(NextVariantsReply { items, count, status })
    }
}

type Dispatch = fn(&mut Map, &CallInfo, u16, &[u8]) -> Result<Vec<u8>, FaultStatus>;

struct Wire(Map, Dispatch);

impl Channel for Wire {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        ready((self.1)(&mut self.0, &CallInfo::default(), opnum, stub))
    }
}

fn proxy<I: ObjectInterface>(map: Map, dispatch: Dispatch) -> Proxy<Wire, I> {
    Proxy::new(Wire(map, dispatch), Guid::from_u128(1), ComVersion::V5_7, Guid::from_u128(2))
}

fn map(items: &[&[u8]]) -> Proxy<Wire, IValueMap> {
    let items = items.iter().map(|item| item.to_vec()).collect();
    proxy(Map { items, ..Map::default() }, IValueMap::dispatch)
}

#[test]
fn items_are_read_by_index_from_zero() {
    let mut map = map(&[b"one", b"two"]);
    assert_eq!(now(items(&mut map, 2)).unwrap(), [b"one", b"two"]);
    assert_eq!(now(item(&mut map, 1)).unwrap(), b"two");
    let error = now(item(&mut map, 2)).unwrap_err();
    assert!(matches!(error, Error::Status { status: HResult::DISP_E_BADINDEX, .. }), "{error}");
}

#[test]
fn a_number_of_items_that_cannot_be_is_refused_before_any_is_read() {
    let limit = |count| {
        let items = vec![b"one".to_vec(), b"two".to_vec()];
        let mut map: Proxy<_, IValueMap> =
            proxy(Map { items, count: Some(count), ..Map::default() }, IValueMap::dispatch);
        now(items_of(&mut map)).unwrap_err().to_string()
    };
    for count in [-1, 3, i32::MAX, i32::MIN] {
        let error = limit(count);
        assert!(error.contains("is negative, or above the limit"), "{count}: {error}");
    }
    let mut actions: Proxy<_, IFolderActionCollection> =
        proxy(Map::default(), IFolderActionCollection::dispatch);
    let error = now(items(&mut actions, 100)).unwrap_err();
    assert!(error.to_string().contains("above the limit"), "{error}");
}

async fn items_of(map: &mut Proxy<Wire, IValueMap>) -> Result<Vec<Vec<u8>>, Error<FaultStatus, HResult>> {
    items(map, 2).await
}

#[test]
fn an_item_that_is_null_is_an_error() {
    let error = now(items(&mut map(&[b""]), 2)).unwrap_err();
    assert!(error.to_string().contains("is NULL where the method succeeded"), "{error}");
}

#[test]
fn an_item_is_removed_by_its_index_or_itself() {
    let mut map = map(&[b"one", b"two", b"six"]);
    let item = Selector::Index(1).to_variant().unwrap();
    now(map.call(&RemoveRequest { item })).unwrap();
    let item = Selector::Object(object(b"six")).to_variant().unwrap();
    now(map.call(&RemoveRequest { item })).unwrap();
    assert_eq!(map.channel().0.items, [b"one"]);
}

#[test]
fn an_item_is_meant_by_a_number_without_a_sign_or_by_an_object() {
    let read = |value| Selector::of_variant(&Some(Box::new(Variant::new(value).unwrap())));
    assert_eq!(read(Value::I4(0)), Ok(Selector::Index(0)));
    assert_eq!(read(Value::Ui4(u32::MAX)), Ok(Selector::Index(u32::MAX)));
    assert_eq!(read(Value::Dispatch(Some(Box::new(object(b"one"))))), Ok(Selector::Object(object(b"one"))));
    assert_eq!(read(Value::I4(-1)), Err(HResult::DISP_E_BADINDEX));
    assert_eq!(read(Value::Dispatch(None)), Err(HResult::E_POINTER));
    assert_eq!(read(Value::Bstr(Bstr::new("one").unwrap())), Err(HResult::DISP_E_TYPEMISMATCH));
    assert_eq!(Selector::of_variant(&None), Err(HResult::DISP_E_TYPEMISMATCH));
    for selector in [Selector::Index(0), Selector::Index(u32::MAX), Selector::Object(object(b"one"))] {
        assert_eq!(Selector::of_variant(&selector.to_variant().unwrap()), Ok(selector));
    }
}

#[test]
fn an_enumerator_gives_the_next_items_and_says_when_there_are_no_more() {
    let items = vec![b"one".to_vec(), b"two".to_vec(), b"six".to_vec()];
    let mut all: Proxy<_, IEnumVARIANT> = proxy(Map { items, ..Map::default() }, IEnumVARIANT::dispatch);
    let request = NextVariantsRequest { requested: 2 };
    for (expected, status) in [(&["one", "two"][..], HResult::S_OK), (&["six"], HResult::S_FALSE)] {
        let stub = now(all.stub(&request)).unwrap();
        let (_, reply) = all.decode(&request, &stub).unwrap();
        let objects = objects_of(&reply).unwrap();
        let found: Vec<_> = objects.iter().map(|object| str::from_utf8(&object.data).unwrap()).collect();
        assert_eq!((&found[..], reply.status), (expected, status));
    }
    let number = Some(Box::new(Variant::new(Value::I4(7)).unwrap()));
    let items = ConformantVarying { max_count: 1, elements: vec![number] };
    let reply = NextVariantsReply { items, count: 1, status: HResult::S_OK };
    assert_eq!(objects_of(&reply), Err(HResult::DISP_E_TYPEMISMATCH));
}

#[test]
fn an_enumerator_that_gives_more_than_was_asked_for_is_refused() {
    let elements = vec![None, None, None];
    let items = ConformantVarying { max_count: 3, elements };
    let reply = NextVariantsReply { items, count: 3, status: HResult::S_OK };
    let stub = rpc::orpc::reply_stub(&rpc::orpc::OrpcThat::default(), &reply).unwrap();
    let all: Proxy<_, IEnumVARIANT> = proxy(Map::default(), IEnumVARIANT::dispatch);
    let error = all.decode(&NextVariantsRequest { requested: 2 }, &stub).unwrap_err();
    assert!(error.to_string().contains("rgVar"), "{error}");
}

#[test]
fn there_are_16_classes_in_four_categories_and_beside_them() {
    let of_categories = Category::ALL.iter().flat_map(|one| [one.set_class(), one.collection_class()]);
    let classes: Vec<Guid> = of_categories
        .chain([
            ids::DATA_COLLECTOR_SET,
            ids::DATA_COLLECTOR_SET_COLLECTION,
            ids::LEGACY_DATA_COLLECTOR_SET,
            ids::LEGACY_DATA_COLLECTOR_SET_COLLECTION,
            ids::LEGACY_TRACE_SESSION,
            ids::LEGACY_TRACE_SESSION_COLLECTION,
            ids::TRACE_DATA_PROVIDER,
            ids::TRACE_DATA_PROVIDER_COLLECTION,
        ])
        .collect();
    let firsts: Vec<String> = classes
        .iter()
        .map(|class| class.to_string().strip_suffix("-098b-11d8-9414-505054503030").unwrap().to_owned())
        .collect();
    // [MS-PLA] 3.2.1, then the classes of the system's header.
    let expected = [
        "03837531", "03837532", "03837546", "03837547", "0383751c", "03837530", "03837538", "03837539",
        "03837521", "03837525", "03837526", "03837527", "03837528", "03837529", "03837513", "03837511",
    ];
    assert_eq!(firsts, expected);
    for category in Category::ALL {
        assert_eq!(Category::of_class(category.set_class()), Some(category));
        assert_eq!(Category::of_class(category.collection_class()), Some(category));
    }
    assert_eq!(Category::of_class(ids::DATA_COLLECTOR_SET), None);
    assert_eq!(Category::ALL.map(Category::can_commit), [true, false, true, true]);
    assert_eq!(Category::ALL.map(Category::can_start), [true, true, true, false]);
}
