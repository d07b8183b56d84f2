pub(crate) use test_support::oracle::Input;

/// Bytes as [`Input::chunk`] takes them: their length in front.
#[must_use]
pub fn chunk(stub: &[u8]) -> Vec<u8> {
    let length = u16::try_from(stub.len()).unwrap_or(u16::MAX).to_le_bytes();
    [&length, stub].concat()
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
