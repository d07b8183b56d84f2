use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use wire::{DecodeResult, encode_utf16};
use zeroize::Zeroizing;

use crate::Secret;
use crate::message::{AvPair, AvPairs};

/// HMAC-MD5 of all `parts` after one another.
pub(crate) fn hmac_md5(key: &[u8; 16], parts: &[&[u8]]) -> Zeroizing<[u8; 16]> {
    Zeroizing::new(keyed(key, parts).finalize().into_bytes().into())
}

/// Whether `code` is the HMAC-MD5 of all `parts` after one another; takes as long for every wrong one.
pub(crate) fn is_hmac_md5(key: &[u8; 16], parts: &[&[u8]], code: &[u8]) -> bool {
    keyed(key, parts).verify_slice(code).is_ok()
}

/// Compares in the same time wherever the difference is.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

/// `NTOWFv2` of [MS-NLMP] 3.3.2.
#[doc(alias = "NTOWFv2")]
fn ntowf_v2(password: &Secret, user: &str, domain: &str) -> Zeroizing<[u8; 16]> {
    let password = Zeroizing::new(encode_utf16(password.expose()));
    let hash: Zeroizing<[u8; 16]> = Zeroizing::new(Md4::digest(&*password).into());
    hmac_md5(&hash, &[&encode_utf16(&user.to_uppercase()), &encode_utf16(domain)])
}

/// Whether an NTLMv2 response ([MS-NLMP] 2.2.2.8) was made with the password, for that account and challenge.
///
/// `sspi` takes the message integrity code for a proof, which a client may leave out; this does not.
pub(crate) fn is_response_genuine(
    nt_response: &NtlmV2Response<'_>,
    server_challenge: &[u8; 8],
    password: &Secret,
    user: &str,
    domain: &str,
) -> bool {
    let key = ntowf_v2(password, user, domain);
    is_hmac_md5(&key, &[server_challenge, nt_response.client_challenge], nt_response.proof)
}

/// `NTLMv2_RESPONSE` of [MS-NLMP] 2.2.2.8.
#[doc(alias = "NTLMv2_RESPONSE")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct NtlmV2Response<'a> {
    proof: &'a [u8; 16],
    client_challenge: &'a [u8],
}

impl<'a> NtlmV2Response<'a> {
    /// [MS-NLMP] 2.2.2.7: RespType to AvPairs, which have at least their end.
    const CLIENT_CHALLENGE_SIZE_MIN: usize = Self::AV_PAIRS_OFFSET + 4;
    const AV_PAIRS_OFFSET: usize = 28;
    /// The bit of `MsvAvFlags` that announces a message integrity code.
    const HAS_INTEGRITY_CODE: u32 = 2;

    /// `None` for a response of another version.
    pub(crate) fn new(nt_response: &'a [u8]) -> Option<Self> {
        let (proof, client_challenge) = nt_response.split_first_chunk()?;
        (client_challenge.len() >= Self::CLIENT_CHALLENGE_SIZE_MIN && client_challenge.starts_with(&[1, 1]))
            .then_some(Self { proof, client_challenge })
    }

    /// Whether the client says in what the proof covers that the message has an integrity code.
    pub(crate) fn claims_integrity_code(&self) -> DecodeResult<bool> {
        for pair in AvPairs::new(&self.client_challenge[Self::AV_PAIRS_OFFSET..]) {
            let AvPair { id, value } = pair?;
            let flags = value.try_into().map_or(0, u32::from_le_bytes);
            if id == AvPairs::FLAGS && flags & Self::HAS_INTEGRITY_CODE != 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn keyed(key: &[u8; 16], parts: &[&[u8]]) -> Hmac<Md5> {
    // The one-shot constructor would answer an error that a key of fixed length cannot cause.
    let mut mac = <Hmac<Md5> as KeyInit>::new(&block(key));
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// HMAC fills a short key up with zeros to the hash's block.
fn block(key: &[u8; 16]) -> hmac::digest::Key<Hmac<Md5>> {
    let mut block = hmac::digest::Key::<Hmac<Md5>>::default();
    block[..key.len()].copy_from_slice(key);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{AuthenticateMessage, ChallengeMessage, tests};

    /// See section 4.2.4.1.1 of [MS-NLMP].
    #[test]
    fn the_key_of_an_account_is_that_of_the_published_example() {
        let expected =
            [0x0c, 0x86, 0x8a, 0x40, 0x3b, 0xfd, 0x7a, 0x93, 0xa3, 0x00, 0x1e, 0xf2, 0x2e, 0xf0, 0x2e, 0x3f];
        assert_eq!(*ntowf_v2(&Secret::new("Password"), "User", "Domain"), expected);
    }

    /// [MS-NLMP] 4.2.4.2.2 and 4.2.4.3
    #[test]
    fn the_published_response_is_genuine_for_its_password_only() {
        let challenge: ChallengeMessage<'_> = wire::decode(tests::CHALLENGE).unwrap();
        let message: AuthenticateMessage<'_> = wire::decode(tests::AUTHENTICATE).unwrap();
        let response = NtlmV2Response::new(message.nt_response).unwrap();
        let judge = |password: &str, user: &str| {
            let password = Secret::new(password);
            is_response_genuine(&response, &challenge.server_challenge, &password, user, &message.domain)
        };
        assert!(judge("Password", "User"));
        assert!(judge("Password", "uSER"), "the case of the user does not matter");
        assert!(!judge("password", "User"));
        assert!(!judge("Password", "Other"));
    }

    #[test]
    fn a_response_of_version_1_is_none() {
        assert!(NtlmV2Response::new(&[1; 24]).is_none());
    }
}
