use core::fmt;

use wire::open_enum;

/// A dialect that this crate speaks. SMB1 and 2.0.2 are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Windows 7 and Server 2008 R2.
    Smb2_1,
    /// Windows 8 and Server 2012.
    Smb3_0,
    /// Windows 8.1 and Server 2012 R2.
    Smb3_0_2,
    /// Windows 10, Server 2016 and later.
    Smb3_1_1,
}

impl Dialect {
    /// All of them, the oldest first.
    pub const ALL: [Self; 4] = [Self::Smb2_1, Self::Smb3_0, Self::Smb3_0_2, Self::Smb3_1_1];

    /// The dialect's number on the wire.
    #[must_use]
    pub const fn revision(self) -> DialectRevision {
        match self {
            Self::Smb2_1 => DialectRevision::SMB_2_1,
            Self::Smb3_0 => DialectRevision::SMB_3_0,
            Self::Smb3_0_2 => DialectRevision::SMB_3_0_2,
            Self::Smb3_1_1 => DialectRevision::SMB_3_1_1,
        }
    }

    /// Whether keys are derived and messages can be encrypted.
    #[must_use]
    pub const fn is_smb3(self) -> bool {
        !matches!(self, Self::Smb2_1)
    }
}

impl TryFrom<DialectRevision> for Dialect {
    type Error = DialectRevision;

    fn try_from(revision: DialectRevision) -> Result<Self, Self::Error> {
        Self::ALL.into_iter().find(|dialect| dialect.revision() == revision).ok_or(revision)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Smb2_1 => "2.1",
            Self::Smb3_0 => "3.0",
            Self::Smb3_0_2 => "3.0.2",
            Self::Smb3_1_1 => "3.1.1",
        })
    }
}

open_enum! {
    /// `DialectRevision` of [MS-SMB2] 2.2.4.
    pub struct DialectRevision(u16) {
        /// Windows Vista; refused here.
        SMB_2_0_2 = 0x0202,
        SMB_2_1 = 0x0210,
        SMB_3_0 = 0x0300,
        SMB_3_0_2 = 0x0302,
        SMB_3_1_1 = 0x0311,
        /// The answer to an SMB1 negotiation that offers "SMB 2.???".
        SMB_2_WILDCARD = 0x02FF,
    }
}

/// [MS-SMB2] 2.2.3.1.2: how messages are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cipher {
    /// The only one of 3.0 and 3.0.2.
    Aes128Ccm,
    /// The fastest, and the default of Windows.
    Aes128Gcm,
    /// From Windows Server 2022 on.
    Aes256Ccm,
    /// From Windows Server 2022 on.
    Aes256Gcm,
}

impl Cipher {
    /// All of them, those we like best first.
    pub const ALL: [Self; 4] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::Aes128Ccm, Self::Aes256Ccm];

    /// The cipher's number on the wire.
    #[must_use]
    pub const fn id(self) -> u16 {
        match self {
            Self::Aes128Ccm => 1,
            Self::Aes128Gcm => 2,
            Self::Aes256Ccm => 3,
            Self::Aes256Gcm => 4,
        }
    }

    /// The cipher of that number, where this crate has it.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|cipher| cipher.id() == id)
    }
}

impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128Ccm => "AES-128-CCM",
            Self::Aes128Gcm => "AES-128-GCM",
            Self::Aes256Ccm => "AES-256-CCM",
            Self::Aes256Gcm => "AES-256-GCM",
        })
    }
}

/// [MS-SMB2] 2.2.3.1.7: how messages are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SigningAlgorithm {
    /// The one of 2.1.
    HmacSha256,
    /// The one of 3.0 to 3.1.1 where nothing else was negotiated.
    AesCmac,
    /// From Windows Server 2022 on, by negotiation.
    AesGmac,
}

impl SigningAlgorithm {
    /// All of them, those we like best first.
    pub const ALL: [Self; 3] = [Self::AesGmac, Self::AesCmac, Self::HmacSha256];

    /// The algorithm's number on the wire.
    #[must_use]
    pub const fn id(self) -> u16 {
        match self {
            Self::HmacSha256 => 0,
            Self::AesCmac => 1,
            Self::AesGmac => 2,
        }
    }

    /// The algorithm of that number, where this crate has it.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.id() == id)
    }
}

impl fmt::Display for SigningAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HmacSha256 => "HMAC-SHA256",
            Self::AesCmac => "AES-CMAC",
            Self::AesGmac => "AES-GMAC",
        })
    }
}
