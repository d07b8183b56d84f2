//! Associations directly over a stream.

use std::sync::Arc;
use std::time::Duration;

use dcerpc::client::ClientConfig;
use dcerpc::server::{ServerAssociation, ServerConfig, ServerEvent};
use host_session::rpc_client::{
    Association, Error, ErrorKind, Operation, Security, Stage, TcpTransport, Transport,
};
use ssp::{Mechanism, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::{Instant, timeout};

use crate::host::{Answer, PASSWORD, acceptor, mechanism};
use crate::rpc_client::calls::{ECHO, REVERSE, SILENCE, call, credentials, echo, pattern, rules, soon};

/// A stream to an RPC server that answers like the pipes, or endlessly if `endless`.
fn dial(endless: bool) -> TcpTransport {
    let (near, mut far) = duplex(64 * 1024);
    let rules = Arc::new(rules());
    tokio::spawn(async move {
        let accept = move |service| mechanism(service).map(|m| acceptor(&rules, m, Usage::Rpc));
        let mut association = ServerAssociation::new(ServerConfig::new(vec![ECHO]), accept);
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(len @ 1..) = far.read(&mut buffer).await {
            if association.handle_bytes(&buffer[..len]).is_err() {
                return;
            }
            while let Some(event) = association.poll_event() {
                let ServerEvent::Request(call) = event else { continue };
                match echo_or_greet(&call) {
                    Answer::Response(stub) => association.respond(call.call_id, &stub).unwrap(),
                    _ => continue,
                }
            }
            while let Some(mut pdu) = association.poll_transmit() {
                let is_response = pdu[2] == 2;
                if endless && is_response {
                    pdu[3] &= !2 /* PFC_LAST_FRAG */;
                    while far.write_all(&pdu).await.is_ok() {
                        pdu[3] &= !1 /* PFC_FIRST_FRAG */;
                    }
                    return;
                }
                if far.write_all(&pdu).await.is_err() {
                    return;
                }
            }
        }
    });
    TcpTransport::new(Box::new(near))
}

/// Calls without protection are answered here, unlike behind the pipes.
fn echo_or_greet(call: &dcerpc::server::IncomingCall) -> Answer {
    match call.auth_level {
        dcerpc::AuthLevel::NONE => Answer::Response(b"hello".to_vec()),
        _ => echo(call),
    }
}

async fn bind(
    transport: TcpTransport,
    security: Option<&Security>,
) -> Result<Association<TcpTransport>, Error> {
    Association::bind(transport, &[ECHO], security, ClientConfig::default(), soon()).await
}

#[tokio::test]
async fn sealed_calls_work_over_a_plain_stream() {
    for mechanism in [Mechanism::Ntlm, Mechanism::Negotiate] {
        let security = Security { mechanism, ..Security::sealed(credentials(PASSWORD), "host/web1") };
        let mut association = bind(dial(false), Some(&security)).await.unwrap();
        for len in [0, 10, 50_000] {
            let stub = pattern(len);
            let mut answer = association.call(call(REVERSE, &stub), soon()).await.unwrap();
            answer.reverse();
            assert_eq!(answer, stub);
        }
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused_by_the_rpc_server_too() {
    for mechanism in [Mechanism::Ntlm, Mechanism::Negotiate] {
        let security = Security { mechanism, ..Security::sealed(credentials("hunter2"), "host/web1") };
        let error = match bind(dial(false), Some(&security)).await {
            // After the last leg of NTLM, which has no answer, the verdict comes with the first call.
            Ok(mut association) => association.call(call(REVERSE, &[1]), soon()).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error.stage(), Stage::Bind | Stage::Query), "{error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up_at_the_limit() {
    let mut config = ClientConfig::default();
    config.limits.fragments_max = 100;
    let mut association = Association::bind(dial(true), &[ECHO], None, config, soon()).await.unwrap();
    let error = association.call(call(REVERSE, &[]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(!association.is_usable());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_never_answered_to_the_next() {
    let security = Security::sealed(credentials(PASSWORD), "host/web1");
    let mut association = bind(dial(false), Some(&security)).await.unwrap();
    let dropped = timeout(Duration::from_millis(1), association.call(call(SILENCE, &[]), soon())).await;
    assert!(dropped.is_err());
    let before = Instant::now();
    let error = association.call(call(REVERSE, &[]), soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Abandoned);
    let error = association.into_transport().receive(Operation::Read, soon()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Abandoned, "the stream refuses too");
    assert_eq!(before.elapsed(), Duration::ZERO);
}
