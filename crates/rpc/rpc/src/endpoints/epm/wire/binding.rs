use core::fmt;
use core::net::Ipv4Addr;

use wire::{EncodeError, EncodeResult};

use super::{Floor, ProtocolId};

/// Where a server is: the floors of a tower above interface and transfer syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// `ncacn_ip_tcp`. In a request both are zero.
    Tcp { address: Ipv4Addr, port: u16 },
    /// `ncacn_http`. In a request both are zero.
    Http { address: Ipv4Addr, port: u16 },
    /// `ncacn_np`. In a request both are empty.
    NamedPipe {
        /// The host, perhaps with two backslashes in front.
        host: String,
        /// The pipe, such as `\PIPE\winreg`.
        pipe: String,
    },
    /// `ncalrpc`: within the host.
    Local { endpoint: String },
    /// The floors of another protocol sequence, or of one of these in a form of their own.
    Other(Vec<Floor>),
}

/// What is on the right side of RPC's own protocols: a minor version, which nobody looks at.
const MINOR_VERSION: [u8; 2] = [0; 2];

impl Binding {
    /// `ncacn_ip_tcp` in a request.
    pub const ANY_TCP: Self = Self::Tcp { address: Ipv4Addr::UNSPECIFIED, port: 0 };

    /// Whether both are of one protocol sequence.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(floors), Self::Other(others)) => protocols(floors).eq(protocols(others)),
            _ => core::mem::discriminant(self) == core::mem::discriminant(other),
        }
    }

    /// What these floors mean.
    pub(super) fn of(floors: Vec<Floor>) -> Self {
        Self::known(&floors).unwrap_or(Self::Other(floors))
    }

    fn known(floors: &[Floor]) -> Option<Self> {
        if floors.iter().any(|floor| !floor.lhs.is_empty()) {
            return None;
        }
        let at_port = |port: &Floor, address: &Floor| {
            let port = u16::from_be_bytes(port.rhs.as_slice().try_into().ok()?);
            let address = <[u8; 4]>::try_from(address.rhs.as_slice()).ok()?;
            Some((Ipv4Addr::from(address), port))
        };
        let [rpc, rest @ ..] = floors else { return None };
        match (rpc.protocol, rest) {
            (ProtocolId::NCACN, [endpoint, host]) => match (endpoint.protocol, host.protocol) {
                (ProtocolId::TCP, ProtocolId::IP) => {
                    at_port(endpoint, host).map(|(address, port)| Self::Tcp { address, port })
                }
                (ProtocolId::HTTP, ProtocolId::IP) => {
                    at_port(endpoint, host).map(|(address, port)| Self::Http { address, port })
                }
                (ProtocolId::SMB, ProtocolId::NETBIOS) => {
                    Some(Self::NamedPipe { host: text(host)?, pipe: text(endpoint)? })
                }
                _ => None,
            },
            (ProtocolId::NCALRPC, [endpoint]) if endpoint.protocol == ProtocolId::LOCAL_ENDPOINT => {
                Some(Self::Local { endpoint: text(endpoint)? })
            }
            _ => None,
        }
    }

    /// The floors of it.
    pub(super) fn floors(&self) -> EncodeResult<Vec<Floor>> {
        let connected = || Floor::new(ProtocolId::NCACN, MINOR_VERSION);
        let at_port = |protocol, address: &Ipv4Addr, port: &u16| {
            let [port, address] = [port.to_be_bytes().to_vec(), address.octets().to_vec()];
            vec![connected(), Floor::new(protocol, port), Floor::new(ProtocolId::IP, address)]
        };
        Ok(match self {
            Self::Tcp { address, port } => at_port(ProtocolId::TCP, address, port),
            Self::Http { address, port } => at_port(ProtocolId::HTTP, address, port),
            Self::NamedPipe { host, pipe } => {
                vec![connected(), named(ProtocolId::SMB, pipe)?, named(ProtocolId::NETBIOS, host)?]
            }
            Self::Local { endpoint } => {
                let local = Floor::new(ProtocolId::NCALRPC, MINOR_VERSION);
                vec![local, named(ProtocolId::LOCAL_ENDPOINT, endpoint)?]
            }
            Self::Other(floors) => floors.clone(),
        })
    }

    /// Bytes of the right sides, and how many floors there are: all that differs in size.
    pub(super) fn measure(&self) -> (usize, usize) {
        let text = |text: &str| text.len() + 1 /* NUL */;
        match self {
            Self::Tcp { .. } | Self::Http { .. } => {
                (MINOR_VERSION.len() + 2 /* port */ + 4 /* address */, 3)
            }
            Self::NamedPipe { host, pipe } => (MINOR_VERSION.len() + text(pipe) + text(host), 3),
            Self::Local { endpoint } => (MINOR_VERSION.len() + text(endpoint), 2),
            Self::Other(floors) => {
                (floors.iter().map(|floor| floor.lhs.len() + floor.rhs.len()).sum(), floors.len())
            }
        }
    }
}

fn protocols(floors: &[Floor]) -> impl Iterator<Item = ProtocolId> {
    floors.iter().map(|floor| floor.protocol)
}

/// A name on the right side; `None` if it is none. Some writers leave out the NUL.
fn text(floor: &Floor) -> Option<String> {
    let bytes = floor.rhs.strip_suffix(&[0]).unwrap_or(&floor.rhs);
    let text = str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then(|| text.to_owned())
}

fn named(protocol: ProtocolId, text: &str) -> EncodeResult<Floor> {
    if text.contains('\0') {
        return Err(EncodeError::new("tower floor", "RHS", "holds a NUL"));
    }
    let mut rhs = text.as_bytes().to_vec();
    rhs.push(0);
    Ok(Floor::new(protocol, rhs))
}

/// As a string binding. Names come from a peer: what does not print is escaped.
impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Shown<'a>(&'a str);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.chars().try_for_each(|letter| match letter {
                    letter if letter.is_control() => write!(f, "{}", letter.escape_default()),
                    letter => write!(f, "{letter}"),
                })
            }
        }
        match self {
            Self::Tcp { address, port } => write!(f, "ncacn_ip_tcp:{address}[{port}]"),
            Self::Http { address, port } => write!(f, "ncacn_http:{address}[{port}]"),
            Self::NamedPipe { host, pipe } => write!(f, "ncacn_np:{}[{}]", Shown(host), Shown(pipe)),
            Self::Local { endpoint } => write!(f, "ncalrpc:[{}]", Shown(endpoint)),
            Self::Other(floors) => {
                f.write_str("protocols")?;
                protocols(floors).try_for_each(|protocol| write!(f, " {protocol}"))
            }
        }
    }
}
