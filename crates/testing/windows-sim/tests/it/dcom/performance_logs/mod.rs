//! Performance logs and alerts, as a client reads and changes them.

mod changes;
mod choices;
mod collections;
mod collectors;
mod many;
mod parts;
mod providers;
mod rules;
mod sets;

use com::dcom::wire::Objref;
use com::oaut::{ArrayParameter, Bstr};
use dcom::client::{Object, Returned};
use ms_pla::collection::{Collection, items};
use ms_pla::data_collector_set::{GetXmlRequest, QueryRequest};
use ms_pla::data_collector_set_collection::GetDataCollectorSetsRequest;
use ms_pla::xml::{DataCollectorSet, Limits};
use ms_pla::{Category, IDataCollectorSet, IDataCollectorSetCollection};
use rpc::ndr::InterfacePointer;
use rpc::orpc::ObjectInterface;
use wire::{Guid, HResult};

use super::{World, soon};

/// What a method of an object returns as `$field`, as interface `$interface`.
macro_rules! returned {
    ($object:expr, $proxy:expr, $request:expr, $field:ident => $interface:ty) => {{
        let request = $request;
        let mut proxy = $proxy;
        let stub = proxy.stub(&request).await.unwrap();
        let (_, reply) = proxy.decode(&request, &stub).unwrap();
        assert_eq!(reply.status, wire::HResult::S_OK, "{request:?}");
        let objref =
            com::dcom::wire::Objref::from_pointer(reply.$field.as_ref().unwrap()).unwrap().into_owned();
        $object.take_returned::<$interface>(&objref, crate::dcom::soon()).await.unwrap()
    }};
}

/// The calls of an object that was returned.
macro_rules! calls {
    ($object:expr, $returned:expr) => {
        $object.proxy_of(&$returned, crate::dcom::soon()).await.unwrap()
    };
}

/// The value of a property.
macro_rules! get {
    ($object:expr, $returned:expr, $request:expr) => {{ calls!($object, $returned).call(&$request).await.unwrap().value }};
}

/// The status of a method that returns an object.
macro_rules! status {
    ($proxy:expr, $request:expr) => {{
        let request = $request;
        let stub = $proxy.stub(&request).await.unwrap();
        $proxy.decode(&request, &stub).unwrap().1.status
    }};
}

pub(crate) use {calls, get, returned, status};

fn bstr(text: &str) -> Bstr {
    Bstr::new(text).unwrap()
}

fn text(bstr: &Bstr) -> String {
    bstr.text().unwrap().unwrap_or_default()
}

fn texts(array: &ArrayParameter<'_>) -> Vec<String> {
    array.bstrs().unwrap().iter().map(text).collect()
}

/// The status that a method failed with.
fn failed<T: std::fmt::Debug>(
    called: Result<T, rpc::Error<host_session::rpc_client::Error, HResult>>,
) -> HResult {
    called.unwrap_err().status().unwrap()
}

async fn set_of(world: &World, class: Guid, name: &str) -> Object {
    let mut set = world.activate(class, IDataCollectorSet::IID).await.unwrap();
    let request = QueryRequest { name: bstr(name), server: Bstr(None) };
    set.proxy::<IDataCollectorSet>(soon()).await.unwrap().call(&request).await.unwrap();
    set
}

/// A set that clients make.
async fn server_set(world: &World, name: &str) -> Object {
    set_of(world, Category::Server.set_class(), name).await
}

/// All properties of a set, which it has as XML.
async fn record(set: &mut Object) -> DataCollectorSet {
    let mut proxy = set.proxy::<IDataCollectorSet>(soon()).await.unwrap();
    let xml = text(&proxy.call(&GetXmlRequest {}).await.unwrap().value);
    DataCollectorSet::read(xml.as_bytes(), &Limits::default()).unwrap()
}

/// A collection with all sets of its class.
async fn filled(world: &World, class: Guid) -> Object {
    let mut collection = world.activate(class, IDataCollectorSetCollection::IID).await.unwrap();
    let request = GetDataCollectorSetsRequest { server: Bstr(None), filter: Bstr(None) };
    let mut proxy = collection.proxy::<IDataCollectorSetCollection>(soon()).await.unwrap();
    proxy.call(&request).await.unwrap();
    collection
}

/// The objects in a collection.
async fn all_of<I: Collection, J: ObjectInterface>(
    object: &mut Object,
    collection: &Returned<I>,
) -> Vec<Returned<J>> {
    let references = items(&mut object.proxy_of(collection, soon()).await.unwrap(), 100).await.unwrap();
    let mut all = Vec::new();
    for reference in references {
        all.push(taken(object, &reference).await);
    }
    all
}

async fn taken<J: ObjectInterface>(object: &mut Object, reference: &[u8]) -> Returned<J> {
    let size = u32::try_from(reference.len()).unwrap();
    let pointer = InterfacePointer { size, data: reference.into() };
    let objref = Objref::from_pointer(&pointer).unwrap().into_owned();
    object.take_returned(&objref, soon()).await.unwrap()
}
