//! Readers: many at once, some of which stop reading, and some of which disconnect in the middle of a page.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::Result;

const ACCEPTS: [&str; 4] = [
    "text/plain;version=0.0.4",
    "application/openmetrics-text;version=1.0.0",
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
    "text/plain;version=1.0.0;escaping=values",
];
const CODINGS: [&str; 3] = ["identity", "gzip", "zstd"];
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a reader that stops reading keeps its connection.
const STALL: Duration = Duration::from_secs(5);

/// Starts this many readers. Returns their threads, which end within a minute, each with the bytes it read.
pub(super) fn scrape(exporter: SocketAddr, readers: usize) -> Vec<JoinHandle<u64>> {
    let read = |index| thread::spawn(move || one(exporter, index).unwrap_or(0));
    (0..readers).map(read).collect()
}

fn one(exporter: SocketAddr, index: usize) -> Result<u64> {
    let mut stream = TcpStream::connect_timeout(&exporter, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let (accept, coding) = (ACCEPTS[index % ACCEPTS.len()], CODINGS[index % CODINGS.len()]);
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: {exporter}\r\nAccept: {accept}\r\nAccept-Encoding: {coding}\r\n\
         Connection: close\r\n\r\n"
    )?;
    match index % 8 {
        // Reads a little, stalls, and disconnects.
        6 => {
            let mut little = [0; 4096];
            let read = stream.read(&mut little)?;
            thread::sleep(STALL);
            Ok(read as u64)
        }
        // Goes away at once.
        7 => Ok(0),
        _ => Ok(std::io::copy(&mut stream, &mut std::io::sink())?),
    }
}
