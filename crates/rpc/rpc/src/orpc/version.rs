use core::fmt;

use crate::ndr::{NdrDecode, NdrEncode};

/// [MS-DCOM] 2.2.11 `COMVERSION`: a version of DCOM.
#[doc(alias = "COMVERSION")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, NdrEncode, NdrDecode)]
pub struct ComVersion {
    /// 5 in all versions there are.
    #[doc(alias = "MajorVersion")]
    pub major: u16,
    /// 1, 2, 4, 6 or 7.
    #[doc(alias = "MinorVersion")]
    pub minor: u16,
}

impl ComVersion {
    /// The first version: activation by `IActivation` alone, and no `ServerAlive2`. What a server has that does not say.
    pub const V5_1: Self = Self { major: 5, minor: 1 };
    /// The version with `IRemoteSCMActivator`, `IRemUnknown2` and `ServerAlive2`.
    pub const V5_6: Self = Self { major: 5, minor: 6 };
    /// What all supported versions of Windows speak.
    pub const V5_7: Self = Self { major: 5, minor: 7 };

    /// [MS-DCOM] 1.7: what a client of this version says to a server of that one: the lower minor version. `None` if the
    /// major versions differ, and the server cannot be called.
    #[must_use]
    pub fn negotiate(self, server: Self) -> Option<Self> {
        (self.major == server.major).then(|| {
            let minor = match self.minor.min(server.minor) {
                // These two are not used in a negotiation.
                unused @ (3 | 5) => unused - 1,
                minor => minor,
            };
            Self { major: self.major, minor }
        })
    }

    /// [MS-DCOM] 1.7: whether a server of this version answers a client of that one.
    #[must_use]
    pub const fn accepts(self, client: Self) -> bool {
        self.major == client.major && client.minor <= self.minor
    }
}

impl fmt::Display for ComVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
