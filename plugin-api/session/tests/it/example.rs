//! The example plugin against a server of its interface.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dcerpc::{FaultStatus, SyntaxId};
use plugin_sdk::testing::{FakeInstance, FakeOutcome, SeenValue};
use plugin_sdk::{GeneralReason, Stage};
use rpc::{CallInfo, Interface as _};
use serde_json::json;
use windows_sim::HostState;
use windows_sim::service::{Call, Endpoint, Handler, Service};

use self::tank::{Tank, TankServer as _, TankSource, Tanks};
use crate::host::{SimHost, identity};

#[path = "../../../examples/tank.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a plugin of its own")]
mod tank;

/// The interface on a pipe of the simulated host.
struct TankService(Arc<[AtomicU32]>);

impl Service for TankService {
    fn name(&self) -> &'static str {
        "tank"
    }

    fn syntax_id(&self) -> SyntaxId {
        Tank::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::NamedPipe("tanks")]
    }

    fn handler(&self, _host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(Tanks(Arc::clone(&self.0)))
    }
}

impl Handler for Tanks {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let info = CallInfo { auth_level: call.auth_level, object: call.object };
        self.dispatch(&info, call.opnum, call.stub)
    }
}

fn collect(instance: &FakeInstance) -> FakeOutcome {
    instance.collect(Duration::from_secs(60)).unwrap().outcome
}

/// What each tank holds, by the label that it has.
fn levels(instance: &FakeInstance) -> Vec<(String, SeenValue)> {
    let tank = |labels: &[(String, String)]| match labels {
        [(name, tank)] if name == "tank" => tank.clone(),
        other => panic!("a tank has one label, not {other:?}"),
    };
    instance.seen().series.iter().map(|series| (tank(&series.labels), series.value.unwrap())).collect()
}

#[test]
fn the_example_shows_what_the_server_of_its_interface_says() {
    let liters: Arc<[AtomicU32]> = [7, 1_000].map(AtomicU32::new).into();
    let sim = SimHost::with_services(vec![Arc::new(TankService(Arc::clone(&liters)))]);
    let settings = json!({"tanks": 2});
    let instance = FakeInstance::create_with::<TankSource>(sim.target(), &settings, identity()).unwrap();
    assert_eq!(collect(&instance), FakeOutcome::Full);
    let two =
        |first, second| [("0".to_owned(), SeenValue::U64(first)), ("1".to_owned(), SeenValue::U64(second))];
    assert_eq!(levels(&instance), two(7, 1_000));
    assert_eq!(instance.seen().families, [("Tank".to_owned(), "Level".to_owned(), String::new())]);
    liters[0].store(8, Ordering::Relaxed);
    assert_eq!(collect(&instance), FakeOutcome::Full);
    assert_eq!(levels(&instance), two(8, 1_000));
    assert_eq!(sim.connections(), 1, "it is kept");
}

#[test]
fn what_the_server_refuses_is_a_failure_of_its_method() {
    let sim = SimHost::with_services(vec![Arc::new(TankService(Arc::new([])))]);
    let settings = json!({"tanks": 1});
    let instance = FakeInstance::create_with::<TankSource>(sim.target(), &settings, identity()).unwrap();
    let FakeOutcome::Failed(failure) = collect(&instance) else { panic!("there is no tank") };
    assert_eq!((failure.stage, failure.reason), (Stage::Query, GeneralReason::NotFound.into()));
    assert!(failure.message.contains("level"), "{}", failure.message);
}
