use crate::pdu::PfcFlags;
use crate::{Error, Limits};

/// Puts the stub data of one call together from its fragments.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    stub: Vec<u8>,
    fragments: usize,
}

impl Assembly {
    /// Whether no fragment came yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.fragments == 0
    }

    /// Bytes of memory that it holds.
    pub(crate) fn capacity(&self) -> usize {
        self.stub.capacity()
    }

    /// Takes the stub data of the next fragment; answers that of the whole call after the last one.
    pub(crate) fn push(
        &mut self,
        flags: PfcFlags,
        alloc_hint: u32,
        stub: &[u8],
        limits: &Limits,
    ) -> Result<Option<Vec<u8>>, Error> {
        match (self.is_empty(), flags.contains(PfcFlags::FIRST_FRAG)) {
            (true, false) => return Err(Error::FragmentOrder { reason: "the first one is missing" }),
            (false, true) => return Err(Error::FragmentOrder { reason: "a first one follows another" }),
            _ => {}
        }
        if stub.len() > limits.stub_bytes_max - self.stub.len() {
            return Err(Error::LimitExceeded { what: "stub data of a call", limit: limits.stub_bytes_max });
        }
        if self.fragments == limits.fragments_max {
            return Err(Error::LimitExceeded { what: "fragments of a call", limit: limits.fragments_max });
        }
        if self.is_empty() && !flags.contains(PfcFlags::LAST_FRAG) {
            let hint = usize::try_from(alloc_hint).unwrap_or(usize::MAX);
            self.stub.reserve(hint.min(TRUSTED_ALLOC_HINT_MAX).max(stub.len()));
        }
        self.fragments += 1;
        self.stub.extend_from_slice(stub);
        if flags.contains(PfcFlags::LAST_FRAG) {
            self.fragments = 0;
            Ok(Some(core::mem::take(&mut self.stub)))
        } else {
            Ok(None)
        }
    }
}

/// The most bytes that are reserved because of the peer's `alloc_hint`. Beyond that the buffer grows as data arrives.
const TRUSTED_ALLOC_HINT_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alloc_hint_reserves_no_more_than_a_little() {
        let mut assembly = Assembly::default();
        assembly.push(PfcFlags::FIRST_FRAG, u32::MAX, &[1], &Limits::default()).unwrap();
        assert!(assembly.stub.capacity() <= TRUSTED_ALLOC_HINT_MAX);
        let stub = assembly.push(PfcFlags::LAST_FRAG, 0, &[2], &Limits::default()).unwrap();
        assert_eq!(stub, Some(vec![1, 2]));
    }
}
