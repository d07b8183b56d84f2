use std::net::{IpAddr, Ipv6Addr};

use wire::open_enum;

use super::sealed::Stored;
use super::{Fields, Malformed};
use crate::layout::CellId;

open_enum! {
    /// What a connection is used for.
    pub struct ConnectionFlags(u8) {
        /// One call at a time.
        EXCLUSIVE = 0x01,
        /// Several calls at a time.
        NON_EXCLUSIVE = 0x00,
    }
}

open_enum! {
    /// [MS-RPCE] 2.2.1.1.8: how calls are protected.
    pub struct AuthenticationLevel(u8) {
        /// The level that is used if none is asked for.
        DEFAULT = 0,
        NONE = 1,
        /// The client is authenticated when it connects.
        CONNECT = 2,
        /// The same as packets.
        CALL = 3,
        /// Each packet is known to be the client's.
        PKT = 4,
        PKT_INTEGRITY = 5,
        PKT_PRIVACY = 6,
    }
}

open_enum! {
    /// [MS-RPCE] 2.2.1.1.7: a security provider.
    pub struct AuthenticationService(u8) {
        NONE = 0,
        GSS_NEGOTIATE = 9,
        WINNT = 10,
        GSS_SCHANNEL = 14,
        GSS_KERBEROS = 16,
        NETLOGON = 68,
    }
}

/// A connection, which carries calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Connection {
    /// What it is used for.
    pub flags: ConnectionFlags,
    /// How its calls are protected.
    pub authentication_level: AuthenticationLevel,
    /// By which security provider.
    pub authentication_service: AuthenticationService,
    /// The size of the last fragment that was sent.
    #[doc(alias = "LastTransmitFragmentSize")]
    pub last_transmit_fragment_bytes: u32,
    /// The endpoint that the connection was accepted on; none for a client's connection.
    pub endpoint: CellId,
    /// When something was last sent, in milliseconds after boot.
    #[doc(alias = "LastSendTime")]
    pub last_send_ms: u64,
    /// When something was last received, in milliseconds after boot.
    #[doc(alias = "LastReceiveTime")]
    pub last_receive_ms: u64,
    /// The address of the other side, if it has one.
    pub peer: Option<IpAddr>,
    /// The cell of its [`ConnectionTotals`](super::ConnectionTotals).
    pub totals: CellId,
    /// Where a client's connection leads: the cell of a [`CallTarget`](super::CallTarget).
    pub target: CellId,
}

impl Stored for Connection {
    fn write(&self, fields: &mut Fields) {
        fields.put(1, [self.flags.0, self.authentication_level.0, self.authentication_service.0]);
        fields.put(4, self.last_transmit_fragment_bytes.to_le_bytes());
        fields.put_cell_id(8, self.endpoint);
        fields.put_cell_id(12, self.totals);
        fields.put(16, self.last_send_ms.to_le_bytes());
        fields.put(24, self.last_receive_ms.to_le_bytes());
        // The unspecified address is nobody's, so it stands for none.
        let peer = match self.peer {
            Some(IpAddr::V4(address)) => address.to_ipv6_mapped(),
            Some(IpAddr::V6(address)) => address,
            None => Ipv6Addr::UNSPECIFIED,
        };
        fields.put(32, peer.octets());
        fields.put_cell_id(48, self.target);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        let [flags, authentication_level, authentication_service] = fields.get(1);
        let peer = Ipv6Addr::from(fields.get::<16>(32));
        Ok(Self {
            flags: ConnectionFlags(flags),
            authentication_level: AuthenticationLevel(authentication_level),
            authentication_service: AuthenticationService(authentication_service),
            last_transmit_fragment_bytes: fields.u32(4),
            endpoint: fields.cell_id(8),
            last_send_ms: fields.u64(16),
            last_receive_ms: fields.u64(24),
            peer: (!peer.is_unspecified()).then(|| IpAddr::V6(peer).to_canonical()),
            totals: fields.cell_id(12),
            target: fields.cell_id(48),
        })
    }
}

/// What a [`Connection`](super::Connection) has carried since it was made. It only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ConnectionTotals {
    /// Fragments that were sent.
    pub fragments_sent: u64,
    /// Fragments that were received.
    pub fragments_received: u64,
    /// Bytes of the fragments that were sent.
    pub bytes_sent: u64,
    /// Bytes of the fragments that were received.
    pub bytes_received: u64,
}

impl Stored for ConnectionTotals {
    fn write(&self, fields: &mut Fields) {
        fields.put(8, self.fragments_sent.to_le_bytes());
        fields.put(16, self.fragments_received.to_le_bytes());
        fields.put(24, self.bytes_sent.to_le_bytes());
        fields.put(32, self.bytes_received.to_le_bytes());
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            fragments_sent: fields.u64(8),
            fragments_received: fields.u64(16),
            bytes_sent: fields.u64(24),
            bytes_received: fields.u64(32),
        })
    }
}
