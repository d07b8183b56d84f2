use std::fmt;

/// A name of at most `N` bytes, or the front of a longer one and `…`. A character that does not fit as a whole is left out.
///
/// It may contain control characters; escape them before a terminal gets them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name<const N: usize> {
    /// INVARIANT: at most `N`, which is at most 255; as many bytes are UTF-8, and the others are zero.
    len: u8,
    bytes: [u8; N],
}

impl<const N: usize> Name<N> {
    /// `name`, as far as it fits.
    #[must_use]
    pub fn new(name: &str) -> Self {
        const { assert!(N >= CUT.len() && N <= 255) };
        let (end, cut) =
            if name.len() <= N { (name.len(), "") } else { (name.floor_char_boundary(N - CUT.len()), CUT) };
        let len = end + cut.len();
        let mut bytes = [0; N];
        bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
        bytes[end..len].copy_from_slice(cut.as_bytes());
        Self { len: u8::try_from(len).expect("at most N, which is at most 255"), bytes }
    }

    /// The name, as far as it was kept.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).expect("per the invariant of `len`")
    }

    /// Whether this may be the front of `name`, or all of it.
    #[must_use]
    pub fn is_front_of(&self, name: &str) -> bool {
        *self == Self::new(name)
    }

    pub(crate) fn len(&self) -> u8 {
        self.len
    }

    /// All bytes, with zeros behind the name.
    pub(crate) fn padded(&self) -> &[u8; N] {
        &self.bytes
    }

    /// A name of `len` bytes; what is behind it is not believed.
    pub(crate) fn from_padded(len: u8, padded: &[u8]) -> Option<Self> {
        if usize::from(len) > N {
            return None;
        }
        Some(Self::new(std::str::from_utf8(padded.get(..usize::from(len))?).ok()?))
    }
}

/// At the end of a name that is not all of it.
const CUT: &str = "…";

impl<const N: usize> Default for Name<N> {
    fn default() -> Self {
        Self::new("")
    }
}

impl<const N: usize> fmt::Display for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
