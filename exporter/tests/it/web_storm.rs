//! More connections than anybody should open.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::program::Folder;
use crate::web_gate::{Authority, U_U, ask};

pub(crate) async fn connect(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).unwrap();
    socket.connect(to).await.unwrap()
}

async fn healthy(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> bool {
    let request = b"GET /-/healthy HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
    let mut answer = String::new();
    stream.write_all(request).await.is_ok()
        && stream.read_to_string(&mut answer).await.is_ok()
        && answer.starts_with("HTTP/1.1 200 OK")
}

#[tokio::test]
async fn a_peer_that_takes_all_it_gets_leaves_room_for_the_others() {
    let config = r#"web: {listen: ["127.0.0.1:0"], max_connections: 32, max_connections_per_peer: 8}"#;
    let exporter = Folder::new().serve(config);
    let (stormy, calm) = (Ipv4Addr::new(127, 0, 0, 66), Ipv4Addr::new(127, 0, 0, 1));
    let mut held = Vec::new();
    for round in 0..20 {
        // Ten at a time that say nothing: eight stay, the others are closed at once.
        for _ in 0..10 {
            held.push(connect(stormy, exporter.address).await);
        }
        assert!(healthy(connect(calm, exporter.address).await).await, "round {round}");
    }
    let mut closed = 0;
    for stream in &mut held {
        let mut byte = [0];
        // Those that stay say nothing before their time for a head is over.
        let read = tokio::time::timeout(std::time::Duration::from_millis(5), stream.read(&mut byte)).await;
        closed += usize::from(matches!(read, Ok(Ok(0) | Err(_))));
    }
    assert_eq!(held.len() - closed, 8);
    let page = exporter.get("/metrics").body;
    let refused = "perfmon_exporter_web_connections_refused_total{reason=\"peer_connections\"} 192\n";
    assert!(page.contains(refused), "{page}");
    // Who lets go may come again.
    drop(held);
    loop {
        if healthy(connect(stormy, exporter.address).await).await {
            break;
        }
    }
}

#[tokio::test]
async fn connections_that_idle_make_room_in_a_crowd() {
    let config = r#"web: {listen: ["127.0.0.1:0"], max_connections: 8, idle_timeout: 1h}"#;
    let exporter = Folder::new().serve(config);
    let mut held = Vec::new();
    for peer in 60..68 {
        let mut stream = connect(Ipv4Addr::new(127, 0, 0, peer), exporter.address).await;
        stream.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        stream.read_exact(&mut [0; 12]).await.unwrap();
        held.push(stream);
    }
    // Each of the eight places is taken by another peer that keeps its connection.
    assert!(healthy(connect(Ipv4Addr::LOCALHOST, exporter.address).await).await);
}

#[tokio::test]
async fn connections_that_never_ask_make_room_in_a_crowd() {
    let config = r#"web: {listen: ["127.0.0.1:0"], max_connections: 8, header_timeout: 5m}"#;
    let exporter = Folder::new().serve(config);
    let mut held = Vec::new();
    for peer in 60..68 {
        let mut stream = connect(Ipv4Addr::new(127, 0, 0, peer), exporter.address).await;
        // Some say nothing at all.
        stream.write_all(&b"GET /-/healthy HT"[..usize::from(peer % 2) * 17]).await.unwrap();
        held.push(stream);
    }
    let calm = async { healthy(connect(Ipv4Addr::LOCALHOST, exporter.address).await).await };
    assert!(tokio::time::timeout(std::time::Duration::from_secs(60), calm).await.unwrap());
}

#[tokio::test]
async fn half_a_handshake_takes_no_others_place() {
    let (folder, authority) = (Folder::new(), Authority::new());
    authority.write(&folder, "web", |_| {});
    folder.write("web.yml", "tls_server_config: {cert_file: web.crt, key_file: web.key}\n");
    let exporter = folder.serve(
        r#"web: {listen: ["127.0.0.1:0"], config_file: web.yml, max_connections_per_peer: 200, handshake_timeout: 60s}"#,
    );
    let calm = Ipv4Addr::new(127, 0, 0, 1);
    let mut held = Vec::new();
    // More than there are places for handshakes, of one peer and then of all together.
    for index in 0..200 {
        let stormy = Ipv4Addr::new(127, 0, 0, 66 + index / 100 * (index % 10));
        let mut stream = connect(stormy, exporter.address).await;
        stream.write_all(b"\x16\x03\x01\x02\x00").await.unwrap();
        held.push(stream);
    }
    let connector = TlsConnector::from(authority.client(None, &[]));
    for _ in 0..10 {
        let stream = connect(calm, exporter.address).await;
        let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        assert!(healthy(stream).await);
    }
}

#[tokio::test]
async fn a_storm_of_scrapes_is_answered_or_told_to_come_again() {
    let config = r#"web: {listen: ["127.0.0.1:0"], max_connections: 64, max_scrapes: 2}"#;
    let exporter = Folder::new().serve(config);
    let address = exporter.address;
    let scrapes = (0..200).map(|index| {
        tokio::spawn(async move {
            let mut stream = connect(Ipv4Addr::new(127, 0, 1, index % 50), address).await;
            let request = b"GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
            stream.write_all(request).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let is_whole = answer.ends_with("\r\n0\r\n\r\n");
            match answer.get(..12) {
                Some("HTTP/1.1 200") => assert!(is_whole, "{answer}"),
                Some("HTTP/1.1 503") => assert!(answer.contains("retry-after: 1"), "{answer}"),
                other => panic!("{other:?}"),
            }
        })
    });
    for scrape in scrapes.collect::<Vec<_>>() {
        scrape.await.unwrap();
    }
    assert!(healthy(connect(Ipv4Addr::LOCALHOST, address).await).await);
}

#[tokio::test]
async fn a_storm_of_guesses_is_told_to_come_again_and_counted() {
    let folder = Folder::new();
    // Nobody knows the password of `bob`, and to compare one with it takes a second.
    let slow = "$2b$14$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01232";
    folder.write("web.yml", &format!("basic_auth_users: {{alice: {U_U}, bob: {slow}}}\n"));
    let exporter = folder.serve(r#"web: {listen: ["127.0.0.1:0"], config_file: web.yml}"#);
    let basic = |credentials: &str| format!("Basic {}", STANDARD.encode(credentials));
    let login = basic("alice:U*U");
    assert_eq!(ask(&exporter, "/metrics", &login).status, 200);
    let mut storm = Vec::new();
    // One is compared, 64 wait.
    for _ in 0..1 + 64 + 8 {
        storm.push(connect(Ipv4Addr::new(127, 0, 0, 66), exporter.address).await);
    }
    let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
    for (number, mut stream) in storm.into_iter().enumerate() {
        let guess = basic(&format!("bob:guess {number}"));
        let request = format!("GET /metrics HTTP/1.1\r\nHost: here\r\nAuthorization: {guess}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answered = answered.clone();
        tokio::spawn(async move {
            let mut answer = [0; 512];
            let read = stream.read(&mut answer).await.unwrap();
            let _ = answered.send(String::from_utf8_lossy(&answer[..read]).into_owned());
        });
    }
    for _ in 0..8 {
        let answer = answers.recv().await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 1\r\n"), "{answer}");
    }
    let page = ask(&exporter, "/metrics", &login).body;
    let busy = "perfmon_exporter_web_auth_failures_total{reason=\"busy\"} 8\n";
    assert!(page.contains(busy), "{page}");
}

#[tokio::test]
async fn probes_that_hang_leave_room_for_everything_else() {
    let config = r#"
web: {listen: ["127.0.0.1:0"], max_connections: 32}
plugins: {path: ., load: [stall]}
scrape: {interval: 5m, deadline: 1m}
probe: {deadline: 1m}
modules: {all: {plugin: stall}}
targets: [{name: tomb, host: tomb, modules: [all]}]
"#;
    let folder = Folder::new();
    let exporter = folder.plugin("stall", "stall.c").serve(config);
    let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
    for index in 0..32 {
        // Half of the connections are all that a peer gets: these two have all.
        let stormy = Ipv4Addr::new(127, 0, 0, 66 + index % 2);
        let mut stream = connect(stormy, exporter.address).await;
        stream.write_all(b"GET /probe?target=tomb HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        let answered = answered.clone();
        tokio::spawn(async move {
            let mut answer = [0; 512];
            let read = stream.read(&mut answer).await.unwrap();
            let _ = answered.send(String::from_utf8_lossy(&answer[..read]).into_owned());
            std::future::pending::<()>().await;
        });
    }
    // Of each peer's 16 probes, 12 wait.
    for _ in 0..8 {
        let answer = answers.recv().await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 1"), "{answer}");
        assert!(answer.contains("12 probes of 127.0.0.6") && answer.contains("are running"), "{answer}");
    }
    let calm = Ipv4Addr::LOCALHOST;
    for _ in 0..10 {
        assert!(healthy(connect(calm, exporter.address).await).await);
        let page = exporter.get("/metrics");
        assert_eq!(page.status, 200);
        assert!(page.body.contains("perfmon_exporter_build_info"), "{}", page.body);
    }
}

#[tokio::test]
async fn idle_connections_do_not_lock_their_own_peer_out() {
    let exporter = Folder::new().serve(r#"web: {listen: ["127.0.0.1:0"], idle_timeout: 1h}"#);
    let proxy = Ipv4Addr::new(127, 0, 0, 66);
    let mut held = Vec::new();
    // As many as one peer gets, and then as many again.
    for index in 0..512 {
        let mut stream = connect(proxy, exporter.address).await;
        stream.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        let mut status = [0; 12];
        assert!(stream.read_exact(&mut status).await.is_ok(), "connection {index}");
        assert_eq!(&status, b"HTTP/1.1 200");
        if held.len() == 256 {
            // The one that was idle for longest was ended.
            let mut oldest: TcpStream = held.remove(0);
            let mut rest = Vec::new();
            oldest.read_to_end(&mut rest).await.unwrap();
        }
        held.push(stream);
    }
    let page = exporter.get("/metrics").body;
    let refused = "perfmon_exporter_web_connections_refused_total{reason=\"peer_connections\"} 0\n";
    assert!(page.contains(refused), "{page}");
}
