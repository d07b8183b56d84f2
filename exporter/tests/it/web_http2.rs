//! HTTP/2 over TLS: what its readers get, and what they do not get away with.

use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::program::{Exporter, Folder};
use crate::web_gate::Authority;
use crate::web_raw::large_page;
use crate::web_storm::connect;

const WEB: &str = "tls_server_config: {cert_file: web.crt, key_file: web.key}\n";

struct World {
    authority: Authority,
    exporter: Exporter,
    _folder: Folder,
}

impl World {
    fn new(web: &str, more: &str) -> Self {
        Self::of(web, &format!(r#"web: {{listen: ["127.0.0.1:0"], config_file: web.yml{more}}}"#))
    }

    /// With a page of some 800 KiB.
    fn large(more: &str) -> Self {
        let mut world = Self::of(WEB, &large_page(&format!("config_file: web.yml{more}"), 10));
        for _ in 0..10 {
            world.exporter.wait_for_line("Target is up");
        }
        world
    }

    fn of(web: &str, config: &str) -> Self {
        let (folder, authority) = (Folder::new(), Authority::new());
        authority.write(&folder, "web", |_| {});
        folder.plugin("pulse", "pulse.c").write("web.yml", web);
        let exporter = folder.serve(config);
        Self { authority, exporter, _folder: folder }
    }

    async fn connect(&self) -> TlsStream<TcpStream> {
        self.connect_from(Ipv4Addr::LOCALHOST).await
    }

    async fn connect_from(&self, from: Ipv4Addr) -> TlsStream<TcpStream> {
        let connector = TlsConnector::from(self.authority.client(None, &[b"h2", b"http/1.1"]));
        let stream = connect(from, self.exporter.address).await;
        connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap()
    }

    /// A client whose streams have so much room.
    async fn client(&self, window: u32) -> SendRequest<Empty<Bytes>> {
        self.client_from(Ipv4Addr::LOCALHOST, window).await
    }

    async fn client_from(&self, from: Ipv4Addr, window: u32) -> SendRequest<Empty<Bytes>> {
        let stream = self.connect_from(from).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut builder = Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        let (client, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

fn get(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("https://localhost{path}")).body(Empty::new()).unwrap()
}

#[tokio::test]
async fn many_requests_share_a_connection() {
    let world = World::new(WEB, "");
    let mut client = world.client(1 << 20).await;
    // How many streams there may be at a time is known with the first answer.
    assert_eq!(client.send_request(get("/")).await.unwrap().status(), 200);
    let answers = (0..50).map(|_| {
        let mut client = client.clone();
        tokio::spawn(async move {
            let answer = client.send_request(get("/-/healthy")).await.unwrap();
            assert_eq!((answer.status().as_u16(), answer.version()), (200, Version::HTTP_2));
            answer.into_body().collect().await.unwrap().to_bytes()
        })
    });
    for answer in answers.collect::<Vec<_>>() {
        assert_eq!(answer.await.unwrap(), "healthy\n");
    }
    let long = client.send_request(get(&format!("/{}", "x".repeat(9 << 10)))).await.unwrap();
    assert_eq!(long.status(), 414);
    let request =
        Request::get("https://localhost/").header("x", "y".repeat(40 << 10)).body(Empty::new()).unwrap();
    assert_eq!(client.send_request(request).await.unwrap().status(), 431);
    // The connection is still good.
    let page = client.send_request(get("/metrics")).await.unwrap().into_body().collect().await.unwrap();
    let page = String::from_utf8(page.to_bytes().to_vec()).unwrap();
    assert!(page.contains("perfmon_exporter_http_connections 1\n"), "{page}");
}

#[tokio::test]
async fn it_is_spoken_where_it_is_not_switched_off() {
    let world = World::new(&format!("{WEB}http_server_config: {{http2: false}}\n"), "");
    assert_eq!(world.connect().await.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
}

#[tokio::test]
async fn a_reader_that_makes_no_room_for_its_stream_loses_it_and_keeps_the_others() {
    let world = World::large(", write_timeout: 300ms, max_scrapes: 1");
    let mut client = world.client(1024).await;
    let stuck = client.send_request(get("/metrics")).await.unwrap();
    assert_eq!(stuck.status(), 200);
    // The only place for a page is taken until then.
    loop {
        let next = client.send_request(get("/metrics")).await.unwrap();
        match next.status().as_u16() {
            200 => break,
            status => assert_eq!(status, 503),
        }
    }
    let error = stuck.into_body().collect().await.expect_err("a page of 1024 bytes");
    assert!(format!("{error:?}").contains("CANCEL"), "{error:?}");
    let healthy = client.send_request(get("/-/healthy")).await.unwrap();
    assert_eq!(healthy.status(), 200);
}

#[tokio::test]
async fn streams_without_room_keep_no_other_peer_from_the_page() {
    let world = World::large("");
    let (mut held, mut pages, mut pages_later) = (Vec::new(), Vec::new(), Vec::new());
    // More streams than there are permits, of one peer and then of two.
    for attacker in [66, 67] {
        let mut client = world.client_from(Ipv4Addr::new(127, 0, 0, attacker), 0).await;
        assert_eq!(client.send_request(get("/-/healthy")).await.unwrap().status(), 200);
        let (stuck, mut stuck_streams) = tokio::sync::mpsc::unbounded_channel();
        held.extend((0..20).map(|_| {
            let (mut client, stuck) = (client.clone(), stuck.clone());
            tokio::spawn(async move {
                // As soon as it has a page, which it never reads.
                while let Ok(page) = client.send_request(get("/metrics")).await {
                    if page.status() == 200 {
                        stuck.send(page).unwrap();
                    }
                }
            })
        }));
        // A peer gets as many at once.
        for _ in 0..2 {
            pages.push(stuck_streams.recv().await.unwrap());
        }
        pages_later.push(stuck_streams);
        for round in 0..10 {
            let mut victim = world.client(1 << 20).await;
            let page = victim.send_request(get("/metrics")).await.unwrap();
            assert_eq!(page.status(), 200, "{attacker}, round {round}");
            page.into_body().collect().await.unwrap();
        }
    }
    held.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_reader_that_takes_too_long_loses_its_stream_however_steadily_it_reads() {
    let world = World::large(", answer_timeout: 1s");
    let mut client = world.client(1024).await;
    let mut body = client.send_request(get("/metrics")).await.unwrap().into_body();
    let mut read = 0;
    let outcome = loop {
        // A frame of 1024 bytes each tenth of a second: more than a minute for the page.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            Some(Ok(frame)) => read += frame.into_data().map_or(0, |data| data.len()),
            end => break end,
        }
    };
    assert!(matches!(outcome, Some(Err(_))), "{outcome:?} after {read} bytes");
}

/// A request that its peer takes back at once, on this stream.
fn request_and_reset(stream: u32) -> Vec<u8> {
    // By the static table of RFC 7541: `:method: GET`, `:path: /`, `:scheme: https`; `:authority` is spelt out.
    let fields = b"\x82\x84\x87\x41\x09localhost";
    let mut frames = vec![
        0,
        0,
        u8::try_from(fields.len()).unwrap(),
        /* HEADERS */ 1,
        /* END_HEADERS, END_STREAM */ 5,
    ];
    frames.extend(stream.to_be_bytes());
    frames.extend(fields);
    frames.extend([0, 0, 4, /* RST_STREAM */ 3, 0]);
    frames.extend(stream.to_be_bytes());
    frames.extend(/* CANCEL */ 8_u32.to_be_bytes());
    frames
}

#[tokio::test]
async fn connections_that_reset_their_requests_too_fast_are_one_line_of_the_log() {
    let mut world = World::new(WEB, "");
    let attack: Vec<u8> = (0..100).flat_map(|number| request_and_reset(2 * number + 1)).collect();
    let attack = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".as_slice(), &attack].concat();
    for _ in 0..100 {
        let mut stream = world.connect().await;
        stream.write_all(&attack).await.unwrap();
        let mut room = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut room).await;
        // The reason of the GOAWAY is ENHANCE_YOUR_CALM.
        assert!(room.windows(4).any(|bytes| bytes == [0, 0, 0, 11]), "{room:?}");
    }
    world.exporter.terminate();
    world.exporter.wait();
    let log = world.exporter.rest_of_log();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    assert_eq!(warnings.len(), 1, "{log}");
    for part in ["HTTP/2 connection closed", "peer=127.0.0.1:", "next_step=", "excessive load"] {
        assert!(warnings[0].contains(part), "{part}: {}", warnings[0]);
    }
}

#[tokio::test]
async fn a_connection_that_says_nothing_after_its_handshake_ends() {
    let world = World::new(WEB, ", header_timeout: 100ms");
    let mut stream = world.connect().await;
    // The preface of RFC 9113 3.4 with no settings and no request after it.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut room = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut room).await;
    // The end came, and with it a GOAWAY.
    assert!(room.windows(4).any(|bytes| bytes == [0, 0, 8, 7]), "{room:?}");
    drop(Arc::new(world));
}
