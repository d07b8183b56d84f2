//! The state of calls that the program keeps, as other processes read it.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use dcerpc::AuthLevel;
use ms_smb2::client::ClientConfig;
use rpc_cells::view::{CallFilter, ServerCallRow, endpoints, server_calls};
use rpc_cells::{CallStatus, EndpointStatus, Level, ReadLimits, Snapshot, read_directory};
use tempfile::TempDir;
use tokio::net::TcpStream;
use wire::Guid;

use crate::client::{Failure, Rpc, Smb};
use crate::host::credentials;
use crate::program::{lines, program, refusal, terminate};

/// Nothing here takes long; a test that waits for what never comes ends.
const PATIENCE: Duration = Duration::from_secs(30);

fn snapshots(directory: &Path) -> Vec<Snapshot> {
    let files = read_directory(directory, &ReadLimits::default()).unwrap();
    files.into_iter().map(|file| file.snapshot.unwrap()).collect()
}

fn pids(directory: &Path) -> Vec<u32> {
    snapshots(directory).iter().map(|snapshot| snapshot.header.process.pid).collect()
}

fn calls(directory: &Path) -> Vec<ServerCallRow> {
    server_calls(&snapshots(directory), &CallFilter::default()).rows
}

/// A client that has bound the counters' interface of the program.
async fn connect(child: &mut Child) -> Result<Rpc, Failure> {
    let line = lines(child, 1).remove(0);
    let stream = TcpStream::connect(line.strip_prefix("listening on ").unwrap()).await.unwrap();
    let mut smb = Smb::over(stream, ClientConfig::new(Guid::from_u128(1), [7; 32]));
    smb.log_on(&credentials()).await?;
    let pipe = smb.open("winreg").await?;
    Rpc::bind(smb, pipe, &credentials(), AuthLevel::PKT_PRIVACY, 0).await
}

/// A program that keeps the state of its calls in `state`.
fn keeping(folder: &TempDir, more: &[&str]) -> Child {
    let state = folder.path().join("state");
    let mut command = program(folder);
    command.args(["--smb-port", "0", "--rpc-state"]).arg(state).args(more).spawn().unwrap()
}

#[tokio::test]
async fn a_call_in_progress_is_shown_also_after_the_process_was_killed_until_the_next_start() {
    let folder = TempDir::new().unwrap();
    let state = folder.path().join("state");
    let mut first = keeping(&folder, &["--fault", "pcq/*=delay:1h"]);
    let mut client = connect(&mut first).await.unwrap().perflib();
    let unanswered = tokio::spawn(async move { client.open_query_handle().await.map(drop) });
    let begun = Instant::now();
    let running = loop {
        tokio::task::yield_now().await;
        let found = calls(&state).into_iter().find(|call| call.status == CallStatus::DISPATCHED);
        if let Some(call) = found {
            break call;
        }
        assert!(begun.elapsed() < PATIENCE, "{:?}", calls(&state));
    };
    assert!(!unanswered.is_finished());
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(unanswered.await.unwrap().is_err());

    let left = snapshots(&state);
    let [snapshot] = &left[..] else { panic!("it could not remove its file: {left:?}") };
    assert!(!snapshot.header.process.is_running());
    assert_eq!((snapshot.header.level, snapshot.header.name.as_str()), (Level::SERVER, "windows-sim"));
    let [call] = &calls(&state)[..] else { panic!("{:?}", calls(&state)) };
    assert_eq!(call, &running);
    let names = (call.names.interface.as_deref(), call.names.method.as_deref());
    assert_eq!(names, (Some("PerflibV2"), Some("PerflibV2OpenQueryHandle")));
    let endpoints = endpoints(&left, None).rows;
    let [endpoint] = &endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!((endpoint.endpoint.as_str(), endpoint.status), (r"\PIPE\winreg", EndpointStatus::ACTIVE));

    let mut second = keeping(&folder, &["--rpc-state-level", "full"]);
    lines(&mut second, 1);
    assert_eq!(pids(&state), [second.id()], "the file of the dead process is gone");
    assert_eq!(snapshots(&state)[0].header.level, Level::FULL);
    assert_eq!(terminate(second), Some(0));
    assert_eq!(pids(&state), [], "nothing is left after a clean end");
}

#[test]
fn a_directory_that_cannot_be_used_ends_the_program_at_once() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing/state");
    let error = refusal(program(&folder).args(["--smb-port", "0", "--rpc-state"]).arg(missing));
    assert!(error.contains("No such file") && error.contains("--rpc-state: open run directory"), "{error}");
    assert!(error.contains("name a directory that only this user can write"), "{error}");
    let error = refusal(program(&folder).args(["--smb-port", "0", "--rpc-state-level", "full"]));
    assert!(error.contains("--rpc-state <DIR>"), "{error}");
}

#[test]
fn at_level_none_nothing_is_kept() {
    let folder = TempDir::new().unwrap();
    let mut child = keeping(&folder, &["--rpc-state-level", "none"]);
    lines(&mut child, 1);
    assert!(!folder.path().join("state").exists());
    assert_eq!(terminate(child), Some(0));
}
