//! A session that is kept, and what is left of it when something ends.

use std::time::Duration;

use dcerpc::FaultStatus;
use ms_dtyp::{NtStatus, Win32Error};
use tokio::time::{Instant, timeout};
use windows_session::{Reason, Recovery, Session, SessionError, Stage};

use crate::world::{SET, ServerMode, World, soon};

async fn poll(session: &mut Session) -> Result<(), SessionError> {
    match session.perflib(soon()).enumerate_counter_set().await {
        Ok(sets) => {
            assert_eq!(sets, [SET]);
            Ok(())
        }
        Err(error) => Err(session.error(&error)),
    }
}

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
async fn what_the_host_answers_decides_the_reason_and_leaves_the_session() {
    use Recovery::{Handle, Nothing};
    let table = [
        (ServerMode::Fails(Win32Error::ERROR_WMI_GUID_NOT_FOUND), Stage::Query, Reason::NotFound, Nothing),
        (ServerMode::Fails(Win32Error::ERROR_NO_SYSTEM_RESOURCES), Stage::Query, Reason::Busy, Nothing),
        (ServerMode::Fails(Win32Error::ERROR_INVALID_PARAMETER), Stage::Query, Reason::ServerFault, Nothing),
        (ServerMode::Fails(Win32Error::ERROR_INVALID_HANDLE), Stage::Query, Reason::ServerFault, Handle),
        (ServerMode::Faults(FaultStatus::NCA_S_SERVER_TOO_BUSY), Stage::Query, Reason::Busy, Nothing),
        (ServerMode::Faults(FaultStatus::RPC_X_BAD_STUB_DATA), Stage::Query, Reason::ServerFault, Handle),
        (ServerMode::Faults(FaultStatus(0xc000_0005)), Stage::Query, Reason::ServerFault, Handle),
        (ServerMode::Garbage, Stage::Decode, Reason::MalformedReply, Nothing),
    ];
    for (mode, stage, reason, recovery) in table {
        let (_world, mut session, error) = poll_in(mode).await;
        assert_eq!((error.stage, error.reason), (stage, reason), "{mode:?}: {error}");
        assert_eq!(error.recovery, recovery, "{mode:?}: {error}");
        assert!(error.to_string().contains("enumerate countersets"), "the method is named: {error}");
        poll(&mut session).await.unwrap();
    }
}

#[tokio::test]
async fn who_is_denied_access_logs_on_anew_since_rights_count_from_the_next_logon_on() {
    let table = [
        ServerMode::Fails(Win32Error::ERROR_ACCESS_DENIED),
        ServerMode::Faults(FaultStatus::NCA_S_FAULT_ACCESS_DENIED),
    ];
    for mode in table {
        let (_world, _session, error) = poll_in(mode).await;
        assert_eq!((error.stage, error.reason), (Stage::Query, Reason::AccessDenied), "{mode:?}: {error}");
        assert!(error.is_connection_lost(), "{mode:?}: {error}");
    }
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
async fn a_handle_that_the_service_forgot_is_told_from_a_lost_session() {
    let world = World::new(|_| {});
    let mut session = world.connect().await.unwrap();
    let mut query = session.perflib(soon()).open_query_handle().await.unwrap();
    world.forget_handles();
    let error = session.perflib(soon()).query_counter_data(&mut query).await.unwrap_err();
    let error = session.error(&error);
    assert!(error.is_handle_lost(), "{error}");
    assert!(!error.is_connection_lost());
    assert!(session.perflib(soon()).open_query_handle().await.is_ok());
}

#[tokio::test]
async fn a_service_that_ended_costs_a_pipe_and_a_bind_and_no_logon_in_smb() {
    let (world, mut session, error) = poll_in(ServerMode::HangsUp).await;
    assert_eq!((error.stage, error.reason), (Stage::Query, Reason::ConnectionReset), "{error}");
    assert_eq!(error.recovery, Recovery::Pipe, "{error}");
    assert!(!session.is_usable());
    let logons = world.rules.logons_accepted();
    world.rules.open_refusals.lock().unwrap().push_back(NtStatus::STATUS_PIPE_NOT_AVAILABLE);
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
