use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

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

    // Both vectors stand in the appendix of Microsoft's "SMB 2 and SMB 3 security in Windows 10: the anatomy of
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
