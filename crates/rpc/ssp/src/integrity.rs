//! The message integrity code over NTLM's three messages, and the LM response that would get around it.
//!
//! [MS-NLMP] 2.2.1.3: the code is at offset 72, after the version, which is there whether or not
//! NTLMSSP_NEGOTIATE_VERSION is set. `sspi` looks for it at 64 where the flag is clear, so it is checked here.

use core::ops::Range;

use crate::crypto::{self, NtlmV2Response};
use crate::message::{AuthenticateMessage, MIC_SIZE};
use crate::{Error, SessionKey};

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
pub(crate) fn seal(
    before: Before<'_>,
    authenticate: &mut [u8],
    session_key: &SessionKey,
) -> Result<(), Error> {
    const UNUSABLE: Error = Error::UnexpectedToken { reason: "the package's own message is incomplete" };
    let lm_response = AuthenticateMessage::lm_response_range(authenticate).ok_or(UNUSABLE)?;
    authenticate.get_mut(lm_response).ok_or(UNUSABLE)?.fill(0);
    authenticate.get_mut(MIC_RANGE).ok_or(UNUSABLE)?.fill(0);
    let code = crypto::hmac_md5(session_key.as_bytes(), &[before.negotiate, before.challenge, authenticate]);
    authenticate[MIC_RANGE].copy_from_slice(&*code);
    Ok(())
}

/// [MS-NLMP] 3.2.5.1.2: checks the integrity code of a client's message, where its response says that it has one.
pub(crate) fn check(
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
    if crypto::is_hmac_md5(session_key.as_bytes(), &parts, code) {
        Ok(())
    } else {
        Err(Error::WrongIntegrityCode)
    }
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
