//! Readers of `/metrics` that take nothing, or next to nothing, while others want to read it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::program::{Exporter, Folder};
use crate::web_raw::large_page;
use crate::web_storm::connect;

const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
const VICTIM: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// An exporter whose page has some 3 MiB.
fn serve(web: &str) -> (Folder, Exporter) {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&large_page(web, 40));
    for _ in 0..40 {
        exporter.wait_for_line("Target is up");
    }
    (folder, exporter)
}

/// Asks for the page, and reads its status line alone: the rest does not fit into the buffers between us.
async fn stuck(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    stream
}

/// The status of the page, which is read to its end.
async fn status(from: Ipv4Addr, to: SocketAddr) -> String {
    let mut stream = connect(from, to).await;
    stream.write_all(REQUEST).await.unwrap();
    let mut page = Vec::new();
    stream.read_to_end(&mut page).await.unwrap();
    let status = String::from_utf8_lossy(&page[..12]).into_owned();
    assert!(status != "HTTP/1.1 200" || page.ends_with(b"\r\n0\r\n\r\n"), "half a page");
    status
}

#[tokio::test]
async fn readers_of_one_peer_that_take_nothing_keep_nobody_else_from_the_page() {
    let (_folder, exporter) = serve("");
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(stuck(Ipv4Addr::new(127, 0, 0, 66), exporter.address).await);
    }
    for round in 0..20 {
        assert_eq!(status(VICTIM, exporter.address).await, "HTTP/1.1 200", "round {round}");
    }
}

#[tokio::test]
async fn readers_of_many_peers_that_take_nothing_lose_their_pages_to_others() {
    let (_folder, mut exporter) = serve("");
    let mut held = Vec::new();
    for attacker in 60..70 {
        held.push(stuck(Ipv4Addr::new(127, 0, 0, attacker), exporter.address).await);
    }
    for round in 0..20 {
        assert_eq!(status(VICTIM, exporter.address).await, "HTTP/1.1 200", "round {round}");
    }
    let line = exporter.wait_for_line("ended in favour of another reader");
    assert!(line.contains("peer=127.0.0.6") && line.contains("web.max_scrapes"), "{line}");
    let displaced = "perfmon_exporter_scrapes_total{outcome=\"displaced\"} ";
    exporter.wait_for_page(|page| {
        let line = page.lines().find_map(|line| line.strip_prefix(displaced));
        line.is_some_and(|count| count != "0")
    });
}

#[tokio::test]
async fn a_byte_now_and_then_keeps_no_permit() {
    let (_folder, exporter) = serve("");
    let address = exporter.address;
    let drips = (60..70).map(|attacker| {
        tokio::spawn(async move {
            let mut stream = stuck(Ipv4Addr::new(127, 0, 0, attacker), address).await;
            let mut pause = tokio::time::interval(std::time::Duration::from_millis(100));
            while stream.read_u8().await.is_ok() {
                pause.tick().await;
            }
        })
    });
    let drips: Vec<_> = drips.collect();
    for round in 0..20 {
        assert_eq!(status(VICTIM, address).await, "HTTP/1.1 200", "round {round}");
    }
    drips.iter().for_each(tokio::task::JoinHandle::abort);
}
