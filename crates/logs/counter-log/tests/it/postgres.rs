use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use counter_log::database::{PostgresSettings, PostgresSink, Tls};
use counter_log::{LogSink, SinkError, SinkErrorKind};
use tokio::net::TcpListener;

use crate::invented::{batch, log};
use crate::server::{Authority, PASSWORD, TRUSTED, message, serve_flood, serve_once, serve_tls, settings};

/// What comes of writing a record by these settings, which must fail.
async fn failure(settings: Arc<PostgresSettings>) -> SinkError {
    let mut sink = PostgresSink::new(settings, log("Nightly", "WEB1", 1));
    let written = sink.write(&batch(1, 0..1)).await;
    assert_eq!(written.records, 0);
    let failure = written.failure.expect("no server behaves so");
    assert!(
        failure.message.chars().count() < 600 && !failure.message.contains(char::is_control),
        "{failure}"
    );
    failure
}

/// The failure that `answer` leads to, and what the client has sent.
async fn answered(answer: Vec<u8>) -> (SinkError, Vec<u8>) {
    let (settings, server) = serve_once(answer).await;
    let failure = failure(settings).await;
    (failure, server.await.expect("the server does not panic"))
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has free ports");
    let address = listener.local_addr().expect("it listens");
    drop(listener);
    assert_eq!(failure(Arc::new(settings(address))).await.kind, SinkErrorKind::Unavailable);
}

#[tokio::test]
async fn a_silent_server_is_left_in_time() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has free ports");
    let mut silent = settings(listener.local_addr().expect("it listens"));
    silent.connect_timeout = Duration::from_millis(50);
    let failure = failure(Arc::new(silent)).await;
    assert_eq!(failure.kind, SinkErrorKind::Unavailable);
    assert!(failure.message.contains("no connection within 50ms"), "{failure}");
}

#[tokio::test]
async fn a_server_that_falls_silent_is_left_in_time() {
    let (settings, server) = serve_once(TRUSTED.concat()).await;
    let mut settings = PostgresSettings::clone(&settings);
    settings.statement_timeout = Duration::from_millis(50);
    let failure = failure(Arc::new(settings)).await;
    assert_eq!(failure.kind, SinkErrorKind::Unavailable);
    server.await.expect("the client closes the connection");
}

#[tokio::test]
async fn the_password_goes_only_by_scram() {
    for kind in [3, 5] {
        let answer = message(b'R', &[0, 0, 0, kind, 1, 2, 3, 4]);
        let (failure, sent) = answered(answer).await;
        assert!(failure.message.contains("another way than by SCRAM"), "{failure}");
        assert!(!contains(&sent, PASSWORD) && !contains(&sent, "md5"));
    }
}

#[tokio::test]
async fn nothing_is_said_to_a_server_without_tls_that_should_have_it() {
    let (settings, server) = serve_once(b"N".to_vec()).await;
    let mut settings = PostgresSettings::clone(&settings);
    let authority = Authority::new();
    settings.tls = authority.settings();
    failure(Arc::new(settings)).await;
    let sent = server.await.expect("the client closes the connection");
    assert_eq!(sent, [0, 0, 0, 8, 4, 210, 22, 47], "it asked for TLS, and said no more");
}

#[tokio::test]
async fn only_a_server_with_the_right_certificate_hears_who_we_are() {
    let (authority, other) = (Authority::new(), Authority::new());
    for (names, tls, text, is_told) in [
        (&["127.0.0.1"], authority.settings(), "the database is not there (3D000)", true),
        (&["127.0.0.1"], other.settings(), "invalid peer certificate", false),
        (&["db7.example.com"], authority.settings(), "certificate not valid for name", false),
    ] {
        let answer = message(b'E', b"SFATAL\0VFATAL\0C3D000\0Mthe database is not there\0\0");
        let (settings, server) = serve_tls(&authority, names, answer).await;
        let mut settings = PostgresSettings::clone(&settings);
        settings.tls = tls;
        let failure = failure(Arc::new(settings)).await;
        assert!(failure.message.contains(text), "{failure}");
        let sent = server.await.expect("the server does not panic");
        assert_eq!(contains(&sent, "perf"), is_told);
    }
}

#[tokio::test]
async fn a_file_of_authorities_that_is_bad_is_named() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has free ports");
    let mut settings = settings(listener.local_addr().expect("it listens"));
    for (content, text) in [("", "it has no certificate"), ("-----BEGIN CERTIFICATE-----\nx\n", "CA file")] {
        let file = tempfile::NamedTempFile::new().expect("there is room for a file");
        std::fs::write(file.path(), content).expect("the file is there");
        settings.tls = Tls::Require { ca_file: Some(file.path().to_owned()) };
        let failure = failure(Arc::new(settings.clone())).await;
        assert!(failure.message.contains(text), "{failure}");
    }
}

#[tokio::test]
async fn an_error_of_a_megabyte_is_a_short_line() {
    let text = [b"SFATAL\0VFATAL\0C53100\0M", "no room\n".repeat(120_000).as_bytes(), b"\0\0"].concat();
    let (failure, _) = answered(message(b'E', &text)).await;
    assert_eq!(failure.kind, SinkErrorKind::Full);
    assert!(failure.message.contains("no room no room"), "{failure}");
}

#[tokio::test]
async fn lengths_that_lie_and_endless_answers_end_the_connection() {
    let (failure, _) = answered(b"E\x7F\xFF\xFF\xFF".to_vec()).await;
    assert!(failure.message.contains("a message of 2147483647 bytes"), "{failure}");
    let text = [b"SNOTICE\0C00000\0M".to_vec(), b"hello ".repeat(1_000), b"\0\0".to_vec()].concat();
    let notices = message(b'N', &text).repeat(5_000);
    let (failure, _) = answered([TRUSTED[0], &notices].concat()).await;
    assert!(failure.message.contains("bytes of answer"), "{failure}");
}

#[tokio::test]
async fn endless_rows_end_the_connection() {
    let prepared = [
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x14"),
        message(b'T', b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xFF\xFF\xFF\xFF\0\0"),
        message(b'Z', b"T"),
    ];
    let rows = message(b'D', b"\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x01").repeat(10_000);
    let (settings, server) = serve_flood(prepared.concat(), rows).await;
    let failure = failure(settings).await;
    assert!(failure.message.contains("bytes of answer"), "{failure}");
    let sent = server.await.expect("the client closes the connection");
    assert!(sent < 64 << 20, "the client has read about 16 MiB of {sent} bytes");
}

/// Whatever a server says, a write ends with a failure.
#[tokio::test]
async fn any_bytes_end_in_a_failure() {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let kinds = b"RSZKEN123tTDCGHWIsnAdcVv";
    for round in 0..300 {
        let mut answer = if round % 3 == 0 { vec![] } else { TRUSTED.concat() };
        for _ in 0..next() % 8 {
            let content: Vec<u8> = (0..next() % 40).map(|_| next().to_le_bytes()[2] % 4).collect();
            let kind = kinds[usize::from(next().to_le_bytes()[0]) % kinds.len()];
            answer.extend(message(kind, &content));
        }
        answer.extend((0..next() % 20).map(|_| next().to_le_bytes()[3]));
        let (settings, server) = serve_once(answer).await;
        let mut settings = PostgresSettings::clone(&settings);
        settings.statement_timeout = Duration::from_millis(50);
        settings.connect_timeout = Duration::from_millis(50);
        failure(Arc::new(settings)).await;
        server.await.expect("the client closes the connection");
    }
}

#[test]
fn the_password_is_not_printed() {
    let address = SocketAddr::from(([127, 0, 0, 1], 5432));
    let printed = format!("{:?}", settings(address));
    assert!(printed.contains("***") && !printed.contains(PASSWORD), "{printed}");
}

#[test]
fn plain_text_is_the_default_for_this_machine_only() {
    for (host, is_plain) in [
        ("127.0.0.1", true),
        ("::1", true),
        ("localhost", true),
        ("db7", false),
        ("localhost.example.com", false),
    ] {
        assert_eq!(Tls::default_for(host) == Tls::Off, is_plain, "{host}");
    }
}

#[tokio::test]
async fn names_are_looked_up_without_a_thread_and_localhost_is_this_machine() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has free ports");
    let mut named = settings(listener.local_addr().expect("it listens"));
    named.host = "localhost".to_owned();
    let accepted = tokio::spawn(async move { listener.accept().await.map(drop) });
    // It is closed at once.
    failure(Arc::new(named.clone())).await;
    accepted.await.expect("no panic").expect("a client came");
    // The library of the system would ask a name server.
    named.host = "x".repeat(64);
    let failure = failure(Arc::new(named)).await;
    assert_eq!(failure.kind, SinkErrorKind::Unavailable);
    assert!(failure.message.contains("is no legal name"), "{failure}");
}
