use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use transport::{
    ConnectErrorKind, ConnectStage, Connector, Endpoint, Layered, MemoryNetwork, TraceOptions, Traced,
};

async fn failure(network: &MemoryNetwork, host: &str) -> (ConnectStage, ConnectErrorKind) {
    let deadline = Instant::now() + Duration::from_secs(3);
    let error = network.connect(&Endpoint::new(host, 445), deadline).await.err().unwrap();
    (error.stage, error.kind)
}

#[tokio::test(start_paused = true)]
async fn a_name_that_nobody_mentioned_does_not_resolve() {
    let network = MemoryNetwork::new();
    assert_eq!(failure(&network, "web1").await, (ConnectStage::Dns, ConnectErrorKind::NameNotFound));
}

#[tokio::test(start_paused = true)]
async fn a_port_without_a_listener_refuses() {
    let network = MemoryNetwork::new();
    network.add_host("web1");
    assert_eq!(failure(&network, "web1").await, (ConnectStage::Tcp, ConnectErrorKind::ConnectionRefused));
    drop(network.listen("web1", 445));
    assert_eq!(failure(&network, "web1").await, (ConnectStage::Tcp, ConnectErrorKind::ConnectionRefused));
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_answers_at_the_deadline_and_not_before() {
    let network = MemoryNetwork::new();
    network.black_hole("web1", 445);
    let before = Instant::now();
    assert_eq!(failure(&network, "web1").await, (ConnectStage::Tcp, ConnectErrorKind::Timeout));
    assert_eq!(before.elapsed(), Duration::from_secs(3));
}

#[tokio::test]
async fn hosts_are_told_apart_and_layers_see_every_stream() {
    let network = MemoryNetwork::new();
    let mut first = network.listen("web1", 445);
    let mut second = network.listen("web2", 445);
    let traced = Layered::new(network, |endpoint: &Endpoint, stream| {
        Box::new(Traced::new(stream, endpoint.clone(), TraceOptions::default())) as transport::BoxStream
    });
    let deadline = Instant::now() + Duration::from_secs(3);
    for (host, listener) in [("web1", &mut first), ("web2", &mut second)] {
        let mut client = traced.connect(&Endpoint::new(host, 445), deadline).await.unwrap();
        client.write_all(host.as_bytes()).await.unwrap();
        drop(client);
        let mut heard = String::new();
        listener.accept().await.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, host);
    }
}
