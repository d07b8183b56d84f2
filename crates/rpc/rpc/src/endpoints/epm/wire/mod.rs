//! Protocol towers, C706 appendix L: bytes that are no NDR, little-endian but for ports and addresses, without padding.

use core::fmt;
use core::net::Ipv4Addr;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor,
    ensure_size, open_enum,
};

use crate::{Guid, SyntaxId};

open_enum! {
    /// C706 appendix I: the protocol of a floor.
    pub struct ProtocolId(u8) {
        /// TCP: the right side is a port.
        TCP = 0x07,
        /// UDP: the right side is a port.
        UDP = 0x08,
        /// IP: the right side is an address.
        IP = 0x09,
        NCADG = 0x0a,
        NCACN = 0x0b,
        /// RPC within one host.
        NCALRPC = 0x0c,
        /// The left side begins with a UUID.
        UUID = 0x0d,
        /// A named pipe of SMB: the right side is its name.
        SMB = 0x0f,
        /// An endpoint within one host: the right side is its name.
        LOCAL_ENDPOINT = 0x10,
        /// NetBIOS: the right side is the name of a host.
        NETBIOS = 0x11,
        /// HTTP: the right side is a port.
        HTTP = 0x1f,
    }
}

/// C706 appendix L: a floor of a tower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Its protocol, which the left side begins with.
    pub protocol: ProtocolId,
    /// The rest of the left side: what the protocol is about.
    pub lhs: Vec<u8>,
    /// The right side: the address in it.
    pub rhs: Vec<u8>,
}

impl Floor {
    const NAME: &'static str = "tower floor";
    const FIXED_PART_SIZE: usize = 2 /* LHS byte count */ + 1 /* protocol identifier */ + 2 /* RHS byte count */;

    /// A floor whose left side is the protocol alone.
    #[must_use]
    pub fn new(protocol: ProtocolId, rhs: impl Into<Vec<u8>>) -> Self {
        Self { protocol, lhs: Vec::new(), rhs: rhs.into() }
    }
}

impl Encode for Floor {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let count = |field, count: usize| {
            u16::try_from(count).map_err(|_| EncodeError::new(Self::NAME, field, "is above 16 bits"))
        };
        dst.write_u16(count("LHS byte count", 1 /* protocol identifier */ + self.lhs.len())?);
        dst.write_u8(self.protocol.0);
        dst.write_slice(&self.lhs);
        dst.write_u16(count("RHS byte count", self.rhs.len())?);
        dst.write_slice(&self.rhs);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.lhs.len() + self.rhs.len()
    }
}

impl<'de> Decode<'de> for Floor {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        let mut side = |field| {
            ensure_size!(in: src, name: Self::NAME, field: field, size: 2);
            let size = src.read_u16();
            let offset = src.pos();
            Ok((offset, src.take_slice(Self::NAME, field, usize::from(size))?))
        };
        let (offset, left) = side("LHS")?;
        let (_, right) = side("RHS")?;
        let Some((protocol, lhs)) = left.split_first() else {
            let reason = "has no protocol identifier";
            return Err(wire::DecodeError::invalid_field(Self::NAME, "LHS", offset, reason));
        };
        Ok(Self { protocol: ProtocolId(*protocol), lhs: lhs.to_vec(), rhs: right.to_vec() })
    }
}

/// Floors of one tower; the protocol sequences of C706 have five at the most.
pub const FLOORS_MAX: u16 = 16;

/// C706 appendix L: an interface, the transfer syntax that it is called in, and where its server is.
#[doc(alias = "twr_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tower {
    pub interface: SyntaxId,
    pub transfer_syntax: SyntaxId,
    /// Where the server is.
    pub binding: Binding,
}

impl Tower {
    const NAME: &'static str = "protocol tower";
    /// Bytes of a floor's two counts and its protocol.
    const FLOOR_FIXED: usize = 2 + 1 + 2;

    /// An interface in NDR.
    #[must_use]
    pub const fn ndr(interface: SyntaxId, binding: Binding) -> Self {
        Self { interface, transfer_syntax: SyntaxId::NDR, binding }
    }

    /// Whether a client that asks for `wanted` is served by the server that this tower leads to. What `wanted` says of
    /// addresses is not looked at.
    #[must_use]
    pub fn serves(&self, wanted: &Self) -> bool {
        self.interface.serves(&wanted.interface)
            && self.transfer_syntax.serves(&wanted.transfer_syntax)
            && self.binding.is_like(&wanted.binding)
    }
}

/// A UUID and its major version on the left side, the minor version on the right one.
fn identifier_floor(id: &SyntaxId) -> Floor {
    let lhs = [&id.uuid.to_bytes()[..], &id.version_major.to_le_bytes()].concat();
    Floor { protocol: ProtocolId::UUID, lhs, rhs: id.version_minor.to_le_bytes().into() }
}

fn read_identifier(src: &mut ReadCursor<'_>, field: &'static str) -> DecodeResult<SyntaxId> {
    let offset = src.pos();
    let floor = Floor::decode(src)?;
    let id = || {
        let (uuid, major) = floor.lhs.split_at_checked(Guid::FIXED_PART_SIZE)?;
        let major = u16::from_le_bytes(major.try_into().ok()?);
        let minor = u16::from_le_bytes(floor.rhs.as_slice().try_into().ok()?);
        let is_identifier = floor.protocol == ProtocolId::UUID;
        is_identifier.then_some(SyntaxId::new(Guid::from_bytes(uuid.try_into().ok()?), major, minor))
    };
    id().ok_or_else(|| DecodeError::invalid_field(Tower::NAME, field, offset, "is no UUID with a version"))
}

impl Encode for Tower {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let floors = self.binding.floors()?;
        let count = u16::try_from(2 + floors.len()).unwrap_or(u16::MAX);
        if count > FLOORS_MAX {
            return Err(EncodeError::new(Self::NAME, "floor count", "is above 16"));
        }
        dst.write_u16(count);
        identifier_floor(&self.interface).encode(dst)?;
        identifier_floor(&self.transfer_syntax).encode(dst)?;
        floors.iter().try_for_each(|floor| floor.encode(dst))
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        let (bytes, floors) = self.binding.measure();
        2 /* floor count */ + 2 * (Self::FLOOR_FIXED + SyntaxId::FIXED_PART_SIZE) + floors * Self::FLOOR_FIXED + bytes
    }
}

impl<'de> Decode<'de> for Tower {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, field: "floor count", size: 2);
        let count = src.read_u16();
        if count > FLOORS_MAX {
            let (value, limit) = (count.into(), FLOORS_MAX.into());
            return Err(DecodeError::limit_exceeded(Self::NAME, "floor count", 0, value, limit));
        }
        let Some(others) = count.checked_sub(2) else {
            let reason = "is below 2: interface and transfer syntax";
            return Err(DecodeError::invalid_field(Self::NAME, "floor count", 0, reason));
        };
        let interface = read_identifier(src, "interface")?;
        let transfer_syntax = read_identifier(src, "transfer syntax")?;
        let floors = (0..others).map(|_| Floor::decode(src)).collect::<DecodeResult<_>>()?;
        Ok(Self { interface, transfer_syntax, binding: Binding::of(floors) })
    }
}

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
    fn of(floors: Vec<Floor>) -> Self {
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
    fn floors(&self) -> EncodeResult<Vec<Floor>> {
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
    fn measure(&self) -> (usize, usize) {
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
