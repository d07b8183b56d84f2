use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{Opener, PreauthHash, Sealer, Side, Signer};
use crate::{Cipher, Dialect, SigningAlgorithm};

/// All that the keys of a session are made of, [MS-SMB2] 3.2.5.3.1 and 3.3.5.5.3.
pub struct KeyMaterial<'a> {
    pub side: Side,
    pub dialect: Dialect,
    pub signing: SigningAlgorithm,
    pub cipher: Option<Cipher>,
    pub preauth: &'a PreauthHash,
    /// As the security context exports it.
    pub session_key: &'a [u8],
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

    pub fn signer(&self) -> Signer {
        let session_key = self.session_key();
        let key = match self.dialect {
            Dialect::Smb2_1 => session_key,
            Dialect::Smb3_0 | Dialect::Smb3_0_2 => derive(&*session_key, b"SMB2AESCMAC\0", b"SmbSign\0"),
            Dialect::Smb3_1_1 => derive(&*session_key, b"SMBSigningKey\0", self.preauth.as_bytes()),
        };
        Signer::new(self.signing, &key, self.side)
    }

    /// What encrypts and what decrypts, where a cipher was agreed upon.
    pub fn ciphers(&self) -> Option<(Sealer, Opener)> {
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

/// SP800-108 5.1 in counter mode with HMAC-SHA256, as [MS-SMB2] 3.1.4.2 sets its parameters: a counter of 32
/// bits, and the length in bits, in 32 bits, at the end. `label` and `context` bring their own NULs.
///
/// One round makes 32 bytes, which is the longest key there is.
pub(super) fn derive<const N: usize>(key: &[u8], label: &[u8], context: &[u8]) -> Zeroizing<[u8; N]> {
    const { assert!(N == 16 || N == 32, "SMB keys have 128 or 256 bits") };
    const FIRST_COUNTER: [u8; 4] = 1_u32.to_be_bytes();
    let bits: [u8; 4] = if N == 16 { 128_u32.to_be_bytes() } else { 256_u32.to_be_bytes() };
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(&FIRST_COUNTER);
    mac.update(label);
    mac.update(&[0]);
    mac.update(context);
    mac.update(&bits);
    let block = Zeroizing::new(<[u8; 32]>::from(mac.finalize().into_bytes()));
    let mut derived = Zeroizing::new([0; N]);
    derived.copy_from_slice(&block[..N]);
    derived
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number<const N: usize>(bytes: [u8; N]) -> String {
        bytes.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    // Both vectors are in the appendix of Microsoft's "SMB 2 and SMB 3 security in Windows 10: the anatomy of
    // signing and cryptographic keys" (Open Specifications blog): the master channels of 3.0 and of 3.1.1.
    #[test]
    fn keys_of_3_0_are_those_that_microsoft_published() {
        let session_key = 0x7CD4_5182_5D04_50D2_3542_4E44_BA6E_78CC_u128.to_be_bytes();
        let key = |label: &[u8], context: &[u8]| number(*derive::<16>(&session_key, label, context));
        assert_eq!(key(b"SMB2AESCMAC\0", b"SmbSign\0"), "0B7E9C5CAC36C0F6EA9AB275298CEDCE");
        assert_eq!(key(b"SMB2AESCCM\0", b"ServerIn \0"), "FAD27796665B313EBB578F388632B4F7");
        assert_eq!(key(b"SMB2AESCCM\0", b"ServerOut\0"), "B0F0427F7CEB416D1D9DCC0CD4F99447");
    }

    // Made with KBKDFHMAC of Python's `cryptography` (CounterMode, SHA256, rlen 4, llen 4).
    #[test]
    fn a_key_of_256_bits_tells_its_length_to_the_derivation() {
        let session_key = 0x270E_1BA8_9658_5EEB_7AF3_472D_3B4C_75A7_u128.to_be_bytes();
        let context: [u8; 64] = core::array::from_fn(|position| u8::try_from(position).unwrap());
        let key = number(*derive::<32>(&session_key, b"SMBC2SCipherKey\0", &context));
        assert_eq!(key, "C273F0DE35671E766EF5106B605054D70385F9237F1327662763DE8AC2444317");
    }
}
