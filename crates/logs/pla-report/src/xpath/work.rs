use super::error::Error;

/// How much may still be done: a unit is a node that is looked at, four bytes of text that are made or compared, or four bytes
/// of a set of nodes, so that the work is a limit on memory, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    left: usize,
    done: usize,
}

impl Work {
    /// A limit of this number of units.
    #[must_use]
    pub const fn new(units: usize) -> Self {
        Self { left: units, done: 0 }
    }

    /// Units that were done.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.done
    }

    /// Bytes of text that may still be made.
    pub(crate) const fn bytes_left(&self) -> usize {
        self.left.saturating_mul(BYTES_OF_UNIT)
    }

    /// Counts units before they are done.
    pub(crate) const fn charge(&mut self, units: usize) -> Result<(), Error> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                self.done += units;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Error::Work)
            }
        }
    }

    /// Counts bytes of text.
    pub(crate) const fn charge_bytes(&mut self, bytes: usize) -> Result<(), Error> {
        self.charge(1 + bytes / BYTES_OF_UNIT)
    }
}

const BYTES_OF_UNIT: usize = 4;
