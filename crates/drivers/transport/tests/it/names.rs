use std::time::Duration;

use test_support::name_server::{NameServer, Reply};
use tokio::net::TcpListener;
use tokio::time::Instant;
use transport::resolver::{Files, Limits, Resolver};
use transport::{ConnectErrorKind, ConnectStage, Connector, Endpoint, TcpConnector};

#[tokio::test]
async fn three_hundred_silent_names_do_not_delay_connections_to_hosts_that_are_well() {
    let (server, folder) = (NameServer::start(None).unwrap(), tempfile::tempdir().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (hosts, resolv_conf) = (folder.path().join("hosts"), folder.path().join("resolv.conf"));
    std::fs::write(&hosts, "127.0.0.1 listed\n").unwrap();
    std::fs::write(&resolv_conf, "nameserver 127.0.0.1\noptions timeout:5 attempts:2\n").unwrap();
    let files = Files { hosts, resolv_conf, port: server.address().port() };
    let connector = TcpConnector::with_resolver(Resolver::new(files, Limits::default()));
    server.set("well.example", Reply::address("127.0.0.1"));
    server.set("broken.example", Reply::Code(2));
    let until = Instant::now() + Duration::from_secs(3);
    let silent: Vec<_> = (0..300)
        .map(|number| {
            let (connector, endpoint) =
                (connector.clone(), Endpoint::new(format!("silent{number}.example"), port));
            server.set(&endpoint.host, Reply::Silence);
            tokio::spawn(async move { connector.connect(&endpoint, until).await.map(drop) })
        })
        .collect();
    while server.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    for name in ["listed", "well.example"] {
        let connected = connector.connect(&Endpoint::new(name, port), until).await;
        assert!(connected.is_ok(), "{name}: {:?}", connected.err());
    }
    for (name, kind) in [
        ("broken.example", ConnectErrorKind::NameServerFailed),
        ("nobody.example", ConnectErrorKind::NameNotFound),
    ] {
        let error = connector.connect(&Endpoint::new(name, port), until).await.err().unwrap();
        assert_eq!((error.stage, error.kind), (ConnectStage::Dns, kind), "{error}");
    }
    assert!(Instant::now() < until, "those that are well waited for those that are not");
    for silent in silent {
        let error = silent.await.unwrap().unwrap_err();
        assert_eq!((error.stage, error.kind), (ConnectStage::Dns, ConnectErrorKind::NameLookupTimedOut));
    }
}
