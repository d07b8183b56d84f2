//! Receivers on a socket: one that goes away and returns, and servers that speak no HTTP, too much of it, or too slowly.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use alerts::{AlertOptions, Notifier, ReceiverOptions, UrlSource};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use plugin_abi::AlertState::{Closed, Opened};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::support::{ALERTMANAGER, Fake, at, feed, options, tell, url};

const GRACE: Duration = Duration::from_secs(30);

/// A notifier whose only receiver is an Alertmanager at this port.
fn notifier(port: u16, timeout: Duration) -> Notifier {
    let mut notifier = Notifier::new();
    let receiver = ReceiverOptions {
        url: UrlSource::Plain(url(&format!("http://127.0.0.1:{port}/api/v2/alerts"))),
        timeout,
        ..ReceiverOptions::clone(&options(ALERTMANAGER))
    };
    let options = AlertOptions { receivers: vec![Arc::new(receiver)], ..AlertOptions::default() };
    notifier.set(&options, None, GRACE);
    notifier
}

/// Serves on this port until the task is aborted, with all its connections.
async fn serve(fake: &Arc<Fake>, port: u16) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await.expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let fake = Arc::clone(fake);
    let serving = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let fake = Arc::clone(&fake);
            let service = service_fn(move |request| Arc::clone(&fake).answer(request));
            let http = hyper::server::conn::http1::Builder::new();
            connections.spawn(http.serve_connection(TokioIo::new(stream), service));
        }
    });
    (port, serving)
}

fn ids_and_ends(requests: &[crate::support::Received]) -> Vec<(String, bool)> {
    let all = requests.iter().flat_map(crate::support::Received::alerts);
    let mut rows: Vec<(String, bool)> = all
        .map(|row| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&row["labels"]["id"]), text(&row["endsAt"]) == "2025-06-15T15:08:20.000Z")
        })
        .collect();
    rows.sort();
    rows
}

#[tokio::test]
async fn an_alertmanager_that_goes_away_and_returns_hears_what_fires_again_and_what_ended() {
    let fake = Fake::new([]);
    let (port, serving) = serve(&fake, 0).await;
    let notifier = notifier(port, Duration::from_secs(10));
    let counts = Arc::clone(&notifier.counts().get()[0]);
    let web = feed(notifier.registry(), "web1");
    tell(&web, "ends", Opened, &[], at(0));
    fake.received(1).await;
    tell(&web, "again", Opened, &[], at(0));
    fake.received(2).await;
    serving.abort();
    // It ends once its connections have.
    assert!(serving.await.is_err_and(|error| error.is_cancelled()));
    let before = fake.now().len();
    tell(&web, "ends", Closed, &[], at(100));
    tell(&web, "again", Closed, &[], at(90));
    tell(&web, "again", Opened, &[], at(110));
    tell(&web, "new", Opened, &[], at(120));
    while counts.last().is_up() != Some(false) {
        tokio::task::yield_now().await;
    }
    let (_, _again) = serve(&fake, port).await;
    let mut requests = fake.received(before + 1).await.split_off(before);
    while ids_and_ends(&requests).len() < 3 {
        requests = fake.received(before + requests.len() + 1).await.split_off(before);
    }
    let row = |id: &str, has_ended: bool| (id.to_owned(), has_ended);
    assert_eq!(ids_and_ends(&requests), [row("again", false), row("ends", true), row("new", false)]);
    notifier.stop(GRACE).await;
    assert!(counts.dropped().iter().all(|(_, count)| *count == 0), "{:?}", counts.dropped());
}

/// What a server says to its first connection: `begin`, and then `again` without end, or nothing more.
#[derive(Clone, Copy)]
struct Says {
    begin: &'static [u8],
    again: &'static [u8],
}

/// A server whose later connections take everything. Notified of each request that is answered.
async fn server(says: Says, answered: Arc<Notify>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("its number").port();
    tokio::spawn(async move {
        let mut is_first = true;
        while let Ok((stream, _)) = listener.accept().await {
            let well = Says { begin: b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", again: b"" };
            let says = if std::mem::take(&mut is_first) { says } else { well };
            tokio::spawn(speak(stream, says, Arc::clone(&answered)));
        }
    });
    port
}

async fn speak(mut stream: TcpStream, says: Says, answered: Arc<Notify>) {
    let mut request = [0; 1024];
    if stream.read(&mut request).await.is_err() || stream.write_all(says.begin).await.is_err() {
        return;
    }
    answered.notify_one();
    // Until the client has heard enough.
    while !says.again.is_empty() && stream.write_all(says.again).await.is_ok() {
        tokio::task::yield_now().await;
    }
    while stream.read(&mut request).await.is_ok_and(|bytes| bytes > 0) {}
}

/// What is said of a receiver, and whether its answer takes the alerts.
async fn outcome(says: Says, is_taken: bool, timeout: Duration) -> Vec<(&'static str, u64)> {
    let answered = Arc::new(Notify::new());
    let port = server(says, Arc::clone(&answered)).await;
    let notifier = notifier(port, timeout);
    let counts = Arc::clone(&notifier.counts().get()[0]);
    tell(&feed(notifier.registry(), "web1"), "low", Opened, &[], at(0));
    answered.notified().await;
    if !is_taken {
        answered.notified().await;
    }
    notifier.stop(GRACE).await;
    assert_eq!((counts.sent(), counts.waiting()), (1, 0));
    if let Some((_, _, message)) = counts.last().failure {
        assert!(!message.contains(char::is_control) && message.chars().count() <= 300, "{message:?}");
    }
    counts.failed().into_iter().filter(|(_, count)| *count > 0).collect()
}

const LONG: [u8; 4096] = [b'a'; 4096];

#[test]
fn an_answer_without_end_without_sense_or_without_hurry_costs_little_and_loses_nothing() {
    let says = |begin, again| Says { begin, again };
    let taken = [
        says(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n", &LONG),
        says(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>", b""),
        says(b"HTTP/1.1 299 \x80\xff\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", b""),
    ];
    let failed = [
        ("unreachable", says(b"HTTP/1.1 200 OK\r\nx: ", &LONG)),
        ("unreachable", says(b"HTTP/1.1 200 OK\r\n", b"x-y: z\r\n")),
        ("unreachable", says(b"SSH-2.0-OpenSSH_9.6\r\n", b"")),
        ("unreachable", says(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", b"")),
        ("timeout", says(b"HTTP/1.1 2", b"")),
        ("timeout", says(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", b"")),
        ("timeout", says(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n")),
        (
            "busy",
            says(b"HTTP/1.1 503 x\r\nconnection: close\r\ncontent-length: 12\r\nretry-after: x\r\n\r\n\x1b[31mslow\r\n\0", b""),
        ),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a run time");
    let used = allocation_counter::measure(|| {
        runtime.block_on(async {
            let mut all = tokio::task::JoinSet::new();
            for says in taken {
                all.spawn(async move { assert_eq!(outcome(says, true, GRACE).await, []) });
            }
            for (reason, says) in failed {
                // What has to come to its end by itself gets the time for it.
                let timeout = if reason == "timeout" { Duration::from_secs(2) } else { GRACE };
                all.spawn(async move { assert_eq!(outcome(says, false, timeout).await, [(reason, 1)]) });
            }
            all.join_all().await;
        });
    });
    assert!(used.bytes_max < 16 << 20, "{} bytes at a time", used.bytes_max);
}
