/// What an oracle looks at; the rest of a longer input is not read.
pub const INPUT_BYTES_MAX: usize = 64 << 10;

/// An input taken apart from its front. Where it is over, there are zeros and nothings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(&bytes[..bytes.len().min(INPUT_BYTES_MAX)])
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A length of two bytes, then as many bytes as that, or as there are.
    pub(crate) fn chunk(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (chunk, rest) = rest.split_at(rest.len().min(u16::from_le_bytes(*length).into()));
        self.0 = rest;
        Some(chunk)
    }

    pub(crate) const fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Cuts a stream as a network might: into pieces whose sizes follow from `seed` and are at most as large; single bytes
/// where it is zero.
pub(crate) fn pieces(stream: &[u8], seed: u8) -> Vec<&[u8]> {
    let mut state = u32::from(seed) * 2_654_435 + 1;
    let mut pieces = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let size = 1 + usize::try_from(state >> 16).unwrap_or(0) % (usize::from(seed) + 1);
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
