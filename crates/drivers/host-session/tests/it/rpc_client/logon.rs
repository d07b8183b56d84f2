use std::sync::Arc;
use std::sync::atomic::Ordering;

use host_session::rpc_client::{ErrorKind, SmbConnection, SmbOptions, Stage};
use parking_lot::Mutex;
use ssp::Mechanism;
use wire::NtStatus;

use crate::host::Rules;
use crate::rpc_client::calls::{
    REVERSE, bind, call, credentials, dial, let_the_host_work, log_on, poll_once, rules, soon,
};

#[tokio::test]
async fn a_wrong_password_is_sent_once() {
    let rules = Arc::new(rules());
    let mut smb =
        SmbConnection::negotiate(dial(&rules), "web1", SmbOptions::default(), soon()).await.unwrap();
    let error = smb.authenticate(credentials("hunter2"), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused(NtStatus::STATUS_LOGON_FAILURE));
    assert_eq!(error.stage(), Stage::Auth);
    assert_eq!((rules.logons_accepted(), rules.logons_rejected()), (0, 1));

    let again = smb.authenticate(credentials("hunter2"), soon()).await.unwrap_err();
    assert_eq!(again.kind(), error.kind(), "the first reason stays");
    assert_eq!(smb.connect_ipc(soon()).await.unwrap_err().kind(), error.kind());
    assert_eq!(rules.logons_rejected(), 1, "a connection that was refused does not ask again");
    assert!(!format!("{smb:?} {error:?} {error}").contains("hunter2"));
}

#[tokio::test]
async fn the_servers_reason_for_a_refusal_is_kept() {
    for status in [NtStatus::STATUS_ACCOUNT_LOCKED_OUT, NtStatus::STATUS_PASSWORD_EXPIRED] {
        let rules = Arc::new(Rules { refuses_logon: Mutex::new(Some(status)), ..rules() });
        let error = log_on(dial(&rules), SmbOptions::default()).await.unwrap_err();
        assert_eq!((error.kind(), error.stage()), (ErrorKind::Refused(status), Stage::Auth));
    }
}

#[tokio::test]
async fn the_server_tells_its_names_and_the_dialect() {
    let smb = log_on(dial(&Arc::new(rules())), SmbOptions::default()).await.unwrap();
    let smb = smb.lock().await;
    assert_eq!(smb.negotiated().unwrap().dialect, ms_smb2::Dialect::Smb3_1_1);
    assert!(smb.peer().server.is_some());
}

#[tokio::test]
async fn an_expired_session_authenticates_again_and_repeats_the_request() {
    let rules = Arc::new(rules());
    let smb = log_on(dial(&rules), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
    association.call(call(REVERSE, &[1, 2]), soon()).await.unwrap();
    let logons_before = rules.logons_accepted();
    rules.expires_after.store(1, Ordering::Relaxed);
    for stub in [[1, 2], [3, 4], [5, 6]] {
        let mut answer = association.call(call(REVERSE, &stub), soon()).await.unwrap();
        answer.reverse();
        assert_eq!(answer, stub);
    }
    assert_eq!(rules.logons_accepted(), logons_before + 1);
}

#[tokio::test]
async fn a_session_that_expires_into_a_refusal_ends_the_connection_after_one_attempt() {
    let rules = Arc::new(rules());
    let smb = log_on(dial(&rules), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
    let logons_before = rules.logons_accepted();
    *rules.refuses_logon.lock() = Some(NtStatus::STATUS_ACCOUNT_DISABLED);
    rules.expires_after.store(1, Ordering::Relaxed);
    association.call(call(REVERSE, &[1]), soon()).await.unwrap();
    let error = association.call(call(REVERSE, &[1]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused(NtStatus::STATUS_ACCOUNT_DISABLED));
    assert_eq!(error.stage(), Stage::Auth);
    assert!(!smb.lock().await.is_usable());
    assert_eq!(rules.logons_accepted(), logons_before + 1);
}

#[tokio::test]
async fn a_session_that_always_expires_is_given_up() {
    let rules = Arc::new(rules());
    let smb = log_on(dial(&rules), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
    let logons_before = rules.logons_accepted();
    rules.expires_at_once.store(true, Ordering::Relaxed);
    rules.expires_after.store(1, Ordering::Relaxed);
    association.call(call(REVERSE, &[1]), soon()).await.unwrap();
    let error = association.call(call(REVERSE, &[1]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert_eq!(rules.logons_accepted(), logons_before + SmbOptions::default().reauthentications_max);
}

#[tokio::test]
async fn another_authentication_that_is_dropped_half_way_ends_the_connection() {
    let rules = Arc::new(rules());
    let smb = log_on(dial(&rules), SmbOptions::default()).await.unwrap();
    let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
    rules.expires_after.store(1, Ordering::Relaxed);
    association.call(call(REVERSE, &[1]), soon()).await.unwrap();
    // The call is polled until the refusal has come and the first token of the new authentication is written.
    let mut repeated = Box::pin(association.call(call(REVERSE, &[1]), soon()));
    for _ in 0..2 {
        assert!(poll_once(&mut repeated).await.is_none());
        let_the_host_work().await;
    }
    drop(repeated);
    assert!(!smb.lock().await.is_usable());
}
