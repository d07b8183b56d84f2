//! A collector by OTLP over HTTP that is away, busy or silent when it is told so.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use crate::Result;

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mood {
    Well,
    /// Closes connections.
    Away,
    /// 503
    Unavailable,
    /// 429 with Retry-After.
    Busy,
    /// 413, until requests are small.
    Narrow,
    /// Takes requests and never answers.
    Silent,
}

pub(super) const MOODS: [Mood; 6] =
    [Mood::Well, Mood::Away, Mood::Unavailable, Mood::Busy, Mood::Narrow, Mood::Silent];

/// It lives as long as the process.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    mood: Arc<AtomicU8>,
    taken: Arc<AtomicU64>,
}

impl Collector {
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (mood, taken) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicU64::new(0)));
        let (their_mood, their_taken) = (Arc::clone(&mood), Arc::clone(&taken));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (mood, taken) = (Arc::clone(&their_mood), Arc::clone(&their_taken));
                // A connection ends when either side has enough of it.
                std::thread::spawn(move || drop(serve(stream, &mood, &taken)));
            }
        });
        Ok(Self { address, mood, taken })
    }

    pub(super) fn set(&self, mood: Mood) {
        self.mood.store(mood as u8, Ordering::Relaxed);
    }

    /// Requests that were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

fn serve(stream: TcpStream, mood: &AtomicU8, taken: &AtomicU64) -> std::io::Result<()> {
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
        let head = match MOODS.get(usize::from(mood.load(Ordering::Relaxed))) {
            Some(Mood::Away) | None => return Ok(()),
            Some(Mood::Unavailable) => "503 Service Unavailable\r\n",
            Some(Mood::Busy) => "429 Too Many Requests\r\nRetry-After: 1\r\n",
            Some(Mood::Narrow) if length > NARROW_BYTES => "413 Content Too Large\r\n",
            Some(Mood::Silent) => {
                std::thread::sleep(IDLE_TIMEOUT);
                return Ok(());
            }
            Some(Mood::Well | Mood::Narrow) => {
                taken.fetch_add(1, Ordering::Relaxed);
                "200 OK\r\nContent-Type: application/x-protobuf\r\n"
            }
        };
        write!(reader.get_mut(), "HTTP/1.1 {head}Content-Length: 0\r\n\r\n")?;
    }
}

const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
const NARROW_BYTES: u64 = 20_000;
