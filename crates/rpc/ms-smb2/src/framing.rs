use crate::Error;

/// The smallest message: something that has a protocol id.
const FRAME_BYTES_MIN: usize = 4 /* ProtocolId */;

/// Bytes of the length in front of each frame.
pub(crate) const PREFIX_SIZE: usize = 1 /* Zero */ + 3 /* StreamProtocolLength */;

/// [MS-SMB2] 2.1, direct TCP: cuts a stream into frames, in whatever pieces it comes.
#[derive(Debug, Default)]
pub(crate) struct Deframer {
    input: Vec<u8>,
    // INVARIANT: consumed <= input.len().
    consumed: usize,
    frame_bytes_max: usize,
}

impl Deframer {
    pub(crate) const fn new(frame_bytes_max: usize) -> Self {
        Self { input: Vec::new(), consumed: 0, frame_bytes_max }
    }

    /// Takes bytes of the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.consumed);
        self.consumed = 0;
        self.input.extend_from_slice(bytes);
    }

    /// Gives the buffer back where no part of a frame is left in it. Connections are idle for most of their lives, and
    /// there are thousands of them.
    pub(crate) fn settle(&mut self) {
        if self.consumed == self.input.len() {
            self.consumed = 0;
            self.input = Vec::new();
        }
    }

    /// The next whole frame, without its length.
    pub(crate) fn next_frame(&mut self) -> Result<Option<&mut [u8]>, Error> {
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
