//! Laws of `ms-smb2`.

mod client;
mod messages;
mod server;
mod stage;

use hmac::{Hmac, KeyInit as _, Mac as _};
use ms_smb2::wire::{Flags, Header};
use sha2::Sha256;

pub use self::client::client;
pub(crate) use self::client::new_stage as client_stage;
pub use self::messages::messages;
pub use self::server::server;
pub(crate) use self::stage::Pair;

/// What the security contexts of all sessions here export.
const SESSION_KEY: [u8; 16] = *b"a fake key of 16";

/// Bytes of the length in front of a frame.
const PREFIX_SIZE: usize = 4;

/// Signs all frames of a stream as SMB 2.1 does, so that what is in them is believed: a peer that holds the key is as
/// bad as it likes.
fn resigned(stream: &[u8]) -> Vec<u8> {
    let mut stream = stream.to_vec();
    let mut rest = &mut stream[..];
    while let Some(prefix) = rest.first_chunk::<PREFIX_SIZE>() {
        let length = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        let Some((frame, after)) = rest.split_at_mut_checked(length.saturating_add(PREFIX_SIZE)) else {
            break;
        };
        sign_frame(&mut frame[PREFIX_SIZE..]);
        rest = after;
    }
    stream
}

/// Signs the messages of a frame, each for itself.
fn sign_frame(mut frame: &mut [u8]) {
    while let Ok(header) = wire::decode::<Header>(frame) {
        let next = usize::try_from(header.next_command).unwrap_or(usize::MAX);
        let end = if next < Header::FIXED_PART_SIZE { frame.len() } else { next.min(frame.len()) };
        let (message, rest) = frame.split_at_mut(end);
        sign(message);
        frame = rest;
    }
}

fn sign(message: &mut [u8]) {
    message[Header::FLAGS_OFFSET] |= Flags::SIGNED.0.to_le_bytes()[0];
    let signature = Header::SIGNATURE_OFFSET..Header::FIXED_PART_SIZE;
    message[signature.clone()].fill(0);
    let mac = Hmac::<Sha256>::new_from_slice(&SESSION_KEY).expect("a key may have any length");
    let mac = mac.chain_update(&*message).finalize().into_bytes();
    message[signature].copy_from_slice(&mac[..16]);
}
