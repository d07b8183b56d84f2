//! Which connections are taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dcom::rpc_server::{Limits, Options, Refusal};
use tokio::io::AsyncReadExt;

use crate::rpc_server::world::{REPEAT, WEB1, WEB2, bind, call, dial, server, soon};

#[tokio::test]
async fn an_address_that_is_not_allowed_is_refused_before_it_sends_anything() {
    let allows = Arc::new(AtomicBool::new(false));
    let allowed = Arc::clone(&allows);
    let is_allowed = Arc::new(move |peer| peer == WEB1 && allowed.load(Ordering::Relaxed));
    let server = server(Options { is_allowed, ..Options::default() });
    for peer in [WEB1, WEB2] {
        let (mut stream, _) = dial(&server, peer);
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
    }
    assert_eq!(server.counters().refused_for(Refusal::Address), 2);
    assert_eq!(server.counters().connections(), 0);
    // A target was added: its next connection is taken.
    allows.store(true, Ordering::Relaxed);
    bind(dial(&server, WEB1).0, None).await.unwrap();
}

#[tokio::test]
async fn one_address_cannot_take_the_connections_of_others() {
    let limits = Limits { connections_max: 3, connections_per_peer_max: 2, ..Limits::default() };
    let server = server(Options { limits, ..Options::default() });
    let mut first = bind(dial(&server, WEB1).0, None).await.unwrap();
    let (stream, served) = dial(&server, WEB1);
    let second = bind(stream, None).await.unwrap();
    assert!(bind(dial(&server, WEB1).0, None).await.is_err());
    assert_eq!(server.counters().refused_for(Refusal::PeerConnections), 1);

    let other = bind(dial(&server, WEB2).0, None).await.unwrap();
    assert!(bind(dial(&server, WEB2).0, None).await.is_err());
    assert_eq!(server.counters().refused_for(Refusal::Connections), 1);

    // A connection that ends makes room.
    drop(second);
    served.await.unwrap();
    bind(dial(&server, WEB2).0, None).await.unwrap();
    assert_eq!(first.call(call(REPEAT, b"on"), soon()).await.unwrap(), b"on");
    drop(other);
}
