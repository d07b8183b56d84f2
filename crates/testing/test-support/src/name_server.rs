//! A name server on a loopback port, which answers as a test wants it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

/// What a [`NameServer`] answers about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// These addresses, of either family, with this time to live in seconds.
    Addresses(Vec<IpAddr>, u32),
    Silence,
    /// An error code of RFC 1035, 4.1.1: 2 server failure, 3 no such name, 5 refused.
    Code(u8),
    /// The name exists and has no address.
    Nothing,
}

impl Reply {
    /// One address, for a minute.
    #[must_use]
    pub fn address(text: &str) -> Self {
        let address = text.parse();
        Self::Addresses(vec![address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))], 60)
    }
}

/// A name server. It ends when it is dropped.
#[derive(Debug)]
pub struct NameServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    replies: Mutex<HashMap<String, Reply>>,
    replies_ipv6: Mutex<HashMap<String, Reply>>,
    asked: Mutex<Vec<String>>,
}

impl NameServer {
    /// Begins to answer on `address`, by default on any port of 127.0.0.1. Other names do not exist.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(address: Option<SocketAddr>) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(address.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0))))?;
        let address = socket.local_addr()?;
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().spawn(move || serving.serve(&socket))?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on answers `reply` about `name`, which has no dot at its end.
    pub fn set(&self, name: &str, reply: Reply) {
        self.shared.replies.lock().insert(name.to_lowercase(), reply);
    }

    /// As [`NameServer::set`], for questions about IPv6 addresses alone.
    pub fn set_ipv6(&self, name: &str, reply: Reply) {
        self.shared.replies_ipv6.lock().insert(name.to_lowercase(), reply);
    }

    /// The names that it was asked about for IPv4 addresses, in their order.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().clone()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let woken = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(&[], self.address));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, socket: &UdpSocket) {
        let mut query = [0; 1500];
        while let Ok((bytes, peer)) = socket.recv_from(&mut query) {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            if let Some(reply) = self.reply(&query[..bytes]) {
                // Whoever asked may be gone.
                let _ = socket.send_to(&reply, peer);
            }
        }
    }

    fn reply(&self, query: &[u8]) -> Option<Vec<u8>> {
        let (name, kind, end) = question(query)?;
        if kind == TYPE_A {
            self.asked.lock().push(name.clone());
        }
        let of_ipv6 = (kind != TYPE_A).then(|| self.replies_ipv6.lock().get(&name).cloned()).flatten();
        let reply = of_ipv6.or_else(|| self.replies.lock().get(&name).cloned()).unwrap_or(Reply::Code(3));
        let (code, addresses, seconds) = match reply {
            Reply::Silence => return None,
            Reply::Code(code) => (code, Vec::new(), 0),
            Reply::Nothing => (0, Vec::new(), 0),
            Reply::Addresses(addresses, seconds) => (0, addresses, seconds),
        };
        let wanted = |address: &&IpAddr| address.is_ipv4() == (kind == TYPE_A);
        let answers: Vec<_> = addresses.iter().filter(wanted).collect();
        let mut reply = query[..2].to_vec();
        let count = u8::try_from(answers.len()).ok()?;
        // Response, recursion desired and available; one question, the answers, nothing else.
        reply.extend([0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]);
        reply.extend(&query[HEADER_BYTES..end]);
        for address in answers {
            let octets = match address {
                IpAddr::V4(v4) => v4.octets().to_vec(),
                IpAddr::V6(v6) => v6.octets().to_vec(),
            };
            // The name is that of the question; class IN.
            reply.extend([0xc0, u8::try_from(HEADER_BYTES).ok()?, 0, kind, 0, 1]);
            reply.extend(seconds.to_be_bytes());
            reply.extend([0, u8::try_from(octets.len()).ok()?]);
            reply.extend(octets);
        }
        Some(reply)
    }
}

/// The name and type of a query's question, and where it ends.
fn question(query: &[u8]) -> Option<(String, u8, usize)> {
    let (mut at, mut labels) = (HEADER_BYTES, Vec::new());
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let kind = *query.get(at + 1)?;
    Some((labels.join("."), kind, (at + 4 <= query.len()).then_some(at + 4)?))
}

const HEADER_BYTES: usize = 12;
const TYPE_A: u8 = 1;
