use crate::pcq::wire::ALIGNMENT;

/// How a reader advances past a structure whose size is no multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance {
    /// By the size alone.
    BySize,
    /// To the next multiple of 8, counted from the beginning of the structure.
    OverPadding,
}

impl Advance {
    /// Bytes to pass over behind a structure of `size` bytes.
    pub(super) const fn gap(self, size: usize) -> usize {
        match self {
            Self::BySize => 0,
            Self::OverPadding => size.next_multiple_of(ALIGNMENT) - size,
        }
    }
}
