use std::sync::Arc;
use std::sync::atomic::Ordering;

use com::dcom::resolver::IObjectExporter;
use com::dcom::wire::ObjrefBody;
use dcom::client::{Object, PING_PERIOD, ReachedResolver};
use host_session::{Options, Reason, SessionError, Stage, Target, Verdict};
use rpc::Interface as _;
use rpc::orpc::{ComVersion, IUnknown, IUnknownServer, ObjectInterface};
use wire::HResult;

use crate::client::host::PASSWORD;
use crate::client::world::{
    CLASS, GetBrightnessRequest, ILamp, ISwitch, PORT, ToggleRequest, World, credentials, other_lamp, soon,
};

rpc::interface! {
    /// What the object is not.
    pub orpc interface IHeater: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd56") -> HResult {
        /// Says how warm it is.
        3 => GetHeat() -> (heat: u32);
    }
}

async fn activate(world: &World, password: &str) -> Result<Object, SessionError> {
    let target = Target::new("web1", com::dcom::RESOLVER_PORT);
    let reached = ReachedResolver::connect(target, Options::default(), &world.network, soon()).await?;
    let resolver = reached.log_on(credentials(password), &world.network, soon()).await?;
    resolver.activate(CLASS, &[ILamp::IID], Arc::new(world.network.clone()), soon()).await
}

async fn brightness(object: &mut Object) -> u32 {
    object.proxy::<ILamp>(soon()).await.unwrap().call(&GetBrightnessRequest {}).await.unwrap().brightness
}

#[tokio::test(start_paused = true)]
async fn an_object_is_made_called_pinged_and_given_back() {
    let world = World::new();
    let mut object = activate(&world, PASSWORD).await.unwrap();
    assert_eq!(brightness(&mut object).await, 40);
    assert_eq!(brightness(&mut object).await, 40);
    let mut switch = object.proxy::<ISwitch>(soon()).await.unwrap();
    switch.call(&ToggleRequest {}).await.unwrap();
    object.proxy::<ISwitch>(soon()).await.unwrap().call(&ToggleRequest {}).await.unwrap();
    assert_eq!(world.events(), ["query interface"], "it is asked once");
    // The set is made at once, then the resolver hears of it once a period.
    for _ in 0..3 {
        object.keep_alive(soon()).await.unwrap();
    }
    tokio::time::advance(PING_PERIOD).await;
    assert!(!object.may_be_gone());
    object.keep_alive(soon()).await.unwrap();
    assert_eq!(world.events(), ["ping set of 1", "ping 7"]);
    tokio::time::advance(PING_PERIOD * 3).await;
    assert!(object.may_be_gone());
    object.release(soon()).await.unwrap();
    assert_eq!(world.events(), ["release 10 of 2"]);
    assert_eq!(world.plain_binds.load(Ordering::SeqCst), 1, "ServerAlive2, and nothing else, is not sealed");
    assert_eq!(world.logons.logons_accepted(), 2, "one at the resolver, one at the program");
}

#[tokio::test(start_paused = true)]
async fn the_stages_of_all_connections_are_there() {
    let object = activate(&World::new(), PASSWORD).await.unwrap();
    let stages: Vec<Stage> = object.stages().iter().map(|report| report.stage).collect();
    use Stage::{Auth, Bind, Dns, Tcp};
    assert_eq!(stages, [Dns, Tcp, Bind, Dns, Tcp, Auth, Dns, Tcp, Auth]);
}

#[tokio::test(start_paused = true)]
async fn credentials_go_to_no_address_that_is_none_of_the_users_host() {
    let world = World::new();
    let mut stranger = world.network.listen("elsewhere", PORT);
    let heard = tokio::spawn(async move { drop(stranger.accept().await) });
    world.state.lock().addresses =
        vec![format!("198.18.0.2[{PORT}]"), format!("elsewhere[{PORT}]"), format!("WEB1[{PORT}]")];
    let mut object = activate(&world, PASSWORD).await.unwrap();
    assert_eq!(brightness(&mut object).await, 40);
    assert!(!heard.is_finished(), "the stranger was not connected to");
}

#[tokio::test(start_paused = true)]
async fn a_port_that_is_closed_is_passed_over() {
    let world = World::new();
    world.state.lock().addresses = vec!["198.18.0.1[50000]".into(), format!("10.9.8.7[{PORT}]")];
    let mut object = activate(&world, PASSWORD).await.unwrap();
    assert_eq!(brightness(&mut object).await, 40);
    world.state.lock().addresses = vec!["198.18.0.1[50000]".into()];
    let error = activate(&world, PASSWORD).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Tcp, Reason::ConnectionRefused), "{error}");
    world.state.lock().addresses = vec![];
    let error = activate(&world, PASSWORD).await.unwrap_err();
    assert!(error.detail().contains("names no TCP port"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_a_host_refuses_at_the_activation_is_named() {
    let world = World::new();
    for (status, reason, name) in [
        (HResult::E_ACCESSDENIED, Reason::AccessDenied, "E_ACCESSDENIED"),
        (HResult::REGDB_E_CLASSNOTREG, Reason::NotFound, "REGDB_E_CLASSNOTREG"),
        (HResult(0x8000_4999), Reason::ServerFault, "0x80004999"),
    ] {
        world.state.lock().refusal = Some(status);
        let error = activate(&world, PASSWORD).await.unwrap_err();
        assert_eq!((error.stage, error.reason), (Stage::Query, reason), "{error}");
        assert!(error.to_string().to_lowercase().contains(&name.to_lowercase()), "{error}");
        assert_eq!(error.verdict(), Verdict::Accepted, "the logon was good");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_password_costs_one_logon() {
    let world = World::new();
    let error = activate(&world, "hunter2 (made up)").await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Auth, Reason::WrongCredentials), "{error}");
    assert_eq!(world.logons.logons_rejected(), 1);
}

#[tokio::test(start_paused = true)]
async fn older_versions_are_spoken_to_and_strange_ones_are_not() {
    let world = World::new();
    world.state.lock().version = ComVersion::V5_6;
    let mut object = activate(&world, PASSWORD).await.unwrap();
    assert_eq!(brightness(&mut object).await, 40);
    world.state.lock().version = ComVersion { major: 6, minor: 0 };
    let error = activate(&world, PASSWORD).await.unwrap_err();
    assert!(error.detail().contains("version 6.0 of DCOM"), "{error}");
    assert_eq!(world.logons.logons_accepted(), 2, "no credentials go to a host of another version");
}

#[tokio::test(start_paused = true)]
async fn an_interface_that_the_object_does_not_have_is_named() {
    let world = World::new();
    let mut object = activate(&world, PASSWORD).await.unwrap();
    let Err(error) = object.proxy::<IHeater>(soon()).await else { panic!("a heater") };
    assert_eq!(error.reason, Reason::NotFound, "{error}");
    assert!(error.detail().contains("E_NOINTERFACE"), "{error}");
    assert_eq!(brightness(&mut object).await, 40, "the others still work");
}

#[tokio::test(start_paused = true)]
async fn an_object_of_another_program_is_called_there_and_pinged_with_the_others() {
    let world = World::new();
    let mut object = activate(&world, PASSWORD).await.unwrap();
    object.keep_alive(soon()).await.unwrap();
    let mut lamps = Vec::new();
    for _ in 0..2 {
        lamps.push(object.take_returned::<ILamp>(&other_lamp(5), soon()).await.unwrap());
    }
    for lamp in &lamps {
        let mut proxy = object.proxy_of(lamp, soon()).await.unwrap();
        assert_eq!(proxy.call(&GetBrightnessRequest {}).await.unwrap().brightness, 70);
    }
    assert_eq!(brightness(&mut object).await, 40);
    assert_eq!(world.events(), ["ping set of 1", "resolve 2"], "it is asked for once");
    assert_eq!(world.logons.logons_accepted(), 3, "one more at the other program");
    object.keep_alive(soon()).await.unwrap();
    object.release_all_returned(lamps, soon()).await.unwrap();
    assert_eq!(world.events(), ["ping set of 1", "release 10 of 2"]);
    let mut stranger = other_lamp(5);
    let ObjrefBody::Standard { std, .. } = &mut stranger.body else { panic!("it is no copy") };
    std.oxid = com::dcom::types::Oxid(77);
    let stranger = object.take_returned::<ILamp>(&stranger, soon()).await.unwrap();
    let Err(error) = object.proxy_of(&stranger, soon()).await else { panic!("nobody knows it") };
    assert!(error.detail().contains("OR_INVALID_OXID"), "{error}");
    assert_eq!(brightness(&mut object).await, 40, "the others still work");
}

#[tokio::test(start_paused = true)]
async fn a_reference_is_passed_on_as_often_as_the_host_gives_more() {
    let world = World::new();
    let mut object = activate(&world, PASSWORD).await.unwrap();
    for _ in 0..12 {
        let passed = object.objref::<ILamp>(soon()).await.unwrap();
        assert_eq!(passed.std().unwrap().public_refs, 1);
    }
    // Five came with it, of which one stays; each time that one is left, there are five more.
    assert_eq!(world.events(), ["add 5", "add 5"]);
    object.release(soon()).await.unwrap();
    assert_eq!(world.events(), ["release 3 of 1"], "what was passed on is not ours any more");
    let Err(error) = activate(&world, PASSWORD).await.unwrap().objref::<IHeater>(soon()).await else {
        panic!("a heater")
    };
    assert!(error.detail().contains("E_NOINTERFACE"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_resolver_without_an_activator_is_named() {
    let world = World::with_resolver(vec![IObjectExporter::SYNTAX_ID]);
    let error = activate(&world, PASSWORD).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::NotFound), "{error}");
    assert!(error.detail().contains("IRemoteSCMActivator"), "{error}");
    assert_eq!(error.verdict(), Verdict::Accepted, "the logon was good");
}
