//! Process dumps: what the host takes, refuses and keeps.

use std::sync::Arc;
use std::time::Duration;

use com::comt::{DumpProcessRequest, IProcessDump, IsSupportedRequest, ids};
use com::oaut::{Bstr, IDispatch};
use dcom::client::Object;
use rpc::Error;
use rpc::orpc::ObjectInterface;
use transport::TcpConnector;
use windows_sim::ProcessDump;
use windows_sim::choices::ProcessDumps;
use wire::{Guid, HResult};

use super::{World, soon};
use crate::host::credentials;

const DUMPS: &str = r"C:\Dumps";

/// An object that may act as its client.
async fn dumper(world: &World) -> Object {
    let resolver = world.log_on(credentials()).await.unwrap().permit_impersonation();
    let interfaces = [IProcessDump::IID];
    resolver
        .activate(ids::PROCESS_DUMP_CLASS, &interfaces, Arc::new(TcpConnector::default()), soon())
        .await
        .unwrap()
}

/// The distinguished container of a process: Orders, Billing, Billing, Reports, Archive.
fn container(world: &World, process: usize) -> Guid {
    world.source.com_processes(&world.source.moment())[process].containers[0].container_id
}

async fn dump(object: &mut Object, request: &DumpProcessRequest) -> Result<String, HResult> {
    let mut proxy = object.proxy::<IProcessDump>(soon()).await.unwrap();
    match proxy.call(request).await {
        Ok(reply) => Ok(reply.file.text().unwrap().unwrap()),
        Err(Error::Status { status, .. }) => Err(status),
        Err(error) => panic!("{error}"),
    }
}

async fn dump_to(object: &mut Object, world: &World, directory: &str) -> Result<String, HResult> {
    let request = DumpProcessRequest::new(container(world, 0), Some(directory), 0).unwrap();
    dump(object, &request).await
}

#[tokio::test]
async fn a_dump_is_named_after_application_and_time_and_is_in_the_list() {
    let world = World::new().await;
    let mut object = dumper(&world).await;
    let mut proxy = object.proxy::<IProcessDump>(soon()).await.unwrap();
    assert!(proxy.reply(&IsSupportedRequest {}).await.unwrap().is_supported());
    let path = dump_to(&mut object, &world, r"c:\dumps\").await.unwrap();
    assert_eq!(path, r"c:\dumps\{A911CA70-0000-4000-8000-000000000001}-2026_10_31_12_00_00");
    world.clock.advance(Duration::from_secs(1));
    for nowhere in [None, Some("")] {
        let request = DumpProcessRequest::new(container(&world, 0), nowhere, 0).unwrap();
        let own = dump(&mut object, &request).await.unwrap();
        assert!(own.starts_with(r"C:\Windows\System32\com\dmp\{A911CA70"), "{own}");
    }
    let dumps = world.host.dumps();
    assert_eq!(dumps.len(), 2, "one of the same second was written again: {dumps:?}");
    let process = world.source.com_processes(&world.source.moment())[0].process_id;
    assert_eq!((dumps[0].path(), dumps[0].process_id), (path, process));
}

#[tokio::test]
async fn the_oldest_dump_of_an_application_makes_room_for_the_newest() {
    let world = World::new().await;
    let mut object = dumper(&world).await;
    let mut paths = Vec::new();
    let orders = container(&world, 0);
    for directory in [DUMPS, r"C:\DUMPS", r"c:\dumps"] {
        let request = DumpProcessRequest::new(orders, Some(directory), 2).unwrap();
        paths.push(dump(&mut object, &request).await.unwrap());
        world.clock.advance(Duration::from_secs(1));
    }
    let kept: Vec<String> = world.host.dumps().iter().map(ProcessDump::path).collect();
    assert_eq!(kept, paths[1..]);
    // Those of other applications and in other directories do not count.
    let of_another = DumpProcessRequest::new(container(&world, 1), Some(DUMPS), 1).unwrap();
    dump(&mut object, &of_another).await.unwrap();
    dump_to(&mut object, &world, r"D:\").await.unwrap();
    assert_eq!(world.host.dumps().len(), 4);
    // The application's own limit.
    for _ in 0..6 {
        world.clock.advance(Duration::from_secs(1));
        let own = DumpProcessRequest::new(container(&world, 0), None, 0).unwrap();
        dump(&mut object, &own).await.unwrap();
    }
    assert_eq!(world.host.dumps().len(), 4 + 5);
}

#[tokio::test]
async fn what_cannot_be_dumped_is_refused() {
    let world = World::new().await;
    let mut object = dumper(&world).await;
    let nobodys = DumpProcessRequest::new(Guid::from_u128(1), Some(DUMPS), 0).unwrap();
    assert_eq!(dump(&mut object, &nobodys).await, Err(HResult::E_INVALIDARG));
    let bare = Bstr::new(&container(&world, 0).to_string()).unwrap();
    let without_braces = DumpProcessRequest { container: bare, ..nobodys };
    assert_eq!(dump(&mut object, &without_braces).await, Err(HResult::E_INVALIDARG));
    // The container of a process that is recycled ends with it.
    let reports = DumpProcessRequest::new(container(&world, 3), Some(DUMPS), 0).unwrap();
    dump(&mut object, &reports).await.unwrap();
    world.clock.advance(Duration::from_secs(900));
    let mut object = dumper(&world).await;
    assert_eq!(dump(&mut object, &reports).await, Err(HResult::E_INVALIDARG));
    let long = format!(r"C:\{}", "d".repeat(258));
    for (directory, status) in [
        (long.as_str(), 0x8007_0057),
        ("dumps", 0x8007_007b),
        (r"C:dumps", 0x8007_007b),
        (r"C:\what?", 0x8007_007b),
        (r"\\files\dumps", 0x8007_0035),
        (r"E:\dumps", 0x8007_0003),
        (r"c:\system volume information\dumps", 0x8007_0005),
    ] {
        let refused = dump_to(&mut object, &world, directory).await;
        assert_eq!(refused, Err(HResult(status)), "{directory}");
    }
    assert_eq!(world.host.dumps().len(), 1);
    dump_to(&mut object, &world, &long[..260]).await.unwrap();
}

#[tokio::test]
async fn a_client_that_may_not_be_impersonated_gets_no_dump() {
    let world = World::new().await;
    let mut object = world.activate(ids::PROCESS_DUMP_CLASS, IProcessDump::IID).await.unwrap();
    let bad_impersonation_level = HResult(0x8007_0542);
    assert_eq!(dump_to(&mut object, &world, DUMPS).await, Err(bad_impersonation_level));
    assert_eq!(world.host.dumps(), []);
}

#[tokio::test]
async fn a_host_without_dumps_says_so() {
    let world = World::new().await;
    world.host.change_behaviour(|behaviour| {
        behaviour.choices.com_plus.process_dumps = ProcessDumps::Unsupported;
    });
    let mut object = dumper(&world).await;
    let mut proxy = object.proxy::<IProcessDump>(soon()).await.unwrap();
    assert!(!proxy.call(&IsSupportedRequest {}).await.unwrap().is_supported());
    assert_eq!(dump_to(&mut object, &world, DUMPS).await, Err(HResult::E_NOTIMPL));
    // And scripts cannot use it.
    let Err(error) = object.proxy::<IDispatch>(soon()).await else { panic!("it is not for scripts") };
    assert!(error.to_string().contains("E_NOINTERFACE"), "{error}");
}
