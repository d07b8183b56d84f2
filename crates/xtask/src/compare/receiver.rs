//! Takes what the exporter sends, requests of OTLP and of alerts, and keeps all of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::Result;

const TIMEOUT: Duration = Duration::from_secs(60);
const BODY_BYTES_MAX: u64 = 64 << 20;

#[derive(Clone)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Its threads live as long as the process.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let received: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // The thread ends with its connection.
                std::thread::spawn(move || drop(serve(stream, &kept)));
            }
        });
        Ok(Self { address, received })
    }

    /// All that came so far, oldest first.
    pub(super) fn received(&self) -> Vec<Request> {
        self.received.lock().clone()
    }

    /// What came before belongs to another exporter.
    pub(super) fn forget(&self) {
        self.received.lock().clear();
    }
}

fn serve(stream: TcpStream, received: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some((mut request, length)) = head(&mut reader)? else { return Ok(()) };
        request.body.resize(usize::try_from(length.min(BODY_BYTES_MAX)).unwrap_or_default(), 0);
        reader.read_exact(&mut request.body)?;
        received.lock().push(request);
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
        reader.get_mut().write_all(answer.as_bytes())?;
    }
}

/// The request without its body, and how long that is; nothing where the connection ended.
fn head(reader: &mut impl BufRead) -> std::io::Result<Option<(Request, u64)>> {
    let mut request = Request { path: String::new(), body: Vec::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if request.path.is_empty() {
            line.split(' ').nth(1).unwrap_or("/").clone_into(&mut request.path);
            continue;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            return Ok(Some((request, length)));
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}
