//! What an ordinary client gets.

use dcerpc::FaultStatus;
use dcerpc::client::ClientConfig;
use dcom::rpc_server::{Options, TcpListeners};
use host_session::rpc_client::{Association, Error, TcpTransport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::rpc_server::world::{
    CALLER, ECHO, REPEAT, WEB1, bind, bind_and_call, call, dial, dial_until, read_pdu, server, soon,
};

#[tokio::test]
async fn calls_over_loopback_are_answered_until_the_server_stops() {
    let server = server(Options::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listening = TcpListeners::start(&server, vec![listener]).unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let transport = TcpTransport::new(Box::new(stream));
    let bound = Association::bind(transport, &[ECHO], None, ClientConfig::default(), soon()).await;
    let mut association = bound.unwrap();
    // In many fragments on both ways.
    let stub = vec![7; 50_000];
    assert_eq!(association.call(call(REPEAT, &stub), soon()).await.unwrap(), stub);
    let caller = association.call(call(CALLER, &[]), soon()).await.unwrap();
    assert_eq!(String::from_utf8(caller).unwrap(), "nobody at 127.0.0.1, level 1");

    listening.stop().await;
    assert!(association.call(call(REPEAT, &[]), soon()).await.is_err());
    assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
    let counters = server.counters();
    assert_eq!((counters.connections(), counters.calls(), counters.faults()), (1, 2, 0));
    assert!(counters.refused().all(|(_, count)| count == 0));
}

#[tokio::test]
async fn a_fault_of_the_interface_reaches_the_client_and_the_association_goes_on() {
    let server = server(Options::default());
    let mut association = bind(dial(&server, WEB1).0, None).await.unwrap();
    match association.call(call(9, &[]), soon()).await {
        Err(Error::Fault { status: FaultStatus::NCA_S_OP_RNG_ERROR, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(association.call(call(REPEAT, b"again"), soon()).await.unwrap(), b"again");
    assert_eq!((server.counters().calls(), server.counters().faults()), (2, 1));
}

#[tokio::test]
async fn an_ipv4_address_is_the_same_however_the_socket_writes_it() {
    let is_allowed = std::sync::Arc::new(|peer| peer == WEB1);
    let server = server(Options { is_allowed, ..Options::default() });
    let mapped = "::ffff:10.0.0.1".parse().unwrap();
    let mut association = bind(dial(&server, mapped).0, None).await.unwrap();
    let caller = association.call(call(CALLER, &[]), soon()).await.unwrap();
    assert_eq!(String::from_utf8(caller).unwrap(), "nobody at 10.0.0.1, level 1");
}

#[tokio::test]
async fn an_answer_that_is_being_sent_is_sent_before_the_server_stops() {
    let server = server(Options::default());
    let (stop, stopped) = oneshot::channel::<()>();
    let (mut stream, served) = dial_until(&server, WEB1, async move { drop(stopped.await) });
    let (bind, call) = bind_and_call(&[7; 50_000]);
    stream.write_all(&bind).await.unwrap();
    read_pdu(&mut stream).await;
    stream.write_all(&call).await.unwrap();
    // The answer is longer than the stream is, so that the server waits for its reader.
    while server.counters().calls() == 0 {
        tokio::task::yield_now().await;
    }
    stop.send(()).unwrap();
    while read_pdu(&mut stream).await[3] & 2 == 0 {}
    served.await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
    assert!(server.counters().refused().all(|(_, count)| count == 0));
}

// C706 12.6.4.4: sec_addr of the bind_ack is the port as a text, with a NUL that its length counts.
#[tokio::test]
async fn a_bind_ack_names_the_port() {
    let server = server(Options::default());
    let (mut stream, _served) = dial(&server, WEB1);
    stream.write_all(&bind_and_call(&[]).0).await.unwrap();
    let ack = read_pdu(&mut stream).await;
    assert_eq!((ack[2], &ack[24..30]), (12, &b"\x04\x00135\0"[..]));
}
