//! A kept session, and what remains usable after failures.

use std::time::Duration;

use dcerpc::FaultStatus;
use host_session::{Reason, Recovery, Session, SessionError, Stage, Target};
use tokio::time::{Instant, timeout};
use wire::{NtStatus, Win32Error};

use crate::world::{INTERFACE, PIPE, ServerMode, World, poll, soon};

async fn poll_in(mode: ServerMode) -> (World, Session, SessionError) {
    let world = World::new(|_| {});
    let mut session = world.connect().await.unwrap();
    poll(&mut session).await.unwrap();
    world.set_mode(mode);
    let error = poll(&mut session).await.unwrap_err();
    world.set_mode(ServerMode::Works);
    (world, session, error)
}

#[tokio::test]
async fn a_session_is_kept_between_polls_and_counts_its_calls() {
    let world = World::new(|_| {});
    let mut session = world.connect().await.unwrap();
    let logons = world.rules.logons_accepted();
    let timer = session.start_stage(Stage::Query);
    for _ in 0..3 {
        poll(&mut session).await.unwrap();
    }
    let report = session.stop_stage(timer);
    assert_eq!((report.stage, report.calls), (Stage::Query, 3));
    assert!(report.sent_bytes > 0 && report.received_bytes > 0);
    session.echo(soon()).await.unwrap();
    assert_eq!(world.rules.logons_accepted(), logons, "nobody logs on again");
}

#[tokio::test]
async fn a_fault_decides_the_reason_and_leaves_the_session() {
    use Recovery::{Handle, Nothing};
    let table = [
        (FaultStatus::NCA_S_SERVER_TOO_BUSY, Reason::Busy, Nothing),
        (FaultStatus::RPC_X_BAD_STUB_DATA, Reason::ServerFault, Handle),
        (FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH, Reason::ServerFault, Handle),
        (FaultStatus(0xc000_0005), Reason::ServerFault, Handle),
    ];
    for (status, reason, recovery) in table {
        let (_world, mut session, error) = poll_in(ServerMode::Faults(status)).await;
        assert_eq!((error.stage, error.reason), (Stage::Query, reason), "{status}: {error}");
        assert_eq!(error.recovery, recovery, "{status}: {error}");
        assert_eq!(error.is_handle_lost(), recovery == Handle, "{status}");
        assert!(error.detail().starts_with("the method: "), "the method is named: {error}");
        poll(&mut session).await.unwrap();
    }
}

#[test]
fn a_status_that_a_method_returns_decides_the_reason_and_what_is_left() {
    let table = [
        (Win32Error::ERROR_WMI_GUID_NOT_FOUND, Reason::NotFound, Recovery::Nothing),
        (Win32Error::ERROR_NO_SYSTEM_RESOURCES, Reason::Busy, Recovery::Nothing),
        (Win32Error::ERROR_INVALID_PARAMETER, Reason::ServerFault, Recovery::Nothing),
        (Win32Error::ERROR_INVALID_HANDLE, Reason::ServerFault, Recovery::Handle),
        (Win32Error::ERROR_ACCESS_DENIED, Reason::AccessDenied, Recovery::Connection),
    ];
    for (status, reason, recovery) in table {
        let why = std::io::Error::other("the method: not today");
        let error = SessionError::of_status(&Target::new("web1", 445), status, &why);
        assert_eq!((error.stage, error.reason, error.recovery), (Stage::Query, reason, recovery), "{status}");
        assert_eq!(error.detail(), "the method: not today");
    }
}

#[tokio::test]
async fn who_is_denied_access_logs_on_anew_since_rights_count_from_the_next_logon_on() {
    let denied = ServerMode::Faults(FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
    let (_world, _session, error) = poll_in(denied).await;
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::AccessDenied), "{error}");
    assert!(error.is_connection_lost(), "{error}");
}

#[tokio::test]
async fn a_second_association_does_not_touch_the_first() {
    let world = World::new(|_| {});
    let mut session = world.connect().await.unwrap();
    let logons = world.rules.logons_accepted();
    let second = session.open_association(PIPE, &[INTERFACE], soon()).await.unwrap();
    assert_eq!(world.rules.logons_accepted(), logons + 1, "in RPC");
    second.into_transport().close(soon()).await.unwrap();
    poll(&mut session).await.unwrap();
    let elsewhere = [dcerpc::SyntaxId::new(wire::Guid::from_u128(1), 1, 0)];
    let refused = session.open_association(PIPE, &elsewhere, soon()).await.unwrap_err();
    assert_eq!((refused.stage, refused.reason), (Stage::Bind, Reason::NotFound), "{refused}");
    assert_eq!(refused.stages.last().map(|report| report.stage), Some(Stage::Bind));
    assert!(session.is_connected());
    poll(&mut session).await.unwrap();
}

#[tokio::test]
async fn a_share_that_the_host_let_go_of_ends_the_connection() {
    let world = World::new(|_| {});
    let mut session = world.connect().await.unwrap();
    for (status, is_connected) in
        [(NtStatus::STATUS_ACCESS_DENIED, true), (NtStatus::STATUS_NETWORK_NAME_DELETED, false)]
    {
        world.rules.open_refusals.lock().push_back(status);
        session.open_association(PIPE, &[INTERFACE], soon()).await.unwrap_err();
        assert_eq!(session.is_connected(), is_connected, "{status}");
    }
}

#[tokio::test]
async fn each_interface_that_is_asked_for_has_an_answer() {
    let world = World::new(|_| {});
    let elsewhere = dcerpc::SyntaxId::new(wire::Guid::from_u128(1), 1, 0);
    let session = world.connect_to(&[INTERFACE, elsewhere]).await.unwrap();
    let answers: Vec<bool> = session.contexts().iter().map(|context| context.outcome.is_ok()).collect();
    assert_eq!(answers, [true, false]);
}

#[tokio::test]
async fn an_interface_that_is_gone_from_a_pipe_that_is_not_costs_the_pipe() {
    let (_world, mut session, error) = poll_in(ServerMode::Faults(FaultStatus::NCA_S_UNK_IF)).await;
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::RemoteRegistryStopped), "{error}");
    assert_eq!(error.recovery, Recovery::Pipe, "{error}");
    session.reopen(soon()).await.unwrap();
    poll(&mut session).await.unwrap();
}

#[tokio::test]
async fn a_service_that_ended_costs_a_pipe_and_a_bind_and_no_logon_in_smb() {
    let (world, mut session, error) = poll_in(ServerMode::HangsUp).await;
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::ConnectionReset), "{error}");
    assert_eq!(error.recovery, Recovery::Pipe, "{error}");
    assert!(!session.is_usable());
    let logons = world.rules.logons_accepted();
    world.rules.open_refusals.lock().push_back(NtStatus::STATUS_PIPE_NOT_AVAILABLE);
    session.reopen(soon()).await.unwrap();
    let stages: Vec<Stage> = session.stages().iter().map(|report| report.stage).collect();
    assert_eq!(stages, [Stage::Pipe, Stage::Bind]);
    assert_eq!(world.rules.logons_accepted(), logons + 1, "RPC's own");
    poll(&mut session).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gets_no_answer_ends_at_the_deadline_and_the_session_with_it() {
    let before = Instant::now();
    let (world, mut session, error) = poll_in(ServerMode::Silent).await;
    assert_eq!(before.elapsed(), Duration::from_secs(10));
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::Timeout), "{error}");
    assert!(error.is_connection_lost());
    assert!(!session.is_usable());
    let error = poll(&mut session).await.unwrap_err();
    assert!(error.is_connection_lost(), "a session that was given up does not answer for another call");
    poll(&mut world.connect().await.unwrap()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_dropped_half_way_leaves_a_session_that_refuses() {
    let world = World::new(|_| {});
    let mut session = world.connect().await.unwrap();
    world.set_mode(ServerMode::Silent);
    assert!(timeout(Duration::from_secs(1), poll(&mut session)).await.is_err());
    world.set_mode(ServerMode::Works);
    assert!(!session.is_usable());
    assert!(poll(&mut session).await.unwrap_err().is_connection_lost());
}
