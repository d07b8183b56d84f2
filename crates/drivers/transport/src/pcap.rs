use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tracing::debug;

use crate::{Endpoint, Stream};

/// A capture file that several streams may write to. Clones are the same file.
///
/// The frames are synthetic: each stream gets its own IPv4 and TCP conversation, with handshake, sequence numbers
/// and checksums, between a client port of ours and the endpoint's port. So Wireshark follows the streams and
/// reassembles SMB and RPC, whatever the real transport was.
#[derive(Clone)]
pub struct PcapFile(Arc<Mutex<Capture>>);

struct Capture {
    output: Box<dyn Write + Send>,
    clock: fn() -> Duration,
    next_client_port: u16,
    broken: bool,
}

impl PcapFile {
    /// Begins a capture on `output`, with time stamps of the wall clock.
    ///
    /// # Errors If the header cannot be written.
    pub fn new(output: impl Write + Send + 'static) -> io::Result<Self> {
        Self::with_clock(output, since_unix_epoch)
    }

    /// Begins a capture with time stamps of `clock`, which returns the time since 1970.
    ///
    /// # Errors If the header cannot be written.
    pub fn with_clock(output: impl Write + Send + 'static, clock: fn() -> Duration) -> io::Result<Self> {
        let mut output: Box<dyn Write + Send> = Box::new(output);
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_MICROSECONDS.to_le_bytes());
        header.extend(2u16.to_le_bytes());
        header.extend(4u16.to_le_bytes());
        header.extend([0; 8] /* time zone, accuracy */);
        header.extend(SNAPLEN.to_le_bytes());
        header.extend(LINKTYPE_RAW.to_le_bytes());
        output.write_all(&header)?;
        let capture = Capture { output, clock, next_client_port: FIRST_CLIENT_PORT, broken: false };
        Ok(Self(Arc::new(Mutex::new(capture))))
    }

    /// Copies the traffic of `inner` into the capture.
    pub fn record<S: Stream>(&self, inner: S, endpoint: &Endpoint) -> Recorded<S> {
        let server_ip = match endpoint.host.parse() {
            Ok(IpAddr::V4(address)) => address,
            _ => UNKNOWN_SERVER,
        };
        let mut recorded = Recorded {
            inner,
            file: self.clone(),
            client: Peer { address: SocketAddrV4::new(CLIENT, self.next_client_port()), sequence: 0 },
            server: Peer { address: SocketAddrV4::new(server_ip, endpoint.port), sequence: 0 },
        };
        recorded.frame(Sender::Client, SYN, &[]);
        recorded.frame(Sender::Server, SYN | ACK, &[]);
        recorded.frame(Sender::Client, ACK, &[]);
        recorded
    }

    fn next_client_port(&self) -> u16 {
        let mut capture = self.0.lock();
        let port = capture.next_client_port;
        capture.next_client_port = port.checked_add(1).unwrap_or(FIRST_CLIENT_PORT);
        port
    }

    /// Writes one packet. If that fails, the capture ends and the traffic continues.
    fn write(&self, packet: &[u8]) {
        let mut capture = self.0.lock();
        if capture.broken {
            return;
        }
        let now = (capture.clock)();
        let len = u32::try_from(packet.len()).unwrap_or(SNAPLEN);
        let mut record = Vec::with_capacity(16 + packet.len());
        record.extend(u32::try_from(now.as_secs()).unwrap_or(u32::MAX).to_le_bytes());
        record.extend(now.subsec_micros().to_le_bytes());
        record.extend(len.to_le_bytes() /* captured */);
        record.extend(len.to_le_bytes() /* on the wire */);
        record.extend(packet);
        if let Err(error) = capture.output.write_all(&record).and_then(|()| capture.output.flush()) {
            debug!(%error, "Capture ended");
            capture.broken = true;
        }
    }
}

/// A stream whose traffic is copied into a [`PcapFile`].
pub struct Recorded<S> {
    inner: S,
    file: PcapFile,
    client: Peer,
    server: Peer,
}

struct Peer {
    address: SocketAddrV4,
    sequence: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Client,
    Server,
}

impl<S> Recorded<S> {
    fn data(&mut self, sender: Sender, bytes: &[u8]) {
        for segment in bytes.chunks(SEGMENT_BYTES_MAX) {
            self.frame(sender, PSH | ACK, segment);
        }
    }

    fn frame(&mut self, sender: Sender, flags: u8, payload: &[u8]) {
        let (from, to) = match sender {
            Sender::Client => (&mut self.client, &self.server),
            Sender::Server => (&mut self.server, &self.client),
        };
        self.file.write(&packet(from, to, flags, payload));
        let counted = u32::try_from(payload.len()).unwrap_or(0) + u32::from(flags & (SYN | FIN) != 0);
        from.sequence = from.sequence.wrapping_add(counted);
    }
}

impl<S> Drop for Recorded<S> {
    fn drop(&mut self) {
        self.frame(Sender::Client, FIN | ACK, &[]);
        self.frame(Sender::Server, FIN | ACK, &[]);
        self.frame(Sender::Client, ACK, &[]);
    }
}

impl<S: Stream> AsyncRead for Recorded<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
        this.data(Sender::Server, buf.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for Recorded<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.inner).poll_write(cx, bytes))?;
        this.data(Sender::Client, bytes.get(..written).unwrap_or_default());
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

/// An IPv4 packet (RFC 791) with a TCP segment (RFC 9293) in it.
fn packet(from: &Peer, to: &Peer, flags: u8, payload: &[u8]) -> Vec<u8> {
    let acknowledged = if flags & ACK != 0 { to.sequence } else { 0 };
    let mut tcp = Vec::with_capacity(TCP_HEADER_BYTES + payload.len());
    tcp.extend(from.address.port().to_be_bytes());
    tcp.extend(to.address.port().to_be_bytes());
    tcp.extend(from.sequence.to_be_bytes());
    tcp.extend(acknowledged.to_be_bytes());
    tcp.extend([0x50 /* five words of header */, flags]);
    tcp.extend(u16::MAX.to_be_bytes() /* window */);
    tcp.extend([0; 4] /* checksum, urgent pointer */);
    tcp.extend(payload);
    let tcp_len = u16::try_from(tcp.len()).unwrap_or(u16::MAX);
    let mut pseudo = Vec::with_capacity(12 + tcp.len());
    pseudo.extend(from.address.ip().octets());
    pseudo.extend(to.address.ip().octets());
    pseudo.extend([0, PROTOCOL_TCP]);
    pseudo.extend(tcp_len.to_be_bytes());
    pseudo.extend(&tcp);
    tcp[16..18].copy_from_slice(&checksum(&pseudo).to_be_bytes());

    let mut ip = Vec::with_capacity(IP_HEADER_BYTES + tcp.len());
    ip.extend([0x45 /* version 4, five words of header */, 0]);
    ip.extend((tcp_len + 20).to_be_bytes());
    ip.extend([0, 0, 0x40 /* do not fragment */, 0]);
    ip.extend([64 /* time to live */, PROTOCOL_TCP, 0, 0 /* checksum */]);
    ip.extend(from.address.ip().octets());
    ip.extend(to.address.ip().octets());
    let header_checksum = checksum(&ip);
    ip[10..12].copy_from_slice(&header_checksum.to_be_bytes());
    ip.extend(tcp);
    ip
}

fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(0)
}

fn since_unix_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

const MAGIC_MICROSECONDS: u32 = 0xA1B2_C3D4;
const LINKTYPE_RAW: u32 = 101;
const SNAPLEN: u32 = 0x4_0000;
const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const UNKNOWN_SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const FIRST_CLIENT_PORT: u16 = 49152;
const IP_HEADER_BYTES: usize = 20;
const TCP_HEADER_BYTES: usize = 20;
/// Keeps a packet well below the 65,535 bytes of IPv4, and its sum of words within 32 bits.
const SEGMENT_BYTES_MAX: usize = 32 * 1024;
const PROTOCOL_TCP: u8 = 6;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_the_rfc() {
        // RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }
}
