use std::time::Duration;

use host_session::rpc_client::SmbOptions;
use host_session::{Options, Reason, Session, SessionError, Stage, Target, Verdict};
use ms_smb2::client::Encryption;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};
use transport::{Direction, Endpoint, FaultPlan, Faulty, Layered, MemoryNetwork};
use windows_sim::smb::Encryption as ServerEncryption;
use wire::NtStatus;

use crate::host::PASSWORD;
use crate::world::{INTERFACE, PIPE, World, credentials, soon};

async fn failure(network: &MemoryNetwork, host: &str) -> SessionError {
    let (target, credentials) = (Target::new(host, 445), credentials(PASSWORD));
    let options = Options::default();
    Session::connect(target, credentials, options, PIPE, &[INTERFACE], network, soon()).await.unwrap_err()
}

#[track_caller]
fn check(error: &SessionError, stage: Stage, reason: Reason, verdict: Verdict) {
    assert_eq!((error.stage, error.reason, error.verdict()), (stage, reason, verdict), "{error}");
    let text = error.to_string();
    assert!(text.contains(reason.advice()), "{text}");
    assert_eq!(error.stages.last().unwrap().stage, stage, "the stage that failed is reported, as the last");
    assert!(error.is_connection_lost());
    assert!(!format!("{text} {error:?}").contains(PASSWORD));
}

#[tokio::test(start_paused = true)]
async fn each_stage_on_the_way_to_a_host_is_reported() {
    let world = World::new(|_| {});
    let session = world.connect().await.unwrap();
    let stages: Vec<Stage> = session.stages().iter().map(|report| report.stage).collect();
    assert_eq!(stages, [Stage::Dns, Stage::Tcp, Stage::Smb, Stage::Auth, Stage::Pipe, Stage::Bind]);
    for report in &session.stages()[2..] {
        assert!(report.calls > 0 && report.sent_bytes > 0 && report.received_bytes > 0, "{report:?}");
    }
    assert_eq!(session.stages()[2].calls, 1, "one negotiation");
    assert_eq!(session.stages()[4].calls, 2, "the tree and the pipe");
    assert_eq!(session.host().dialect, ms_smb2::Dialect::Smb3_1_1);
    assert!(session.host().is_encrypted);
    assert!(!format!("{session:?}").contains(PASSWORD));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_reached_says_how_far_it_went() {
    let network = MemoryNetwork::new();
    check(&failure(&network, "web1").await, Stage::Dns, Reason::NameNotFound, Verdict::Unknown);
    network.add_host("web2");
    check(&failure(&network, "web2").await, Stage::Tcp, Reason::ConnectionRefused, Verdict::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_refused_or_silent_names_the_host_as_it_was_named_its_port_and_its_address() {
    let network = MemoryNetwork::new();
    network.add_host("web1.corp.example.com");
    network.black_hole("web2.corp.example.com", 445);
    let mut listener = network.listen("web3.corp.example.com", 445);
    let silent = tokio::spawn(async move { listener.accept().await });
    let refused = failure(&network, "web1.corp.example.com").await;
    assert_eq!(refused.detail(), "web1.corp.example.com:445 (198.18.0.1): connection refused");
    let text = refused.to_string();
    assert!(text.starts_with("web1.corp.example.com:445 (198.18.0.1): tcp: connection refused; "), "{text}");
    let hole = failure(&network, "web2.corp.example.com").await;
    assert_eq!(hole.detail(), "web2.corp.example.com:445 (198.18.0.2): no answer in time");
    let unknown = failure(&network, "web4.corp.example.com").await;
    assert_eq!(unknown.detail(), "web4.corp.example.com:445: the name has no address");
    // A server that accepts connections and never answers.
    let mute = failure(&network, "web3.corp.example.com").await;
    assert!(mute.detail().starts_with("web3.corp.example.com:445 (198.18.0.3): "), "{}", mute.detail());
    let text = mute.to_string();
    assert_eq!(text.matches("web3.corp.example.com").count(), 1, "{text}");
    assert!(text.starts_with("web3.corp.example.com:445 (198.18.0.3): smb: "), "{text}");
    drop(silent);
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_costs_the_connect_timeout_and_no_more() {
    let network = MemoryNetwork::new();
    network.black_hole("web1", 445);
    let before = Instant::now();
    let error = failure(&network, "web1").await;
    check(&error, Stage::Tcp, Reason::Timeout, Verdict::Unknown);
    assert_eq!(before.elapsed(), Options::default().connect_timeout);
    assert_eq!(error.stages.last().unwrap().duration, Options::default().connect_timeout);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_accepts_and_says_nothing_costs_the_deadline() {
    let network = MemoryNetwork::new();
    let mut listener = network.listen("web1", 445);
    let silent = tokio::spawn(async move { listener.accept().await });
    let before = Instant::now();
    check(&failure(&network, "web1").await, Stage::Smb, Reason::Timeout, Verdict::Unknown);
    assert_eq!(before.elapsed(), Duration::from_secs(10));
    drop(silent);
}

/// The failure at a server that answers every request with `reply`.
async fn failure_at(reply: &'static [u8]) -> SessionError {
    let network = MemoryNetwork::new();
    let mut listener = network.listen("web1", 445);
    tokio::spawn(async move {
        let mut stream = listener.accept().await;
        let mut request = [0; 1024];
        let _len = stream.read(&mut request).await.unwrap();
        stream.write_all(reply).await.unwrap();
    });
    failure(&network, "web1").await
}

#[tokio::test]
async fn a_server_that_speaks_smb1_only_or_no_smb_is_named_so() {
    const SMB1: &[u8] = b"\x00\x00\x00\x25\xffSMB\x72\0\0\0\0\x98\x53\xc8\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xfe\0\0\0\0\0\0\0\0\0";
    check(&failure_at(SMB1).await, Stage::Smb, Reason::Smb1Only, Verdict::Unknown);
    let http = failure_at(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    check(&http, Stage::Smb, Reason::ProtocolError, Verdict::Unknown);
}

#[tokio::test]
async fn a_wrong_password_is_tried_once_and_rejected() {
    let world = World::new(|_| {});
    let error = world.connect_with("hunter2", Options::default()).await.unwrap_err();
    check(&error, Stage::Auth, Reason::WrongCredentials, Verdict::Rejected);
    assert!(
        error.to_string().starts_with("web1:445: auth: authenticate: STATUS_LOGON_FAILURE; correct"),
        "{error}"
    );
    assert_eq!((world.rules.logons_accepted(), world.rules.logons_rejected()), (0, 1));
}

#[tokio::test]
async fn the_reasons_of_a_refused_logon_are_told_apart() {
    use Verdict::{Disabled, Locked, PasswordExpired, Rejected, Unknown};
    let table = [
        (NtStatus::STATUS_LOGON_FAILURE, Reason::WrongCredentials, Rejected),
        (NtStatus::STATUS_ACCOUNT_LOCKED_OUT, Reason::AccountLocked, Locked),
        (NtStatus::STATUS_ACCOUNT_DISABLED, Reason::AccountDisabled, Disabled),
        (NtStatus::STATUS_ACCOUNT_EXPIRED, Reason::AccountDisabled, Disabled),
        (NtStatus::STATUS_PASSWORD_EXPIRED, Reason::PasswordExpired, PasswordExpired),
        (NtStatus::STATUS_PASSWORD_MUST_CHANGE, Reason::PasswordExpired, PasswordExpired),
        (NtStatus::STATUS_INVALID_LOGON_HOURS, Reason::LogonRestricted, Unknown),
        (NtStatus::STATUS_LOGON_TYPE_NOT_GRANTED, Reason::LogonRestricted, Unknown),
        (NtStatus::STATUS_NTLM_BLOCKED, Reason::LogonRestricted, Unknown),
        (NtStatus::STATUS_TIME_DIFFERENCE_AT_DC, Reason::ClockSkew, Unknown),
        (NtStatus::STATUS_NOT_SUPPORTED, Reason::LogonRestricted, Unknown),
        (NtStatus::STATUS_NO_LOGON_SERVERS, Reason::ServerFault, Unknown),
        (NtStatus::STATUS_INSUFFICIENT_RESOURCES, Reason::Busy, Unknown),
        (NtStatus::STATUS_ACCESS_DENIED, Reason::AccessDenied, Unknown),
    ];
    for (status, reason, verdict) in table {
        let world = World::new(|rules| *rules.refuses_logon.lock() = Some(status));
        check(&world.connect().await.unwrap_err(), Stage::Auth, reason, verdict);
    }
}

#[tokio::test]
async fn encryption_that_one_side_requires_and_the_other_lacks_is_the_reason() {
    let with = |encryption| Options {
        smb: SmbOptions { encryption, ..SmbOptions::default() },
        ..Options::default()
    };
    let pairs = [
        (Encryption::Required, ServerEncryption::Disabled, Stage::Smb),
        (Encryption::Disabled, ServerEncryption::Required, Stage::Auth),
    ];
    for (ours, theirs, stage) in pairs {
        let world = World::new(|rules| rules.smb.encryption = theirs);
        let error = world.connect_with(PASSWORD, with(ours)).await.unwrap_err();
        check(&error, stage, Reason::EncryptionRequired, Verdict::Unknown);
    }
    let world = World::new(|rules| rules.smb.encryption = ServerEncryption::Allowed);
    assert!(world.connect_with(PASSWORD, with(Encryption::Required)).await.unwrap().host().is_encrypted);
}

#[tokio::test]
async fn a_host_without_the_interface_is_told_from_one_that_refuses_us() {
    let world = World::new(|rules| rules.interface.uuid = wire::Guid::from_u128(1));
    let error = world.connect().await.unwrap_err();
    assert_eq!(
        (error.stage, error.reason, error.verdict()),
        (Stage::Bind, Reason::NotFound, Verdict::Accepted)
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_cut_on_the_way_fails_at_once_with_a_stage() {
    let mut seen = Vec::new();
    for offset in (0..4000).step_by(29) {
        let world = World::new(|_| {});
        let plan = FaultPlan { cut: Some((Direction::Received, offset)), ..FaultPlan::default() };
        let cutting = Layered::new(world.network.clone(), move |_: &Endpoint, stream| {
            Box::new(Faulty::new(stream, plan.clone())) as transport::BoxStream
        });
        let (target, credentials) = (Target::new("web1", 445), credentials(PASSWORD));
        let options = Options::default();
        let connecting = Session::connect(target, credentials, options, PIPE, &[INTERFACE], &cutting, soon());
        let Err(error) = timeout(Duration::from_secs(1), connecting).await.unwrap() else { break };
        assert!(matches!(error.reason, Reason::ConnectionReset | Reason::Smb1Only), "{offset}: {error}");
        assert!(error.is_connection_lost());
        seen.push(error.stage);
    }
    seen.dedup();
    assert_eq!(seen, [Stage::Smb, Stage::Auth, Stage::Pipe, Stage::Bind]);
}
