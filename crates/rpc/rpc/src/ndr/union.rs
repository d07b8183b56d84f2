use crate::ndr::Ref;

/// What can come after `switch_is`: a union, or a pointer to one. Implemented by the derive of `NdrEncode`.
pub trait Union {
    /// The tag, which comes before the arm on the wire; nothing behind a NULL pointer.
    fn tag(&self) -> Option<i64>;
}

impl<T: Union> Union for Option<Box<T>> {
    fn tag(&self) -> Option<i64> {
        self.as_ref()?.tag()
    }
}

impl<T: Union> Union for Ref<T> {
    fn tag(&self) -> Option<i64> {
        self.0.tag()
    }
}
