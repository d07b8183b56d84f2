//! How long objects live, and which interfaces they have.

use std::time::Duration;

use com::dcom::resolver::{IObjectExporter, ResolveOxid2Request, ServerAlive2Request};
use com::dcom::types::Oxid;
use dcom::client::Object;
use rpc::orpc::ObjectInterface;
use rpc::{Client, Error, FaultStatus, Interface};
use wire::HResult;

use super::lamp::{GetBrightnessRequest, IHeater, ILamp, ISwitch, LAMP, ToggleRequest};
use super::{World, soon};
use crate::host::credentials;

async fn brightness(lamp: &mut Object) -> Result<u32, Error<host_session::rpc_client::Error, HResult>> {
    let mut proxy = lamp.proxy::<ILamp>(soon()).await.unwrap();
    Ok(proxy.call(&GetBrightnessRequest {}).await?.brightness)
}

fn fault(error: &Error<host_session::rpc_client::Error, HResult>) -> Option<FaultStatus> {
    match error {
        Error::Call { source, .. } => match source.kind() {
            host_session::rpc_client::ErrorKind::Fault(status) => Some(status),
            _ => None,
        },
        _ => None,
    }
}

#[tokio::test]
async fn an_object_is_activated_called_by_each_of_its_interfaces_and_given_back() {
    let world = World::new().await;
    let mut lamp = world.activate(LAMP, ILamp::IID).await.unwrap();
    let mut other = world.activate(LAMP, ISwitch::IID).await.unwrap();
    assert_eq!(world.lamps(), 2);
    assert_eq!(brightness(&mut lamp).await.unwrap(), 0);
    lamp.proxy::<ISwitch>(soon()).await.unwrap().call(&ToggleRequest {}).await.unwrap();
    assert_eq!(brightness(&mut lamp).await.unwrap(), 40);
    assert_eq!(brightness(&mut other).await.unwrap(), 0, "another object");
    let Err(error) = lamp.proxy::<IHeater>(soon()).await else { panic!("a heater") };
    assert!(error.detail().contains("E_NOINTERFACE"), "{error}");
    lamp.release(soon()).await.unwrap();
    assert_eq!(world.lamps(), 1);
    other.release(soon()).await.unwrap();
    assert_eq!(world.lamps(), 0);
    let counts = world.host.counts();
    assert_eq!((counts.calls("activator", 4), counts.calls("rem-unknown2", 5)), (2, 2));
}

#[tokio::test]
async fn an_object_lives_while_it_is_pinged_and_no_longer() {
    let world = World::new().await;
    let mut lamp = world.activate(LAMP, ILamp::IID).await.unwrap();
    let pass = |seconds| world.clock.advance(Duration::from_secs(seconds));
    pass(359);
    lamp.keep_alive(soon()).await.unwrap();
    pass(359);
    assert_eq!(brightness(&mut lamp).await.unwrap(), 0);
    pass(1);
    let gone = brightness(&mut lamp).await.unwrap_err();
    assert_eq!(fault(&gone), Some(FaultStatus::RPC_E_DISCONNECTED), "{gone}");
    assert_eq!(world.lamps(), 0);
    lamp.release(soon()).await.unwrap();
}

#[tokio::test]
async fn anybody_may_ask_whether_the_resolver_is_alive_and_for_nothing_else() {
    let world = World::new().await;
    let mut plain = world.bind(world.resolver, None, IObjectExporter::SYNTAX_ID).await.unwrap();
    let mut client = Client::<_, IObjectExporter>::new(plain.channel(0, soon()));
    let alive = client.call(&ServerAlive2Request {}).await.unwrap();
    assert_eq!(alive.bindings.unwrap().strings[1].address, "127.0.0.1");
    let refused = client.call(&ResolveOxid2Request::tcp(Oxid(1))).await.unwrap_err();
    assert!(refused.to_string().contains("access denied"), "{refused}");

    let mut sealed =
        world.bind(world.resolver, Some(credentials()), IObjectExporter::SYNTAX_ID).await.unwrap();
    let mut client = Client::<_, IObjectExporter>::new(sealed.channel(0, soon()));
    let unknown = client.call(&ResolveOxid2Request::tcp(Oxid(1))).await.unwrap_err();
    assert_eq!(unknown.to_string(), "resolve oxid2: OR_INVALID_OXID");
}
