/// What is behind a structure that does not end at a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Padding {
    /// Padding, which the structure's size counts.
    #[default]
    Counted,
    /// Padding, which its size does not count.
    Uncounted,
    /// The next structure.
    None,
}
