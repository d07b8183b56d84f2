//! The service's name in a client's response, which `sspi` leaves out.
//!
//! A client repeats the server's target information in its response and adds `MsvAvTargetName` to it, so that a
//! response cannot be passed on to another service. `sspi` only repeats; so it is given a challenge that has
//! the name in it already. The message integrity code is then made anew, over the challenge as the server sent it.

use codec::{DecodeError, DecodeResult, encode_utf16};

use crate::SessionKey;
use crate::crypto::hmac_md5;
use crate::message::{AvPairs, ChallengeMessage, MIC_OFFSET, MIC_SIZE};

/// Adds `MsvAvTargetName` to a challenge that [`ChallengeMessage`] could read.
pub(crate) fn add_to_challenge(
    challenge: &[u8],
    decoded: &ChallengeMessage<'_>,
    target_name: &str,
) -> DecodeResult<Vec<u8>> {
    let mut target_info = Vec::with_capacity(decoded.target_info.len() + 2 * target_name.len() + 8);
    for pair in AvPairs::new(decoded.target_info) {
        let pair = pair?;
        if pair.id != AvPairs::TARGET_NAME {
            push_pair(&mut target_info, pair.id, pair.value)?;
        }
    }
    push_pair(&mut target_info, AvPairs::TARGET_NAME, &encode_utf16(target_name))?;
    push_pair(&mut target_info, AvPairs::EOL, &[])?;

    // The new target information goes to the end; what the old one's place holds is not looked at any more.
    let mut changed = challenge.to_vec();
    let length = length_field(target_info.len())?;
    let offset = u32::try_from(challenge.len()).map_err(|_| too_long())?;
    let fields = &mut changed[ChallengeMessage::TARGET_INFO_FIELDS_OFFSET..][..8];
    fields[..2].copy_from_slice(&length.to_le_bytes());
    fields[2..4].copy_from_slice(&length.to_le_bytes());
    fields[4..].copy_from_slice(&offset.to_le_bytes());
    changed.extend_from_slice(&target_info);
    Ok(changed)
}

/// [MS-NLMP] 3.1.5.1.2: makes the message integrity code of `authenticate` anew, over the messages as they were sent.
pub(crate) fn renew_mic(
    negotiate: &[u8],
    challenge: &[u8],
    authenticate: &mut [u8],
    session_key: &SessionKey,
) {
    let Some(mic) = authenticate.get_mut(MIC_OFFSET..MIC_OFFSET + MIC_SIZE) else {
        return;
    };
    mic.fill(0);
    let code = hmac_md5(session_key.as_bytes(), &[negotiate, challenge, authenticate]);
    authenticate[MIC_OFFSET..MIC_OFFSET + MIC_SIZE].copy_from_slice(&*code);
}

fn push_pair(target_info: &mut Vec<u8>, id: u16, value: &[u8]) -> DecodeResult<()> {
    target_info.extend_from_slice(&id.to_le_bytes());
    target_info.extend_from_slice(&length_field(value.len())?.to_le_bytes());
    target_info.extend_from_slice(value);
    Ok(())
}

fn length_field(length: usize) -> DecodeResult<u16> {
    u16::try_from(length).map_err(|_| too_long())
}

fn too_long() -> DecodeError {
    DecodeError::invalid_field("CHALLENGE_MESSAGE", "TargetInfo", 0, "no room for the target name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::CHALLENGE;

    #[test]
    fn the_name_is_added_and_everything_else_stays() {
        let decoded: ChallengeMessage<'_> = codec::decode(CHALLENGE).unwrap();
        let changed = add_to_challenge(CHALLENGE, &decoded, "cifs/web1").unwrap();
        let again: ChallengeMessage<'_> = codec::decode(&changed).unwrap();
        assert_eq!(again.server_info(), decoded.server_info());
        let pairs: Vec<_> = AvPairs::new(again.target_info).map(Result::unwrap).collect();
        assert_eq!(pairs.iter().map(|pair| pair.id).collect::<Vec<_>>(), [2, 1, AvPairs::TARGET_NAME]);
        assert_eq!(pairs[2].value, encode_utf16("cifs/web1"));
    }

    #[test]
    fn a_name_that_the_server_claims_for_us_is_replaced() {
        let decoded: ChallengeMessage<'_> = codec::decode(CHALLENGE).unwrap();
        let changed = add_to_challenge(CHALLENGE, &decoded, "cifs/evil").unwrap();
        let decoded: ChallengeMessage<'_> = codec::decode(&changed).unwrap();
        let changed = add_to_challenge(&changed, &decoded, "cifs/web1").unwrap();
        let decoded: ChallengeMessage<'_> = codec::decode(&changed).unwrap();
        let names: Vec<_> = AvPairs::new(decoded.target_info)
            .map(Result::unwrap)
            .filter(|pair| pair.id == AvPairs::TARGET_NAME)
            .collect();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].value, encode_utf16("cifs/web1"));
    }
}
