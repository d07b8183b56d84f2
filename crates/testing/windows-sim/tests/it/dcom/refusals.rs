//! What a host refuses, and what goes wrong if a rule says so.

use host_session::{Reason, Stage, Verdict};
use rpc::Interface;
use rpc::orpc::{ComVersion, ObjectInterface, Proxy};
use windows_sim::{AccountState, ActivationMode};
use wire::Guid;

use super::lamp::{GetBrightnessRequest, IHeater, ILamp, LAMP};
use super::{World, soon, wrong_credentials};
use crate::host::credentials;

async fn refusal(world: &World) -> String {
    let error = world.activate(LAMP, ILamp::IID).await.unwrap_err();
    assert_eq!((error.stage, error.verdict()), (Stage::Query, Verdict::Accepted), "{error}");
    error.detail().to_owned()
}

#[tokio::test]
async fn an_activation_is_refused_by_what_the_host_says() {
    let world = World::new().await;
    for (mode, name) in [
        (ActivationMode::AccessDenied, "E_ACCESSDENIED"),
        (ActivationMode::NotRegistered, "REGDB_E_CLASSNOTREG"),
        (ActivationMode::ServerFailure, "CO_E_SERVER_EXEC_FAILURE"),
    ] {
        world.host.change_behaviour(|behaviour| behaviour.activation = mode);
        let error = refusal(&world).await;
        assert!(error.contains(name), "{error}");
    }
    world.host.change_behaviour(|behaviour| behaviour.activation = ActivationMode::Open);
    world.activate(LAMP, ILamp::IID).await.unwrap();
    let error = world.activate(Guid::from_u128(1), ILamp::IID).await.unwrap_err();
    assert!(error.detail().contains("REGDB_E_CLASSNOTREG"), "{error}");
    let error = world.activate(LAMP, IHeater::IID).await.unwrap_err();
    assert!(error.detail().contains("E_NOINTERFACE"), "{error}");
    assert_eq!(world.lamps(), 1, "what is refused makes no object");
    world.accounts.change(|accounts| accounts[0].may_read_counters = false);
    let error = refusal(&world).await;
    assert!(error.contains("E_ACCESSDENIED"), "{error}");
}

#[tokio::test]
async fn rules_hit_single_calls_of_the_resolver_and_of_objects() {
    let world = World::new().await;
    let rule = |text: &str| {
        let rules = vec![text.parse().unwrap()];
        world.host.change_behaviour(|behaviour| behaviour.rules = rules);
    };
    rule("activator/4x1=status:0x80080005");
    assert!(refusal(&world).await.contains("CO_E_SERVER_EXEC_FAILURE"));
    assert_eq!(world.lamps(), 0);
    rule("activator/4x1=fault:5");
    assert!(refusal(&world).await.contains("access denied"));
    let mut lamp = world.activate(LAMP, ILamp::IID).await.unwrap();
    for (text, expected) in [
        ("lamp/3x1=status:0x8000ffff", "get brightness: E_UNEXPECTED"),
        ("lamp/3x1=fault:0x1c000012", "the server failed without a reason"),
    ] {
        rule(text);
        let mut proxy = lamp.proxy::<ILamp>(soon()).await.unwrap();
        let error = proxy.call(&GetBrightnessRequest {}).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    rule("resolver/2x1=status:1912");
    lamp.keep_alive(soon()).await.unwrap();
    rule("lamp/3x1=drop");
    let mut proxy = lamp.proxy::<ILamp>(soon()).await.unwrap();
    proxy.call(&GetBrightnessRequest {}).await.unwrap_err();
    assert!(!lamp.is_usable());
}

#[tokio::test]
async fn a_wrong_password_and_an_account_that_is_disabled_get_nothing() {
    let world = World::new().await;
    let error = world.log_on(wrong_credentials()).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Auth, Reason::WrongCredentials), "{error}");
    assert_eq!(world.accounts.refused(), 1);
    world.accounts.change(|accounts| accounts[0].state = AccountState::Disabled);
    let error = world.activate(LAMP, ILamp::IID).await.unwrap_err();
    assert_eq!(error.reason, Reason::AccessDenied, "{error}");
}

#[tokio::test]
async fn a_call_without_protection_or_for_an_unknown_object_is_refused() {
    let world = World::new().await;
    let call = async |credentials| {
        let mut session = world.bind(world.exporter, credentials, ILamp::SYNTAX_ID).await.unwrap();
        let nobodys = Guid::from_u128(77);
        let mut proxy: Proxy<_, ILamp> =
            Proxy::new(session.channel(0, soon()), nobodys, ComVersion::V5_7, Guid::from_u128(1));
        proxy.call(&GetBrightnessRequest {}).await.unwrap_err().to_string()
    };
    let plain = call(None).await;
    assert!(plain.contains("access denied"), "{plain}");
    let unknown = call(Some(credentials())).await;
    assert!(unknown.contains("0x80010108"), "{unknown}");
    let error = world.bind(world.exporter, None, IHeater::SYNTAX_ID).await.unwrap_err();
    assert_eq!((error.stage, error.reason), (Stage::Bind, Reason::NotFound), "{error}");
}
