//! A collector of OTLP over HTTP whose failure mode can be set.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use crate::Result;

/// How the collector answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum CollectorMode {
    Healthy,
    /// Closes the connection without an answer.
    Closing,
    Unavailable,
    Throttling,
    /// 413 to large requests.
    SmallOnly,
    /// Reads requests and never answers.
    Silent,
}

pub(super) const MODES: [CollectorMode; 6] = [
    CollectorMode::Healthy,
    CollectorMode::Closing,
    CollectorMode::Unavailable,
    CollectorMode::Throttling,
    CollectorMode::SmallOnly,
    CollectorMode::Silent,
];

/// Its thread lives as long as the process.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    mode: Arc<AtomicU8>,
    accepted: Arc<AtomicU64>,
}

impl Collector {
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (mode, accepted) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicU64::new(0)));
        let (servers_mode, servers_accepted) = (Arc::clone(&mode), Arc::clone(&accepted));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (mode, accepted) = (Arc::clone(&servers_mode), Arc::clone(&servers_accepted));
                // The thread ends with its connection.
                std::thread::spawn(move || drop(serve(stream, &mode, &accepted)));
            }
        });
        Ok(Self { address, mode, accepted })
    }

    pub(super) fn set_mode(&self, mode: CollectorMode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    /// Requests answered with 200.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

fn serve(stream: TcpStream, mode: &AtomicU8, accepted: &AtomicU64) -> std::io::Result<()> {
    stream.set_read_timeout(Some(IDLE_TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        let head = match MODES.get(usize::from(mode.load(Ordering::Relaxed))) {
            Some(CollectorMode::Closing) | None => return Ok(()),
            Some(CollectorMode::Unavailable) => "503 Service Unavailable\r\n",
            Some(CollectorMode::Throttling) => "429 Too Many Requests\r\nRetry-After: 1\r\n",
            Some(CollectorMode::SmallOnly) if length > SMALL_BYTES_MAX => "413 Content Too Large\r\n",
            Some(CollectorMode::Silent) => {
                std::thread::sleep(IDLE_TIMEOUT);
                return Ok(());
            }
            Some(CollectorMode::Healthy | CollectorMode::SmallOnly) => {
                accepted.fetch_add(1, Ordering::Relaxed);
                "200 OK\r\nContent-Type: application/x-protobuf\r\n"
            }
        };
        write!(reader.get_mut(), "HTTP/1.1 {head}Content-Length: 0\r\n\r\n")?;
    }
}

const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
const SMALL_BYTES_MAX: u64 = 20_000;
