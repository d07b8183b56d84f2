//! The web server against peers that send what nobody should.

use std::io::{Read, Write};
use std::net::Shutdown;

use crate::program::{Exporter, Folder};

const ALONE: &str = r#"web: {listen: ["127.0.0.1:0"]}"#;
/// A request that must not be answered where it is inside of another one.
const HIDDEN: &str = "GET /page.css HTTP/1.1\r\nHost: here\r\n\r\n";

/// Everything that the server says to `bytes`, to the end of the connection.
fn say(exporter: &Exporter, bytes: &[u8]) -> String {
    let mut stream = exporter.connect();
    // The server may have said its last word before it has all of it.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    assert!(read.is_ok(), "{read:?} after {text:?}\n{:?}", String::from_utf8_lossy(bytes));
    text
}

/// One answer of this status, and the end.
#[track_caller]
fn check_refused(exporter: &Exporter, request: &str, status: u16) {
    let text = say(exporter, request.as_bytes());
    assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}\n{text}");
    assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{request:?}\n{text}");
}

#[test]
fn what_hides_in_a_body_is_never_taken_for_a_request() {
    let exporter = Folder::new().serve(ALONE);
    let (length, chunk) = (HIDDEN.len(), format!("{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len()));
    for (framing, body) in [
        (format!("Content-Length: {length}\r\n"), HIDDEN),
        // CL.TE and TE.CL, in both orders
        ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n".to_owned(), chunk.as_str()),
        ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n".to_owned(), chunk.as_str()),
        (format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), "0\r\n\r\n"),
        // TE.TE
        ("Transfer-Encoding: chunked\r\n".to_owned(), chunk.as_str()),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n".to_owned(), chunk.as_str()),
        ("Transfer-Encoding: chunked, identity\r\n".to_owned(), HIDDEN),
        ("Transfer-Encoding: xchunked\r\n".to_owned(), HIDDEN),
        ("Transfer-Encoding:\u{b}chunked\r\n".to_owned(), HIDDEN),
        ("Transfer-Encoding\t: chunked\r\n".to_owned(), HIDDEN),
        ("Transfer-Encoding : chunked\r\n".to_owned(), HIDDEN),
        ("Content-Length : 0\r\n".to_owned(), HIDDEN),
        // obs-fold
        ("Transfer-Encoding:\r\n chunked\r\n".to_owned(), HIDDEN),
        ("X: a\r\n Transfer-Encoding: chunked\r\n".to_owned(), HIDDEN),
        // lengths that are none, or two
        (format!("Content-Length: 0\r\nContent-Length: {length}\r\n"), HIDDEN),
        (format!("Content-Length: 0, {length}\r\n"), HIDDEN),
        (format!("Content-Length: +{length}\r\n"), HIDDEN),
        ("Content-Length: -1\r\n".to_owned(), HIDDEN),
        ("Content-Length: 0x0\r\n".to_owned(), HIDDEN),
        ("Content-Length: 99999999999999999999\r\n".to_owned(), HIDDEN),
    ] {
        let request = format!("GET /-/healthy HTTP/1.1\r\nHost: here\r\n{framing}\r\n{body}");
        check_refused(&exporter, &request, 400);
    }
    assert_eq!(exporter.get("/-/healthy").status, 200);
    let page = exporter.get("/metrics").body;
    assert!(page.contains("perfmon_exporter_web_requests_refused_total{reason=\"body\"} "), "{page}");
}

#[test]
fn a_line_ends_with_two_characters_and_a_head_says_what_it_means() {
    let exporter = Folder::new().serve(ALONE);
    for request in [
        format!("GET /-/healthy HTTP/1.1\nHost: here\n\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.1\r\nHost: here\nX: y\r\n\r\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.1\r\nHost: here\r\n\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.1\r\nHost: here\rX: y\r\n\r\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.1\r\nHost: he\0re\r\n\r\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.1\r\n\r\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.1\r\nHost: here\r\nHost: there\r\n\r\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}"),
        format!("GET  /-/healthy HTTP/1.1\r\nHost: here\r\n\r\n{HIDDEN}"),
        format!("GET /-/healthy HTTP/1.2\r\nHost: here\r\n\r\n{HIDDEN}"),
        "\u{16}\u{3}\u{1}\0\u{5}hello\r\n\r\n".to_owned(),
    ] {
        check_refused(&exporter, &request, 400);
    }
    // HTTP/2 is spoken over TLS only.
    assert_eq!(say(&exporter, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "");
    assert_eq!(exporter.get("/-/healthy").status, 200);
}

#[test]
fn what_is_too_long_has_its_status_and_the_reader_gets_it() {
    let exporter = Folder::new().serve(ALONE);
    for bytes in [64 << 10, 1 << 20] {
        let padding = "x".repeat(bytes);
        check_refused(&exporter, &format!("GET / HTTP/1.1\r\nHost: here\r\nX: {padding}\r\n\r\n"), 431);
    }
    let many: String = (0..200).map(|index| format!("X-{index}: y\r\n")).collect();
    check_refused(&exporter, &format!("GET / HTTP/1.1\r\nHost: here\r\n{many}\r\n"), 431);
    for bytes in [9 << 10, 40 << 10, 1 << 20] {
        let padding = "x".repeat(bytes);
        check_refused(&exporter, &format!("GET /{padding} HTTP/1.1\r\nHost: here\r\n\r\n{HIDDEN}"), 414);
    }
    assert_eq!(exporter.get(&format!("/{}", "x".repeat(7 << 10))).status, 404);
}

#[test]
fn requests_behind_each_other_are_answered_in_order_and_http_1_0_as_it_asks() {
    let exporter = Folder::new().serve(ALONE);
    let next = "GET /-/ready HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
    let text =
        say(&exporter, format!("GET /-/healthy HTTP/1.1\r\nHost: here\r\n\r\n{next}{next}").as_bytes());
    let (healthy, ready) = (text.find("healthy\n"), text.find("ready\n"));
    assert!(healthy.is_some() && healthy < ready, "{text}");
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");

    let text = say(&exporter, b"GET /-/healthy HTTP/1.0\r\n\r\n");
    assert!(text.starts_with("HTTP/1.0 200 OK") && text.ends_with("healthy\n"), "{text}");
    let keep = "GET /-/healthy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let text = say(&exporter, format!("{keep}GET /-/ready HTTP/1.0\r\n\r\n").as_bytes());
    assert!(text.contains("healthy\n") && text.ends_with("ready\n"), "{text}");
    // A page has no length before it is made; where there are no chunks, the end of the connection is its end.
    let text = say(&exporter, b"GET /metrics HTTP/1.0\r\n\r\n");
    assert!(!text.contains("chunked") && text.contains("perfmon_exporter_build_info"), "{text}");
    let empty = "POST /metrics HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert!(say(&exporter, empty.as_bytes()).starts_with("HTTP/1.1 405 "));
}

#[test]
fn a_connection_without_a_request_ends_and_one_with_requests_stays() {
    let config = r#"web: {listen: ["127.0.0.1:0"], header_timeout: 100ms, idle_timeout: 3s}"#;
    let exporter = Folder::new().serve(config);
    // Never a request: the end after the time for a head.
    assert_eq!(say(&exporter, b""), "");
    let mut stream = exporter.connect();
    let mut room = [0; 1024];
    for _ in 0..3 {
        stream.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
        assert!(stream.read(&mut room).unwrap() > 0);
        // Longer than a head may take, and shorter than a connection may idle: the server hangs up after both.
        stream.set_read_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
        let waited = stream.read(&mut room).expect_err("the connection ended");
        assert_eq!(waited.kind(), std::io::ErrorKind::WouldBlock);
    }
    stream.set_read_timeout(None).unwrap();
    assert_eq!(stream.read(&mut room).unwrap(), 0, "an idle connection does not end");
    stream.shutdown(Shutdown::Both).unwrap();
}

#[test]
fn a_reader_that_stops_reading_loses_its_permit() {
    // One page at a time, and a page that does not fit into the buffers between us.
    let folder = Folder::new();
    let config = large_page("max_scrapes: 1, write_timeout: 200ms", 100);
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&config);
    for _ in 0..100 {
        exporter.wait_for_line("Target is up");
    }
    let mut idle = exporter.connect();
    idle.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    // The one permit is taken until the reader's time to take something is over.
    let answer = exporter.get("/metrics");
    assert_eq!(answer.status, 200);
    let aborted = "perfmon_exporter_scrapes_total{outcome=\"aborted\"} 1\n";
    assert!(answer.body.contains(aborted), "the page fits into the buffers: {} bytes", answer.body.len());
}

/// A configuration for a page of some 80 KiB a target.
pub(crate) fn large_page(web: &str, targets: usize) -> String {
    let labels: Vec<String> = (0..40).map(|index| format!("l{index}: {}", "v".repeat(1000))).collect();
    let targets: Vec<String> =
        (0..targets).map(|n| format!("  - {{host: h{n}, modules: [beat]}}\n")).collect();
    format!(
        "web: {{listen: [\"127.0.0.1:0\"], {web}}}\n\
         plugins: {{path: ., load: [pulse]}}\nmodules: {{beat: {{plugin: pulse}}}}\n\
         target_defaults: {{labels: {{{}}}}}\ntargets:\n{}",
        labels.join(", "),
        targets.concat()
    )
}
