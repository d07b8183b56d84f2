use std::sync::Arc;
use std::time::Duration;

use host_session::rpc_client::{Error, ErrorKind, SmbConnection, SmbOptions, Stage};
use ms_smb2::Dialect;
use ms_smb2::client::Encryption;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::Instant;
use windows_sim::smb::Encryption as ServerEncryption;

use crate::rpc_client::calls::{dial, log_on, rules, soon};

/// The error of a negotiation that is answered with `reply` and the end of the stream.
async fn answered_with(reply: &'static [u8]) -> Error {
    let (near, mut far) = duplex(4096);
    tokio::spawn(async move {
        let mut request = [0; 4096];
        let _len = far.read(&mut request).await.unwrap();
        far.write_all(reply).await.unwrap();
    });
    SmbConnection::negotiate(Box::new(near), "web1", SmbOptions::default(), soon()).await.unwrap_err()
}

#[tokio::test]
async fn a_server_that_answers_in_smb1_or_hangs_up_is_called_smb1_only() {
    const SMB1: &[u8] = b"\x00\x00\x00\x25\xffSMB\x72\0\0\0\0\x98\x53\xc8\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xfe\0\0\0\0\0\0\0\0\0";
    for reply in [SMB1, b""] {
        let error = answered_with(reply).await;
        assert_eq!((error.kind(), error.stage()), (ErrorKind::Smb1Only, Stage::Smb), "{error}");
    }
}

#[tokio::test]
async fn a_server_of_another_protocol_is_malformed() {
    let error = answered_with(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert_eq!((error.kind(), error.stage()), (ErrorKind::Malformed, Stage::Smb), "{error}");
}

#[tokio::test]
async fn a_frame_that_announces_too_much_is_refused_before_it_arrives() {
    let error = answered_with(b"\x00\xff\xff\xff").await;
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
}

#[tokio::test]
async fn a_server_without_encryption_is_refused_where_encryption_is_required() {
    let rules = Arc::new(rules().with_encryption(ServerEncryption::Disabled));
    let options = SmbOptions { encryption: Encryption::Required, ..SmbOptions::default() };
    let error = log_on(dial(&rules), options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encryption, "{error}");
    assert_eq!(rules.logons_accepted(), 0, "and before the password is used");
}

#[tokio::test]
async fn a_server_that_demands_encryption_is_refused_where_it_is_disabled() {
    let rules = Arc::new(rules().with_encryption(ServerEncryption::Required));
    let options = SmbOptions { encryption: Encryption::Disabled, ..SmbOptions::default() };
    let error = log_on(dial(&rules), options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Encryption, "{error}");
}

#[tokio::test]
async fn a_server_whose_dialects_have_no_encryption_is_refused_where_encryption_is_required() {
    let mut rules = rules();
    rules.smb.dialects = vec![Dialect::Smb2_1];
    let options = SmbOptions { encryption: Encryption::Required, ..SmbOptions::default() };
    let error = log_on(dial(&Arc::new(rules)), options).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::Encryption, Stage::Smb), "{error}");
}

#[tokio::test]
async fn a_server_that_shares_no_dialect_is_as_good_as_one_that_speaks_smb1() {
    let mut rules = rules();
    rules.smb.dialects = vec![Dialect::Smb2_1];
    let options = SmbOptions { dialects: vec![Dialect::Smb3_1_1], ..SmbOptions::default() };
    let error = log_on(dial(&Arc::new(rules)), options).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::Smb1Only, Stage::Smb), "{error}");
}

#[tokio::test]
async fn every_dialect_is_spoken() {
    for dialect in Dialect::ALL {
        let mut rules = rules();
        rules.smb.dialects = vec![dialect];
        let smb = log_on(dial(&Arc::new(rules)), SmbOptions::default()).await.unwrap();
        assert_eq!(smb.lock().await.negotiated().unwrap().dialect, dialect);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_costs_the_deadline_and_no_more() {
    let (near, _far) = duplex(4096);
    let before = Instant::now();
    let outcome = SmbConnection::negotiate(Box::new(near), "web1", SmbOptions::default(), soon()).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Timeout);
    assert_eq!(before.elapsed(), Duration::from_secs(10));
}
