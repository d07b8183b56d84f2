//! Byte streams for the protocols, and layers around them.
//!
//! A [`Connector`] turns an [`Endpoint`] into a [`BoxStream`] before a deadline, in two stages that fail and are
//! timed apart: [`Connector::resolve`] (dns) and [`Connector::connect_to`] (tcp). [`TcpConnector`] is the real
//! one; [`MemoryNetwork`] is a network of named hosts inside one process, for tests without sockets.
//!
//! Everything else wraps a [`Stream`] and is a [`Stream`], so layers can be combined in any order:
//!
//! | layer | what it does |
//! | --- | --- |
//! | [`Counted`] | counts bytes in each direction |
//! | [`Traced`] | logs reads and writes with `tracing`, with as many bytes in hexadecimal as configured |
//! | [`Recorded`] | copies the traffic into a [`PcapFile`] that Wireshark opens |
//! | [`Faulty`] | splits, coalesces, delays, corrupts, cuts or stalls the traffic, by a seed |
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use transport::{Connector, Counted, Endpoint, MemoryNetwork};
//!
//! let network = MemoryNetwork::new();
//! let mut listener = network.listen("web1", 445);
//! let deadline = tokio::time::Instant::now() + Duration::from_secs(3);
//! let stream = network.connect(&Endpoint::new("web1", 445), deadline).await?;
//! let mut server = listener.accept().await;
//!
//! let mut client = Counted::new(stream);
//! client.write_all(b"hello").await?;
//! let mut heard = [0; 5];
//! server.read_exact(&mut heard).await?;
//! assert_eq!(client.counter().sent_bytes(), 5);
//! # Ok(()) }
//! ```

mod connector;
mod counted;
mod endpoint;
mod error;
mod faulty;
mod memory;
mod pcap;
mod read;
pub mod resolver;
mod tcp;
mod traced;

use tokio::io::{AsyncRead, AsyncWrite};

pub use self::connector::{Addresses, BoxFuture, Connector, Layered};
pub use self::counted::{ByteCounter, Counted};
pub use self::endpoint::{Endpoint, ParseEndpointError};
pub use self::error::{ConnectError, ConnectErrorKind, ConnectStage};
pub use self::faulty::{Direction, FaultPlan, Faulty};
pub use self::memory::{MemoryListener, MemoryNetwork};
pub use self::pcap::{PcapFile, Recorded};
pub use self::read::read_once;
pub use self::tcp::{KeepAlive, TcpConnector};
pub use self::traced::{TraceOptions, Traced};

/// A duplex stream of bytes.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + ?Sized> Stream for S {}

/// Any [`Stream`], behind one pointer.
pub type BoxStream = Box<dyn Stream>;
