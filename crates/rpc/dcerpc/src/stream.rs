use wire::DecodeError;

use crate::pdu::CommonHeader;

/// Splits a byte stream into PDUs by their fragment length, independent of how the transport split it.
///
/// Holds at most one incomplete PDU, and that is at most as long as this side takes: how long to wait for the rest
/// of it is the driver's to say.
#[derive(Debug, Default)]
pub(crate) struct PduStream {
    buffer: Vec<u8>,
    /// Where the next PDU begins in `buffer`.
    // INVARIANT: start <= buffer.len().
    start: usize,
}

impl PduStream {
    /// Appends what the transport gave.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole PDU, if there is one; it may be decrypted in place.
    pub(crate) fn next_pdu(
        &mut self,
        frag_bytes_max: u16,
    ) -> Result<Option<(CommonHeader, &mut [u8])>, DecodeError> {
        let rest = &self.buffer[self.start..];
        if rest.len() < CommonHeader::FIXED_PART_SIZE {
            return Ok(None);
        }
        let header: CommonHeader = wire::decode(rest)?;
        if header.frag_length > frag_bytes_max {
            return Err(DecodeError::limit_exceeded(
                "PDU",
                "frag_length",
                CommonHeader::FRAG_LENGTH_OFFSET,
                header.frag_length.into(),
                frag_bytes_max.into(),
            ));
        }
        let length = usize::from(header.frag_length);
        if rest.len() < length {
            return Ok(None);
        }
        let start = self.start;
        self.start += length;
        Ok(Some((header, &mut self.buffer[start..start + length])))
    }

    /// Gives the buffer back where no part of a PDU is left in it: most associations wait for their next call at any
    /// time.
    pub(crate) fn settle(&mut self) {
        if !self.is_within_pdu() {
            *self = Self::default();
        }
    }

    /// Bytes of memory that it holds.
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Whether the stream is within a PDU.
    pub(crate) fn is_within_pdu(&self) -> bool {
        self.start < self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A shutdown PDU, [C706] 12.6.4.11, and another with a different call id.
    const SHUTDOWN: [u8; 16] = [5, 0, 17, 3, 0x10, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0];

    fn call_ids(stream: &mut PduStream) -> Vec<u32> {
        core::iter::from_fn(|| stream.next_pdu(1432).unwrap().map(|(header, _)| header.call_id.0)).collect()
    }

    #[test]
    fn pdus_arrive_whole_whatever_the_transport_splits_or_joins() {
        let mut second = SHUTDOWN;
        second[12] = 2;
        let both = [SHUTDOWN, second].concat();
        for split in 0..both.len() {
            let mut stream = PduStream::default();
            stream.push(&both[..split]);
            let mut seen = call_ids(&mut stream);
            assert_eq!(stream.is_within_pdu(), split % SHUTDOWN.len() != 0);
            stream.push(&both[split..]);
            seen.extend(call_ids(&mut stream));
            assert_eq!(seen, [1, 2], "split at {split}");
        }
    }

    #[test]
    fn a_buffer_is_kept_for_the_rest_of_a_pdu_and_for_nothing_else() {
        let mut stream = PduStream::default();
        stream.push(&[&SHUTDOWN[..], &SHUTDOWN[..5]].concat());
        assert_eq!(call_ids(&mut stream), [1]);
        stream.settle();
        stream.push(&SHUTDOWN[5..]);
        assert_eq!(call_ids(&mut stream), [1]);
        stream.settle();
        assert_eq!(stream.buffer.capacity(), 0);
    }

    #[test]
    fn an_oversize_fragment_is_refused_by_its_header_alone() {
        let mut header = SHUTDOWN;
        header[8..10].copy_from_slice(&1433_u16.to_le_bytes());
        let mut stream = PduStream::default();
        stream.push(&header);
        assert_eq!(
            stream.next_pdu(1432).unwrap_err().to_string(),
            "PDU: `frag_length`: 1433 is above the limit of 1432 (offset 8)"
        );
    }
}
