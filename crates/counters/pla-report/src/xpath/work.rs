use super::error::Error;

/// How much may still be done: a unit is a node that is looked at, or four bytes of text that are made or compared,
/// so that the work is a limit on memory, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    left: usize,
    done: usize,
}

impl Work {
    /// So many units may be done.
    #[must_use]
    pub const fn new(units: usize) -> Self {
        Self { left: units, done: 0 }
    }

    /// Units that were done.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.done
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
        self.charge(1 + bytes / 4)
    }
}
