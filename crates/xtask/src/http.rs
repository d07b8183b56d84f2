//! As much of an HTTP client as asking our own exporter on loopback needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::Result;

const TIMEOUT: Duration = Duration::from_secs(10);
const BODY_BYTES_MAX: u64 = 256 << 20;

/// A response: status, headers as they came, body.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// GETs `path`, asking for `accept`.
pub(crate) fn get(address: SocketAddr, path: &str, accept: &str) -> Result<Response> {
    ask(address, &format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: {accept}\r\n"))
}

/// POSTs nothing to `path`.
pub(crate) fn post(address: SocketAddr, path: &str) -> Result<Response> {
    ask(address, &format!("POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Length: 0\r\n"))
}

/// GETs `path`, asking for `accept` in this content coding. Answers the head and the body as it came.
pub(crate) fn get_bytes(
    address: SocketAddr,
    path: &str,
    accept: &str,
    coding: &str,
) -> Result<(String, Vec<u8>)> {
    let head = format!(
        "GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: {accept}\r\nAccept-Encoding: {coding}\r\n"
    );
    exchange(address, &head)
}

fn ask(address: SocketAddr, head: &str) -> Result<Response> {
    let (head, body) = exchange(address, head)?;
    let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
    Ok(Response { status, head, body: String::from_utf8(body)? })
}

/// Sends a head, to which it adds its end, and answers head and body of the response.
fn exchange(address: SocketAddr, head: &str) -> Result<(String, Vec<u8>)> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    write!(stream, "{head}Connection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    stream.take(BODY_BYTES_MAX).read_to_end(&mut bytes)?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or("no end of the headers")?;
    let body = bytes.split_off(end + 4);
    bytes.truncate(end);
    Ok((String::from_utf8(bytes)?, body))
}
