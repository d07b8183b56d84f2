use core::ops::Range;

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use wire::{DecodeResult, encode_utf16};
use zeroize::Zeroizing;

use super::{Error, SessionKey};
use crate::Secret;
use crate::message::{AuthenticateMessage, AvPair, AvPairs, MIC_SIZE};

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

// The message integrity code over NTLM's three messages, and the LM response that would get around it.
//
// [MS-NLMP] 2.2.1.3: the code is at offset 72, after the version, which is there whether or not
// NTLMSSP_NEGOTIATE_VERSION is set. `sspi` looks for it at 64 where the flag is clear, so it is checked here.

/// The two messages that come before an AUTHENTICATE_MESSAGE, as they were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<'a> {
    pub(crate) negotiate: &'a [u8],
    pub(crate) challenge: &'a [u8],
}

/// Takes the LM response out of a client's message and makes its integrity code again.
///
/// [MS-NLMP] 3.1.5.1.2 wants zeros where the server gives its time. Here there are zeros for every server: an LMv2
/// response proves the password to whoever passes it on, and is bound neither to the integrity code nor to the
/// service's name. No server needs it beside an NTLMv2 response, and no key is made of it.
pub(crate) fn add_integrity(
    before: Before<'_>,
    authenticate: &mut [u8],
    session_key: &SessionKey,
) -> Result<(), Error> {
    const UNUSABLE: Error = Error::UnexpectedToken { reason: "the package's own message is incomplete" };
    let lm_response = AuthenticateMessage::lm_response_range(authenticate).ok_or(UNUSABLE)?;
    authenticate.get_mut(lm_response).ok_or(UNUSABLE)?.fill(0);
    authenticate.get_mut(MIC_RANGE).ok_or(UNUSABLE)?.fill(0);
    let code = hmac_md5(session_key.as_bytes(), &[before.negotiate, before.challenge, authenticate]);
    authenticate[MIC_RANGE].copy_from_slice(&*code);
    Ok(())
}

/// [MS-NLMP] 3.2.5.1.2: checks the integrity code of a client's message, where its response says that it has one.
pub(crate) fn check_integrity(
    before: Before<'_>,
    authenticate: &[u8],
    response: &NtlmV2Response<'_>,
    session_key: &SessionKey,
) -> Result<(), Error> {
    if !response.claims_integrity_code()? {
        return Ok(());
    }
    let Some(code) = authenticate.get(MIC_RANGE) else {
        return Err(Error::WrongIntegrityCode);
    };
    let (front, back) = (&authenticate[..MIC_RANGE.start], &authenticate[MIC_RANGE.end..]);
    let parts = [before.negotiate, before.challenge, front, &[0; MIC_SIZE], back];
    if is_hmac_md5(session_key.as_bytes(), &parts, code) { Ok(()) } else { Err(Error::WrongIntegrityCode) }
}

/// A client's message for `sspi`, which shall not look for the integrity code: it does where this flag is set, and
/// the flag means nothing else to it.
pub(crate) fn without_target_info_flag(authenticate: &[u8]) -> Vec<u8> {
    let mut changed = authenticate.to_vec();
    if let Some(flags) = changed.get_mut(AuthenticateMessage::NEGOTIATE_FLAGS_RANGE) {
        for (byte, cleared) in flags.iter_mut().zip(NTLMSSP_NEGOTIATE_TARGET_INFO.to_le_bytes()) {
            *byte &= !cleared;
        }
    }
    changed
}

const MIC_RANGE: Range<usize> = AuthenticateMessage::MIC_OFFSET..AuthenticateMessage::MIC_OFFSET + MIC_SIZE;

const NTLMSSP_NEGOTIATE_TARGET_INFO: u32 = 0x0080_0000;

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
