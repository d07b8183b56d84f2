use zeroize::Zeroizing;

use super::kdf::derive;
use super::{Opener, PreauthHash, Sealer, Side, Signer};
use crate::{Cipher, Dialect, SigningAlgorithm};

/// All that the keys of a session are made of, [MS-SMB2] 3.2.5.3.1 and 3.3.5.5.3.
pub(crate) struct KeyMaterial<'a> {
    pub(crate) side: Side,
    pub(crate) dialect: Dialect,
    pub(crate) signing: SigningAlgorithm,
    pub(crate) cipher: Option<Cipher>,
    pub(crate) preauth: &'a PreauthHash,
    /// As the security context exports it.
    pub(crate) session_key: &'a [u8],
}

/// Label and context of a derivation.
type Purpose<'a> = (&'a [u8], &'a [u8]);

impl KeyMaterial<'_> {
    /// The first 16 bytes of the exported key, zeros appended where it has fewer.
    fn session_key(&self) -> Zeroizing<[u8; 16]> {
        let mut key = Zeroizing::new([0; 16]);
        let size = self.session_key.len().min(16);
        key[..size].copy_from_slice(&self.session_key[..size]);
        key
    }

    pub(crate) fn signer(&self) -> Signer {
        let session_key = self.session_key();
        let key = match self.dialect {
            Dialect::Smb2_1 => session_key,
            Dialect::Smb3_0 | Dialect::Smb3_0_2 => derive(&*session_key, b"SMB2AESCMAC\0", b"SmbSign\0"),
            Dialect::Smb3_1_1 => derive(&*session_key, b"SMBSigningKey\0", self.preauth.as_bytes()),
        };
        Signer::new(self.signing, &key, self.side)
    }

    /// What encrypts and what decrypts, where a cipher was agreed upon.
    pub(crate) fn ciphers(&self) -> Option<(Sealer, Opener)> {
        let cipher = self.cipher?;
        let (to_server, to_client): (Purpose<'_>, Purpose<'_>) = match self.dialect {
            Dialect::Smb2_1 => return None,
            // The blank in "ServerIn " is no slip: both contexts have ten bytes.
            Dialect::Smb3_0 | Dialect::Smb3_0_2 => {
                ((b"SMB2AESCCM\0", b"ServerIn \0"), (b"SMB2AESCCM\0", b"ServerOut\0"))
            }
            Dialect::Smb3_1_1 => {
                let context: &[u8] = self.preauth.as_bytes();
                ((b"SMBC2SCipherKey\0", context), (b"SMBS2CCipherKey\0", context))
            }
        };
        let (outgoing, incoming) = match self.side {
            Side::Client => (to_server, to_client),
            Side::Server => (to_client, to_server),
        };
        Some(match cipher {
            Cipher::Aes128Ccm | Cipher::Aes128Gcm => {
                let key = self.session_key();
                let outgoing = derive::<16>(&*key, outgoing.0, outgoing.1);
                let incoming = derive::<16>(&*key, incoming.0, incoming.1);
                (Sealer::new(cipher, &*outgoing), Opener::new(cipher, &*incoming))
            }
            // Keys of 256 bits come from the whole exported key, which Kerberos makes longer than 16 bytes.
            Cipher::Aes256Ccm | Cipher::Aes256Gcm => {
                let outgoing = derive::<32>(self.session_key, outgoing.0, outgoing.1);
                let incoming = derive::<32>(self.session_key, incoming.0, incoming.1);
                (Sealer::new(cipher, &*outgoing), Opener::new(cipher, &*incoming))
            }
        })
    }
}
