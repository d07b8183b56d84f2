use wire::{Encode, WriteCursor};

use crate::Error;
use crate::crypto::{Opener, Sealer, Signer};
use crate::wire::{Flags, Header, TransformHeader};

/// A message of ours on its way: room for the length, room for a transform header where it will be encrypted, and
/// the message after them, so that nothing is copied after it was written once.
#[derive(Debug)]
pub struct Packet {
    bytes: Vec<u8>,
    encrypted: bool,
}

impl Packet {
    pub fn new(header: &Header, body: &impl Encode, encrypted: bool) -> Result<Self, Error> {
        let start = Self::start(encrypted);
        let mut bytes = Vec::with_capacity(start + header.size() + body.size());
        bytes.resize(start, 0);
        let mut dst = WriteCursor::new(&mut bytes);
        header.encode(&mut dst)?;
        body.encode(&mut dst)?;
        debug_assert_eq!(
            bytes.len(),
            start + header.size() + body.size(),
            "{} keeps its size law",
            body.name()
        );
        Ok(Self { bytes, encrypted })
    }

    const fn start(encrypted: bool) -> usize {
        if encrypted { PREFIX_SIZE + TransformHeader::FIXED_PART_SIZE } else { PREFIX_SIZE }
    }

    /// The message from its header on.
    pub fn message(&self) -> &[u8] {
        &self.bytes[Self::start(self.encrypted)..]
    }

    /// Fills in what is known only when the message leaves.
    pub fn stamp(&mut self, stamp: Stamp) {
        const CREDIT_CHARGE: usize = 6;
        const CREDITS: usize = 14;
        let start = Self::start(self.encrypted);
        let message = &mut self.bytes[start..];
        message[CREDIT_CHARGE..CREDIT_CHARGE + 2].copy_from_slice(&stamp.credit_charge.to_le_bytes());
        message[CREDITS..CREDITS + 2].copy_from_slice(&stamp.credits.to_le_bytes());
        message[Header::MESSAGE_ID_OFFSET..Header::MESSAGE_ID_OFFSET + 8]
            .copy_from_slice(&stamp.message_id.to_le_bytes());
    }

    /// Encrypts or signs the message, where there is a key for it, and answers the frame.
    pub fn protect(mut self, keys: Option<&mut Keys>, session_id: u64) -> Result<Vec<u8>, Error> {
        if let Some(keys) = keys {
            if self.encrypted {
                let (sealer, _) = keys.ciphers.as_mut().ok_or(Error::EncryptionUnavailable)?;
                sealer.seal(session_id, &mut self.bytes[PREFIX_SIZE..])?;
            } else {
                let message = &mut self.bytes[PREFIX_SIZE..];
                // SIGNED is in the first byte of the flags.
                message[Header::FLAGS_OFFSET] |= Flags::SIGNED.0.to_le_bytes()[0];
                keys.signer.sign(message);
            }
        }
        self.into_frame()
    }

    /// Answers the frame as it is.
    pub fn into_frame(mut self) -> Result<Vec<u8>, Error> {
        const LENGTH_MAX: u32 = 0x00FF_FFFF;
        let length =
            u32::try_from(self.bytes.len() - PREFIX_SIZE).ok().filter(|&length| length <= LENGTH_MAX);
        let length =
            length.ok_or(Error::protocol("framing", "StreamProtocolLength", "message is too long"))?;
        self.bytes[..PREFIX_SIZE].copy_from_slice(&length.to_be_bytes());
        Ok(self.bytes)
    }
}

/// What [`Packet::stamp`] fills in.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub message_id: u64,
    pub credit_charge: u16,
    pub credits: u16,
}

/// The keys of a session.
#[derive(Debug)]
pub struct Keys {
    pub signer: Signer,
    pub ciphers: Option<(Sealer, Opener)>,
}

/// Cuts the first message off a frame of one or, compounded, several.
pub fn split_compound<'a>(
    frame: &'a mut [u8],
    header: &Header,
) -> Result<(&'a mut [u8], &'a mut [u8]), Error> {
    const CONTEXT: &str = "SMB2_HEADER";
    let next = usize::try_from(header.next_command).unwrap_or(usize::MAX);
    if next == 0 {
        Ok((frame, &mut []))
    } else if next % 8 != 0 || next < Header::FIXED_PART_SIZE {
        Err(Error::protocol(CONTEXT, "NextCommand", "is no multiple of 8, or inside the header"))
    } else {
        const OUTSIDE: Error = Error::protocol(CONTEXT, "NextCommand", "points outside the frame");
        frame.split_at_mut_checked(next).filter(|(_, rest)| !rest.is_empty()).ok_or(OUTSIDE)
    }
}

/// [MS-SMB2] 3.1.5.2: one credit for each 64 KiB begun.
pub const fn credit_charge(payload_bytes: u32) -> u16 {
    const BYTES_PER_CREDIT: u32 = 64 * 1024;
    let credits = payload_bytes.div_ceil(BYTES_PER_CREDIT);
    if credits == 0 {
        1
    } else if credits > u16::MAX as u32 {
        u16::MAX
    } else {
        // In range: the branch above took what is larger.
        #[expect(clippy::cast_possible_truncation, reason = "compared with u16::MAX above")]
        let credits = credits as u16;
        credits
    }
}

/// The smallest message: something that has a protocol id.
const FRAME_BYTES_MIN: usize = 4 /* ProtocolId */;

/// Bytes of the length in front of each frame.
pub const PREFIX_SIZE: usize = 1 /* Zero */ + 3 /* StreamProtocolLength */;

/// [MS-SMB2] 2.1, direct TCP: cuts a stream into frames, in whatever pieces it comes.
#[derive(Debug, Default)]
pub struct Deframer {
    input: Vec<u8>,
    // INVARIANT: consumed <= input.len().
    consumed: usize,
    frame_bytes_max: usize,
}

impl Deframer {
    pub const fn new(frame_bytes_max: usize) -> Self {
        Self { input: Vec::new(), consumed: 0, frame_bytes_max }
    }

    /// Takes bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.consumed);
        self.consumed = 0;
        self.input.extend_from_slice(bytes);
    }

    /// Gives the buffer back where no part of a frame is left in it. Connections are idle for most of their lives, and
    /// there are thousands of them.
    pub fn settle(&mut self) {
        if self.consumed == self.input.len() {
            self.consumed = 0;
            self.input = Vec::new();
        }
    }

    /// The next whole frame, without its length.
    pub fn next_frame(&mut self) -> Result<Option<&mut [u8]>, Error> {
        let Some((prefix, rest)) = self.input[self.consumed..].split_first_chunk::<PREFIX_SIZE>() else {
            return Ok(None);
        };
        // A first byte other than zero belongs to NetBIOS; here it makes a length beyond all limits.
        let frame_bytes = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        if !(FRAME_BYTES_MIN..=self.frame_bytes_max).contains(&frame_bytes) {
            let frame_bytes_max = self.frame_bytes_max;
            return Err(Error::FrameSize { frame_bytes, frame_bytes_min: FRAME_BYTES_MIN, frame_bytes_max });
        }
        if rest.len() < frame_bytes {
            return Ok(None);
        }
        let start = self.consumed + PREFIX_SIZE;
        self.consumed = start + frame_bytes;
        Ok(Some(&mut self.input[start..self.consumed]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_whole_however_the_stream_is_cut() {
        let stream = [0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 5, 5, 6, 7, 8, 9];
        for piece in 1..=stream.len() {
            let mut deframer = Deframer::new(5);
            let mut frames = Vec::new();
            for bytes in stream.chunks(piece) {
                deframer.push(bytes);
                while let Some(frame) = deframer.next_frame().unwrap() {
                    frames.push(frame.to_vec());
                }
            }
            assert_eq!(frames, [vec![1, 2, 3, 4], vec![5, 6, 7, 8, 9]], "pieces of {piece}");
        }
    }

    #[test]
    fn a_buffer_is_kept_for_the_rest_of_a_frame_and_for_nothing_else() {
        let mut deframer = Deframer::new(1000);
        let mut frame = vec![0, 0, 3, 0xe8];
        frame.resize(1004, 7);
        deframer.push(&frame);
        deframer.push(&frame[..500]);
        assert!(deframer.next_frame().unwrap().is_some());
        assert!(deframer.next_frame().unwrap().is_none());
        deframer.settle();
        deframer.push(&frame[500..]);
        assert_eq!(deframer.next_frame().unwrap().map(|frame| frame.len()), Some(1000));
        deframer.settle();
        assert_eq!(deframer.input.capacity(), 0);
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_its_bytes_come() {
        for prefix in [[0, 0, 0, 6], [0x85, 0, 0, 4], [0, 0, 0, 3]] {
            let mut deframer = Deframer::new(5);
            deframer.push(&prefix);
            assert!(matches!(deframer.next_frame(), Err(Error::FrameSize { .. })), "{prefix:?}");
        }
    }
}
