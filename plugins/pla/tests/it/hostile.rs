//! Hosts whose collections of sets say what no host says.

use std::sync::Arc;

use com::dcom::wire::{DualStringArray, Objref};
use com::oaut::{Bstr, IDispatchServer};
use dcerpc::FaultStatus;
use ms_pla::data_collector_set::{GetNameReply, GetNameRequest, GetXmlReply, GetXmlRequest};
use ms_pla::data_collector_set_collection::*;
use ms_pla::{
    Category, IDataCollectorSet, IDataCollectorSetCollection, IDataCollectorSetCollectionServer,
    IDataCollectorSetServer,
};
use parking_lot::Mutex;
use rpc::orpc::{IUnknownServer, ObjectInterface};
use rpc::{CallInfo, Interface, ServerResult};
use serde_json::json;
use windows_sim::model::Clock;
use windows_sim::service::objects::{ComClass, ComInterface, ComObject, Program};
use windows_sim::service::{self, Call};
use windows_sim::{Account, Accounts, HostState, WindowsHost, model};
use wire::{Guid, HResult};

use crate::objects::Objects;
use crate::steered::Mill;
use crate::world::{NOON, PASSWORD, Plugin, USER};

/// What a host says.
#[derive(Clone, Copy, Debug)]
enum Says {
    /// A number of sets.
    Count(i32),
    /// A set that is NULL.
    NullItem,
    /// A set whose texts are NULL.
    NullTexts,
}

/// The class of sets that only the collection returns.
const SET: Guid = Guid::from_u128(0x5e7);

struct CollectionClass(Arc<Mutex<Says>>);

struct SetClass;

struct SayingCollection(Arc<Mutex<Says>>);

struct NullSet;

/// A collection during a call.
struct Saying<'a> {
    says: Says,
    program: &'a dyn Program,
}

impl ComClass for CollectionClass {
    fn clsid(&self) -> Guid {
        Category::Server.collection_class()
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[ComInterface {
            name: "pla-set-collection",
            syntax_id: IDataCollectorSetCollection::SYNTAX_ID,
            refuse: IDataCollectorSetCollection::dispatch,
        }];
        INTERFACES
    }

    fn create(&self, _: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Ok(Box::new(SayingCollection(Arc::clone(&self.0))))
    }
}

impl ComClass for SetClass {
    fn clsid(&self) -> Guid {
        SET
    }

    fn interfaces(&self) -> &[ComInterface] {
        const INTERFACES: &[ComInterface] = &[ComInterface {
            name: "pla-set",
            syntax_id: IDataCollectorSet::SYNTAX_ID,
            refuse: IDataCollectorSet::dispatch,
        }];
        INTERFACES
    }

    fn create(&self, _: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult> {
        Err(HResult::REGDB_E_CLASSNOTREG)
    }
}

fn info(call: &Call<'_>) -> CallInfo {
    CallInfo { auth_level: call.auth_level, object: call.object }
}

impl ComObject for SayingCollection {
    fn call(&mut self, _: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        let says = *self.0.lock();
        let mut saying = Saying { says, program };
        IDataCollectorSetCollection::dispatch(&mut saying, &info(call), call.opnum, call.stub)
    }
}

impl ComObject for NullSet {
    fn call(&mut self, _: Guid, call: &Call<'_>, _: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        IDataCollectorSet::dispatch(self, &info(call), call.opnum, call.stub)
    }
}

impl IUnknownServer for Saying<'_> {}
impl IDispatchServer for Saying<'_> {}
impl IUnknownServer for NullSet {}
impl IDispatchServer for NullSet {}

impl IDataCollectorSetCollectionServer for Saying<'_> {
    fn get_data_collector_sets(
        &mut self,
        _: &GetDataCollectorSetsRequest,
    ) -> ServerResult<GetDataCollectorSetsReply, HResult> {
        Ok(GetDataCollectorSetsReply { status: HResult::S_OK })
    }

    fn get_count(&mut self, _: &GetCountRequest) -> ServerResult<GetCountReply, HResult> {
        let count = if let Says::Count(count) = self.says { count } else { 2 };
        Ok(GetCountReply { count, status: HResult::S_OK })
    }

    fn get_item(&mut self, _: &GetItemRequest<'_>) -> ServerResult<GetItemReply<'static>, HResult> {
        let item = match self.says {
            Says::Count(_) => return Err(HResult::DISP_E_BADINDEX.into()),
            Says::NullItem => None,
            Says::NullTexts => {
                let std = self.program.adopt(SET, Box::new(NullSet), IDataCollectorSet::IID, NOON)?;
                let objref = Objref::standard(IDataCollectorSet::IID, std, DualStringArray::default());
                Some(Box::new(objref.to_pointer().map_err(|_| HResult::E_OUTOFMEMORY)?))
            }
        };
        Ok(GetItemReply { item, status: HResult::S_OK })
    }
}

impl IDataCollectorSetServer for NullSet {
    fn get_name(&mut self, _: &GetNameRequest) -> ServerResult<GetNameReply, HResult> {
        Ok(GetNameReply { value: Bstr(None), status: HResult::S_OK })
    }

    fn get_xml(&mut self, _: &GetXmlRequest) -> ServerResult<GetXmlReply, HResult> {
        Ok(GetXmlReply { value: Bstr(None), status: HResult::S_OK })
    }
}

/// A host with nothing but such sets.
fn host(says: &Arc<Mutex<Says>>) -> Arc<WindowsHost> {
    let classes: Vec<Arc<dyn ComClass>> =
        vec![Arc::new(CollectionClass(Arc::clone(says))), Arc::new(SetClass)];
    let source = Arc::new(model::Host::new(crate::world::at_noon(&Clock::manual(NOON))));
    let accounts = Accounts::new(vec![Account::new("CORP", USER, ssp::Secret::new(PASSWORD))]);
    Arc::new(WindowsHost::with_services("web1", source, Arc::new(accounts), &service::dcom(classes)))
}

#[test]
fn counts_and_pointers_that_no_host_sends_are_failures_and_nothing_else() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    mill.wheel("big", |wheel| wheel.load = 90);
    let own = json!({"name": "Own", "alerts": [{"counter": r"\Wheels(*)\Load", "above": 80}]});
    for (says, names, expected) in [
        // 2^32 - 1 as the signed number that it is.
        (Says::Count(-1), "*", "the host says that it has -1 data collector sets"),
        (
            Says::Count(i32::MAX),
            "*",
            "the host says that it has 2147483647 data collector sets, and at most 4096",
        ),
        (Says::Count(4_096), "*", "set 1 of 4096: get item: DISP_E_BADINDEX"),
        (Says::NullItem, "*", "set 1 of 2: get item"),
        (Says::NullTexts, "*", "set 1 of 2: the host says that the name of the set is nothing"),
        (Says::NullTexts, "Mill*", "set 1 of 2: the host says that the name of the set is nothing"),
    ] {
        let objects = Objects::serve(&host(&Arc::new(Mutex::new(says))), mill.sim.port);
        let settings = objects.settings(&json!([{"host": [names], "refresh": "0s"}, own]));
        let ended = plugin.watch(&mill.sim, settings).collect();
        let message = ended.partial();
        assert!(message.contains(expected), "{says:?}: {message}");
        assert_eq!(ended.states(), ["Load(big) firing"], "{says:?}: the counters are judged");
        assert_eq!(ended.of("Set", "Info").len(), 1);
    }
}
