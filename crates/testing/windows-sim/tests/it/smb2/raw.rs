//! Messages made by hand, for what no honest peer would send.

use hmac::{Hmac, KeyInit as _, Mac as _};
use ms_smb2::wire::{Command, Flags, Header, Owner};
use sha2::Sha256;
use wire::{Encode, NtStatus};

use super::pair::SESSION_KEY;

/// Bytes of the length in front of a frame.
pub(crate) const PREFIX: usize = 4;

/// A request; `..header(…)` makes others of it.
pub(crate) fn header(command: Command, message_id: u64, session_id: u64) -> Header {
    Header {
        credit_charge: 1,
        status: NtStatus::STATUS_SUCCESS,
        command,
        credits: 1,
        flags: Flags::default(),
        next_command: 0,
        message_id,
        owner: Owner::Tree(0),
        session_id,
        signature: [0; 16],
    }
}

/// A response to it.
pub(crate) fn response(command: Command, message_id: u64, session_id: u64) -> Header {
    Header { flags: Flags::SERVER_TO_REDIR, ..header(command, message_id, session_id) }
}

pub(crate) fn frame(header: &Header, body: &impl Encode) -> Vec<u8> {
    let mut message = wire::encode_vec(header).unwrap();
    wire::encode_into(body, &mut message).unwrap();
    framed(&message)
}

pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(message);
    frame
}

/// Signs as 2.1 does: whoever holds the session key is as bad as he likes.
pub(crate) fn sign(frame: &mut [u8]) {
    let message = &mut frame[PREFIX..];
    message[Header::FLAGS_OFFSET] |= 8;
    message[Header::SIGNATURE_OFFSET..Header::FIXED_PART_SIZE].fill(0);
    let mac =
        Hmac::<Sha256>::new_from_slice(&SESSION_KEY).unwrap().chain_update(&*message).finalize().into_bytes();
    message[Header::SIGNATURE_OFFSET..Header::FIXED_PART_SIZE].copy_from_slice(&mac[..16]);
}

pub(crate) fn signed(header: &Header, body: &impl Encode) -> Vec<u8> {
    let mut frame = frame(header, body);
    sign(&mut frame);
    frame
}

/// The header of a frame that is not encrypted.
pub(crate) fn header_of(frame: &[u8]) -> Header {
    wire::decode(&frame[PREFIX..]).unwrap()
}
