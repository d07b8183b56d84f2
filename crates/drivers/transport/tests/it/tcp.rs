use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;
use transport::{ConnectErrorKind, ConnectStage, Connector, Counted, Endpoint, TcpConnector};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3)
}

async fn closed_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn bytes_go_both_ways_and_are_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new("localhost", listener.local_addr().unwrap().port());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 3];
        stream.read_exact(&mut request).await.unwrap();
        stream.write_all(b"reply").await.unwrap();
    });
    let mut client = Counted::new(TcpConnector::default().connect(&endpoint, soon()).await.unwrap());
    client.write_all(b"ask").await.unwrap();
    let mut reply = String::new();
    client.read_to_string(&mut reply).await.unwrap();
    server.await.unwrap();
    assert_eq!(reply, "reply");
    assert_eq!((client.counter().sent_bytes(), client.counter().received_bytes()), (3, 5));
}

#[tokio::test]
async fn a_closed_port_is_refused_at_the_tcp_stage() {
    let address = closed_address().await;
    let endpoint = Endpoint::new("127.0.0.1", address.port());
    let error = TcpConnector::default().connect(&endpoint, soon()).await.err().unwrap();
    assert_eq!((error.stage, error.kind), (ConnectStage::Tcp, ConnectErrorKind::ConnectionRefused));
    assert!(
        error.to_string().starts_with(&format!("connect to {endpoint}: tcp: connection refused")),
        "{error}"
    );
}

#[tokio::test]
async fn an_address_that_refuses_does_not_hide_one_that_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addresses = [closed_address().await, listener.local_addr().unwrap()];
    let endpoint = Endpoint::new("web1", 445);
    let connected = TcpConnector::default().connect_to(&endpoint, &addresses, soon()).await;
    assert!(connected.is_ok());
}

#[tokio::test]
async fn a_name_that_cannot_exist_fails_at_the_dns_stage() {
    // A label above 63 bytes is refused by the resolver itself, without a network.
    let endpoint = Endpoint::new("x".repeat(64), 445);
    let error = TcpConnector::default().connect(&endpoint, soon()).await.err().unwrap();
    assert_eq!((error.stage, error.kind), (ConnectStage::Dns, ConnectErrorKind::NameNotFound));
}

#[tokio::test]
async fn a_deadline_in_the_past_fails_at_once() {
    // Nobody accepts, but the listen queue completes connections: the deadline must win over a ready connection.
    let endpoint = Endpoint::new("192.0.2.1", 445);
    let past = Instant::now() - Duration::from_millis(1);
    let error = TcpConnector::default().connect(&endpoint, past).await.err().unwrap();
    assert_eq!(error.stage, ConnectStage::Tcp);
    assert!(matches!(error.kind, ConnectErrorKind::Timeout | ConnectErrorKind::Unreachable), "{error}");
}
