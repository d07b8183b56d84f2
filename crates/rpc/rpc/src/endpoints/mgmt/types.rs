//! The words of the protocol.

use crate::ndr::{NdrDecode, NdrEncode};
use crate::{RpcIfId, SyntaxId};
use wire::open_enum;

/// C706 appendix Q `rpc_if_id_vector_t`
#[doc(alias = "rpc_if_id_vector_t")]
#[derive(Clone, Debug, PartialEq, Eq, Default, NdrDecode, NdrEncode)]
pub struct RpcIfIdVector {
    /// How many there are.
    pub count: u32,
    #[ndr(conformant, size_is = count)]
    pub if_id: Vec<Option<Box<RpcIfId>>>,
}

impl RpcIfIdVector {
    /// A vector of these interfaces, of which there are fewer than 32 bits can count.
    #[must_use]
    pub fn new(interfaces: impl IntoIterator<Item = SyntaxId>) -> Self {
        let if_id: Vec<_> = interfaces.into_iter().map(|id| Some(Box::new(id.into()))).collect();
        Self { count: u32::try_from(if_id.len()).unwrap_or(u32::MAX), if_id }
    }

    pub fn interfaces(&self) -> impl Iterator<Item = SyntaxId> {
        self.if_id.iter().flatten().map(|id| SyntaxId::from(**id))
    }
}

/// C706 appendix Q `rpc_stats_vector_t`: what a server has counted since it was started. Each is of 32 bits, and wraps.
#[doc(alias = "rpc_stats_vector_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    #[doc(alias = "rpc_c_stats_calls_in")]
    pub calls_in: u32,
    #[doc(alias = "rpc_c_stats_calls_out")]
    pub calls_out: u32,
    #[doc(alias = "rpc_c_stats_pkts_in")]
    pub packets_in: u32,
    #[doc(alias = "rpc_c_stats_pkts_out")]
    pub packets_out: u32,
}

impl Statistics {
    /// How many there are.
    pub const COUNT: u32 = 4;

    /// In the order of the wire.
    #[must_use]
    pub const fn to_array(self) -> [u32; 4] {
        [self.calls_in, self.calls_out, self.packets_in, self.packets_out]
    }

    /// From the order of the wire. What follows is not looked at; `None` if there are too few.
    #[must_use]
    pub const fn from_slice(statistics: &[u32]) -> Option<Self> {
        match *statistics {
            [calls_in, calls_out, packets_in, packets_out, ..] => {
                Some(Self { calls_in, calls_out, packets_in, packets_out })
            }
            _ => None,
        }
    }
}

open_enum! {
    /// [MS-RPCE] 2.2.1.1.7: a security provider.
    #[derive(NdrDecode, NdrEncode)]
    pub struct AuthenticationService(u32) {
        GSS_NEGOTIATE = 9,
        WINNT = 10,
        GSS_KERBEROS = 16,
    }
}
