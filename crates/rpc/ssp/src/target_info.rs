//! What a client says in its response beside the password's proof, and `sspi` leaves out.
//!
//! A client repeats the server's target information in its response and adds to it ([MS-NLMP] 3.1.5.1.2):
//! `MsvAvTargetName`, so that a response cannot be passed on to another service, `MsvAvChannelBindings`, and the bit
//! of `MsvAvFlags` that makes the server check the message integrity code. `sspi` repeats whatever the server claims
//! and appends the flags. So it is given a challenge that has our pairs in place of the server's already.

use wire::{DecodeError, DecodeResult, encode_utf16};

use crate::message::{AvPairs, ChallengeMessage};

/// Puts the pairs that are the client's to write into a challenge that [`ChallengeMessage`] could read.
pub(crate) fn prepare_challenge(
    challenge: &[u8],
    decoded: &ChallengeMessage<'_>,
    target_name: &str,
) -> DecodeResult<Vec<u8>> {
    let mut target_info = Vec::with_capacity(decoded.target_info.len() + 2 * target_name.len() + 32);
    for pair in AvPairs::new(decoded.target_info) {
        let pair = pair?;
        if !CLIENT_PAIRS.contains(&pair.id) {
            push_pair(&mut target_info, pair.id, pair.value)?;
        }
    }
    push_pair(&mut target_info, AvPairs::CHANNEL_BINDINGS, &NO_CHANNEL_BINDINGS)?;
    push_pair(&mut target_info, AvPairs::TARGET_NAME, &encode_utf16(target_name))?;
    push_pair(&mut target_info, AvPairs::EOL, &[])?;

    // The new target information is appended; the bytes of the old one stay, unreferenced.
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

/// The pairs that a server has no say in. A `MsvAvFlags` of the server's before that of `sspi` would be taken for it,
/// and the integrity code would not be checked.
const CLIENT_PAIRS: [u16; 3] = [AvPairs::FLAGS, AvPairs::TARGET_NAME, AvPairs::CHANNEL_BINDINGS];

/// [MS-NLMP] 2.2.2.1: all zeros mean that there is no channel to bind to. Neither SMB nor RPC runs over TLS here.
const NO_CHANNEL_BINDINGS: [u8; 16] = [0; 16];

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

    fn pairs(challenge: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let decoded: ChallengeMessage<'_> = wire::decode(challenge).unwrap();
        AvPairs::new(decoded.target_info)
            .map(|pair| pair.map(|pair| (pair.id, pair.value.to_vec())).unwrap())
            .collect()
    }

    #[test]
    fn name_and_channel_bindings_are_added_and_everything_else_stays() {
        let decoded: ChallengeMessage<'_> = wire::decode(CHALLENGE).unwrap();
        let changed = prepare_challenge(CHALLENGE, &decoded, "cifs/web1").unwrap();
        let again: ChallengeMessage<'_> = wire::decode(&changed).unwrap();
        assert_eq!(again.server_info(), decoded.server_info());
        let pairs = pairs(&changed);
        assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), [2, 1, 10, 9]);
        assert_eq!(pairs[2].1, [0; 16]);
        assert_eq!(pairs[3].1, encode_utf16("cifs/web1"));
    }

    /// A server that could choose the name, the flags or the bindings could pass the response on.
    #[test]
    fn what_the_server_claims_for_us_is_replaced() {
        let claimed = {
            let mut target_info = Vec::new();
            push_pair(&mut target_info, AvPairs::FLAGS, &[0; 4]).unwrap();
            push_pair(&mut target_info, AvPairs::TARGET_NAME, &encode_utf16("cifs/evil")).unwrap();
            push_pair(&mut target_info, AvPairs::CHANNEL_BINDINGS, &[0xee; 16]).unwrap();
            push_pair(&mut target_info, 7, &[9; 8]).unwrap();
            push_pair(&mut target_info, AvPairs::EOL, &[]).unwrap();
            let mut challenge = CHALLENGE.to_vec();
            let length = u16::try_from(target_info.len()).unwrap().to_le_bytes();
            challenge[40..44].copy_from_slice(&[length, length].concat());
            let offset = u32::try_from(CHALLENGE.len()).unwrap();
            challenge[44..48].copy_from_slice(&offset.to_le_bytes());
            [challenge, target_info].concat()
        };
        let decoded: ChallengeMessage<'_> = wire::decode(&claimed).unwrap();
        let changed = prepare_challenge(&claimed, &decoded, "cifs/web1").unwrap();
        let expected = [(7, vec![9; 8]), (10, vec![0; 16]), (9, encode_utf16("cifs/web1"))];
        assert_eq!(pairs(&changed), expected);
    }
}
